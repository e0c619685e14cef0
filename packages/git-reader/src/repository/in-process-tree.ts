import type { TreeChange, TreeEntry } from './git-repository.ts';

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
