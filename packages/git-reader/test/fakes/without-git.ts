import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An environment in which no program is found, git least of all. */
export function withoutGit(): { readonly PATH: string } {
  return { PATH: mkdtempSync(join(tmpdir(), 'berth-no-git-')) };
}
