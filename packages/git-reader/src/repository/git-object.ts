import { InputError } from '@berth/runtime/errors';
import type { CommitInfo, GitPerson, TreeChange, TreeEntry } from './git-repository.ts';

const HINT = 'create the commit again; the last commit that could be read stays in force';
/** A larger object is not read. */
export const MAX_COMMIT_BYTES = 1024 * 1024;
/** The end of the year 9999. Other programs cannot read dates after it. */
const MAX_SECONDS = 253_402_300_799;

/**
 * Parses the bytes of a commit object (as text).
 * @throws InputError `git.bad-commit`, because git accepts any bytes as a commit
 */
export function parseCommitObject(id: string, text: string): CommitInfo {
  const end = text.indexOf('\n\n');
  const headers = (end === -1 ? text : text.slice(0, end)).split('\n');
  const message = end === -1 ? '' : text.slice(end + 2);
  const valuesOf = (name: string): string[] =>
    headers.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  const [author] = valuesOf('author');
  const [committer] = valuesOf('committer');
  if (author === undefined || committer === undefined)
    throw new InputError('has no author or no committer', {
      code: 'git.bad-commit',
      subject: `Commit ${id}`,
      hint: HINT,
    });
  return {
    id,
    tree: valuesOf('tree')[0] ?? '',
    parents: valuesOf('parent'),
    author: parsePerson(author),
    committer: parsePerson(committer),
    subject: message.trimStart().split('\n', 1)[0] ?? '',
    signed: headers.some((line) => line.startsWith('gpgsig ') || line.startsWith('gpgsig-sha256 ')),
  };
}

/** @throws InputError `git.bad-commit`, always */
export function refuseHugeCommit(id: string, sizeBytes: number): never {
  throw new InputError(`is an object of ${sizeBytes} bytes, expected at most ${MAX_COMMIT_BYTES}`, {
    code: 'git.bad-commit',
    subject: `Commit ${id}`,
    hint: HINT,
  });
}

/** Parses `Name <mail> seconds zone` leniently, because old tools wrote malformed ones. */
function parsePerson(text: string): GitPerson {
  const match = /^(.*?)\s*<([^>]*)>\s*(-?\d+)?/.exec(text);
  return { name: match?.[1] ?? text, email: match?.[2] ?? '', timeMs: timeOf(Number(match?.[3] ?? 0)) };
}

/** The time that a commit claims, in milliseconds. A time that no calendar has becomes the epoch. */
function timeOf(seconds: number): number {
  return seconds >= 0 && seconds <= MAX_SECONDS ? seconds * 1000 : 0;
}

/**
 * Parses a tree object: for each entry `mode name\0` and the bytes of the id. Bytes of a name that are not UTF-8 become U+FFFD.
 * @param idBytes length of an id: 20 for SHA-1, 32 for SHA-256
 * @returns undefined when the bytes are not a tree object
 */
export function parseTreeObject(bytes: Buffer, idBytes: number): readonly TreeLeaf[] | undefined {
  const leaves: TreeLeaf[] = [];
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, space);
    if (space === -1 || end === -1 || end + idBytes >= bytes.length) return undefined;
    const path = bytes.toString('utf8', space + 1, end);
    const mode = canonicalMode(bytes.toString('latin1', at, space));
    const oid = bytes.toString('hex', end + 1, end + 1 + idBytes);
    leaves.push({ path, mode, oid, type: typeOf(mode) });
    at = end + 1 + idBytes;
  }
  return leaves;
}

function typeOf(mode: string): TreeLeaf['type'] {
  if (mode === '040000') return 'tree';
  return mode === '160000' ? 'commit' : 'blob';
}

/** The mode as `git diff-tree` prints it. Old repositories contain other modes of files, such as 100664. */
function canonicalMode(mode: string): string {
  if (mode.startsWith('4')) return '040000';
  if (!mode.startsWith('100')) return mode;
  return (Number.parseInt(mode, 8) & 0o100) === 0 ? '100644' : '100755';
}

/** An entry of a tree object. `path` contains only its name. */
export interface TreeLeaf {
  readonly path: string;
  readonly mode: string;
  readonly oid: string;
  readonly type: 'blob' | 'tree' | 'commit';
}

/** Reads the entries of one tree object. The id of a commit means its tree. */
export type ReadTree = (oid: string) => Promise<readonly TreeLeaf[]>;

/**
 * Lists all leaves below a tree, sorted by path, until `onLeaf` throws. git sorts directories as if their names ended
 * in a slash.
 */
export async function listTreeObject(
  readTree: ReadTree,
  oid: string,
  onLeaf: (leaf: TreeEntry) => void,
  prefix = '',
): Promise<void> {
  for (const { path, mode, type, oid: id } of await readTree(oid)) {
    const fullPath = `${prefix}${path}`;
    if (type === 'tree') await listTreeObject(readTree, id, onLeaf, `${fullPath}/`);
    else onLeaf({ path: fullPath, mode, id });
  }
}

/** The differences between two trees; subtrees with equal ids are skipped. */
export async function diffTreeObjects(
  readTree: ReadTree,
  from: string | undefined,
  to: string | undefined,
  prefix = '',
): Promise<TreeChange[]> {
  const [before, after] = (await Promise.all(
    [from, to].map(async (oid) => byName(oid === undefined ? [] : await readTree(oid))),
  )) as [Map<string, TreeLeaf>, Map<string, TreeLeaf>];
  const changes: TreeChange[] = [];
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(name), after.get(name)];
    if (old !== undefined && now !== undefined && old.oid === now.oid && old.mode === now.mode) continue;
    const fullPath = `${prefix}${name}`;
    const [oldTree, newTree] = [treeId(old), treeId(now)];
    if (oldTree !== undefined || newTree !== undefined)
      changes.push(...(await diffTreeObjects(readTree, oldTree, newTree, `${fullPath}/`)));
    if (now !== undefined && newTree === undefined)
      changes.push({ path: fullPath, entry: { path: fullPath, mode: now.mode, id: now.oid } });
    else if (now === undefined && old !== undefined && oldTree === undefined)
      changes.push({ path: fullPath, entry: undefined });
    else if (newTree !== undefined && old !== undefined && oldTree === undefined)
      changes.push({ path: fullPath, entry: undefined });
  }
  return changes;
}

/** The id of the blob at a path in a commit; undefined if there is no regular file. */
export async function resolvePath(
  readTree: ReadTree,
  commit: string,
  path: string,
): Promise<string | undefined> {
  let oid = commit;
  const parts = path.split('/');
  for (const [index, part] of parts.entries()) {
    const entry = (await readTree(oid)).find((candidate) => candidate.path === part);
    if (entry === undefined) return undefined;
    if (index === parts.length - 1) return entry.mode.startsWith('100') ? entry.oid : undefined;
    if (entry.type !== 'tree') return undefined;
    oid = entry.oid;
  }
  return undefined;
}

function byName(entries: readonly TreeLeaf[]): Map<string, TreeLeaf> {
  return new Map(entries.map((entry) => [entry.path, entry]));
}

function treeId(entry: TreeLeaf | undefined): string | undefined {
  return entry?.type === 'tree' ? entry.oid : undefined;
}
