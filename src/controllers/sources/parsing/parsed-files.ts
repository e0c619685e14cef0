import type { TreeFile } from '@berth/git-reader/repository/tree-safety';
import type { ParsedFile } from '../../../adapters/yaml/parse-manifests.ts';

/** A cache of parsed files, by the id of their blob. */
export interface ParsedFiles {
  /**
   * Calls `onFile` for each file in the cache, in no particular order.
   * @returns the files that are not in the cache
   */
  read(
    files: readonly TreeFile[],
    onFile: (file: TreeFile, parsed: ParsedFile) => void,
  ): Promise<readonly TreeFile[]>;
  add(file: TreeFile, parsed: ParsedFile): void;
  /** Adds a file that is already encoded. */
  addRecord(file: TreeFile, bytes: Buffer): void;
  /**
   * Called when the added files may be stored.
   * @param live the blobs of the current commit, which are kept if there is not enough space for all
   */
  settle(live: () => ReadonlySet<string>): void;
}
