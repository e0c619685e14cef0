import { existsSync } from 'node:fs';

/** The folder that holds package.json and examples: above `src` when run from source, above `dist` when built. */
export function packageRoot(): URL {
  for (const up of ['../../', '../../../']) {
    const root = new URL(up, import.meta.url);
    if (existsSync(new URL('package.json', root))) return root;
  }
  return new URL('../../', import.meta.url);
}
