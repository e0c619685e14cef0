import type { TreeFile } from '../../../adapters/git/repository/tree-safety.ts';
import type { ParsedFile } from '../../../adapters/yaml/parse-manifests.ts';

/** Files that were parsed before, by the id of their blob. Only ever a shortcut. */
export interface ParsedFiles {
  /**
   * Calls back for each file that is held, in no order.
   * @returns the files that are not
   */
  read(
    files: readonly TreeFile[],
    onFile: (file: TreeFile, parsed: ParsedFile) => void,
  ): Promise<readonly TreeFile[]>;
  add(file: TreeFile, parsed: ParsedFile): void;
  /** The same, encoded already. */
  addRecord(file: TreeFile, bytes: Buffer): void;
  /** What was added so far may be stored. `live`: the blobs of the present commit, which stay when there is no room for all. */
  settle(live: () => ReadonlySet<string>): void;
}
