import type { CatFile } from './cat-file.ts';
import type { TreeChange } from '../repository/git-repository.ts';
import { diffTreeObjects } from '../repository/in-process-tree.ts';
import type { TreeLeaf } from '../repository/in-process-tree.ts';
import { parseTreeObject } from '../repository/tree-object.ts';

/** For more trees, two listings are faster, each by a process of its own. */
const MAX_TREES = 64;
const MAX_TREE_BYTES = 1024 * 1024;

/**
 * The differences between two commits, through the running `git cat-file`: a commit of a few files
 * needs a few tree objects instead of a new process. Undefined for many or large trees, a missing
 * commit and names that are not UTF-8, for which `git ls-tree` is used.
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
    if (leaves === undefined || leaves.some(({ path }) => path.includes('\uFFFD'))) throw new NotSmall();
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
