import type { CatFile } from './cat-file.ts';
import type { TreeChange } from './git-repository.ts';
import { diffTreeObjects } from './in-process-tree.ts';
import type { TreeLeaf } from './in-process-tree.ts';

/** Beyond these two listings, each by a process of its own, are faster. */
const MAX_TREES = 64;
const MAX_TREE_BYTES = 1024 * 1024;

/**
 * What differs between two commits, through the `git cat-file` that runs anyway: a commit of a few files costs a few tree objects
 * instead of a process. Undefined for `git ls-tree` to answer: many or large trees, a commit that is not there, and names that
 * are not UTF-8.
 */
export async function diffSmallTrees(
  catFile: CatFile,
  from: string,
  to: string,
): Promise<readonly TreeChange[] | undefined> {
  let trees = 0;
  const readTree = async (oid: string): Promise<readonly TreeLeaf[]> => {
    if (++trees > MAX_TREES) throw new NotSmall();
    let leaves: readonly TreeLeaf[] | undefined;
    await catFile.read([`${oid}^{tree}`], MAX_TREE_BYTES, (object) => {
      if (object.state === 'read') leaves = parseTreeObject(object.bytes, oid.length / 2);
    });
    if (leaves === undefined) throw new NotSmall();
    return leaves;
  };
  try {
    return await diffTreeObjects(readTree, from, to);
  } catch (error) {
    if (error instanceof NotSmall) return undefined;
    throw error;
  }
}

class NotSmall extends Error {}

/** Entries of a tree object: `mode name\0` and the id's bytes. Undefined when a name is not UTF-8, or it is no tree. */
function parseTreeObject(bytes: Buffer, idBytes: number): readonly TreeLeaf[] | undefined {
  const leaves: TreeLeaf[] = [];
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, space);
    if (space === -1 || end === -1 || end + idBytes >= bytes.length) return undefined;
    const path = bytes.toString('utf8', space + 1, end);
    if (path.includes('\uFFFD')) return undefined;
    const mode = canonicalMode(bytes.toString('latin1', at, space));
    const oid = bytes.toString('hex', end + 1, end + 1 + idBytes);
    leaves.push({ path, mode, oid, type: mode === '040000' ? 'tree' : 'blob' });
    at = end + 1 + idBytes;
  }
  return leaves;
}

/** As `git diff-tree` says it: old repositories hold modes like 100664. */
function canonicalMode(mode: string): string {
  if (mode.startsWith('4')) return '040000';
  if (!mode.startsWith('100')) return mode;
  return (Number.parseInt(mode, 8) & 0o100) === 0 ? '100644' : '100755';
}
