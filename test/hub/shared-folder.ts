import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** A folder of `../shared` beside the checkout (or beside its worktrees), undefined where there is none. */
export function sharedFolder(name: string): string | undefined {
  return ['..', '../..']
    .map((up) => join(process.cwd(), up, 'shared', name))
    .find((path) => existsSync(path));
}
