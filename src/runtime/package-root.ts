import { existsSync } from 'node:fs';

/** The folder with package.json and examples: the parent of `src` when run from source, the parent of `dist` when built. */
export function packageRoot(): URL {
  for (const up of ['../../', '../../../']) {
    const root = new URL(up, import.meta.url);
    if (existsSync(new URL('package.json', root))) return root;
  }
  return new URL('../../', import.meta.url);
}
