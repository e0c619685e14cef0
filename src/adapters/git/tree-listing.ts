import { BugError, InputError } from '../../core/errors.ts';
import type { FileVersion, TreeChange, TreeEntry } from './git-repository.ts';

/**
 * A tree may name one and the same subtree again and again, so that a repository of a few kilobytes lists more files than anybody can
 * count. The largest real ones hold about half as many as this.
 */
export const MAX_TREE_ENTRIES = 1_000_000;
/** Room for that many paths of 75 bytes. */
export const MAX_LISTING_BYTES = 128 * 1024 ** 2;

/** InputError `git.too-many-files`. */
export function refuseEndlessTree(commit: string): never {
  throw new InputError(`lists more than ${MAX_TREE_ENTRIES} files`, {
    code: 'git.too-many-files',
    subject: `Commit ${commit}`,
    hint: 'the last commit that could be read stays in force',
  });
}

/** Parses `git ls-tree -r -z`: `mode type id\tpath\0`. InputError `git.too-many-files`. */
export function parseTreeListing(output: string, commit: string): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < output.length; ) {
    if (entries.length === MAX_TREE_ENTRIES) refuseEndlessTree(commit);
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

/** What differs between two listings. */
export function compareListings(from: readonly TreeEntry[], to: readonly TreeEntry[]): TreeChange[] {
  const gone = new Map(from.map((entry) => [entry.path, entry]));
  const changes: TreeChange[] = [];
  for (const entry of to) {
    const before = gone.get(entry.path);
    gone.delete(entry.path);
    if (before?.id !== entry.id || before.mode !== entry.mode) changes.push({ path: entry.path, entry });
  }
  for (const path of gone.keys()) changes.push({ path, entry: undefined });
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
