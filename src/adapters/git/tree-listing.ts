import { BugError } from '../../core/errors.ts';
import type { FileVersion, TreeChange, TreeEntry } from './git-repository.ts';

/** Parses `git ls-tree -r -z`: `mode type id\tpath\0`. */
export function parseTreeListing(output: string): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < output.length; ) {
    const tab = output.indexOf('\t', at);
    const end = output.indexOf('\0', tab);
    if (tab === -1 || end === -1) throw malformed('ls-tree', output.slice(at, at + 80));
    const firstSpace = output.indexOf(' ', at);
    const secondSpace = output.indexOf(' ', firstSpace + 1);
    entries.push({
      mode: output.slice(at, firstSpace),
      id: output.slice(secondSpace + 1, tab),
      path: output.slice(tab + 1, end),
    });
    at = end + 1;
  }
  return entries;
}

/** Parses `git diff-tree -r -z --raw --no-renames`: `:mode mode id id status\0path\0`. */
export function parseTreeDiff(output: string): TreeChange[] {
  const fields = output.split('\0');
  const changes: TreeChange[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, mode, , id, status] = (fields[at] ?? '').split(' ');
    const path = fields[at + 1];
    if (mode === undefined || id === undefined || status === undefined || path === undefined)
      throw malformed('diff-tree', fields[at] ?? '');
    changes.push({ path, entry: status === 'D' ? undefined : { path, mode, id } });
  }
  return changes;
}

/** Parses `git log --format=%H --raw` of one path: the commit's id, then a raw line. */
export function parseFileHistory(output: string): FileVersion[] {
  const versions: FileVersion[] = [];
  let commit = '';
  for (const line of output.split('\n')) {
    if (/^[0-9a-f]{40,64}$/.test(line)) commit = line;
    const id = /^:\d+ 100\d+ [0-9a-f]+ ([0-9a-f]+) [AMT]/.exec(line)?.[1];
    if (id !== undefined) versions.push({ commit, id });
  }
  return versions;
}

function malformed(command: string, got: string): BugError {
  return new BugError(`unexpected output ${JSON.stringify(got)}`, {
    code: 'git.output',
    subject: `git ${command}`,
  });
}
