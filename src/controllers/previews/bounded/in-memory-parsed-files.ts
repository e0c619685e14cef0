import type { TreeFile } from '../../../adapters/git/repository/tree-safety.ts';
import type { ParsedFile } from '../../../adapters/yaml/parse-manifests.ts';
import type { ParsedFiles } from '../../sources/parsing/parsed-files.ts';
import { decodeParsedFile } from '../../sources/parsing/parsed-record.ts';

/** The versions of one file. */
type Versions = readonly (readonly [id: string, parsed: ParsedFile])[];

/**
 * Parsed files in memory. A file is the same object from plan to plan, so that caches by object find
 * it again. A file that neither this plan nor the last one read is forgotten.
 */
export class InMemoryParsedFiles implements ParsedFiles {
  /** The files of this plan by path: those of a base and of a few heads. */
  #now = new Map<string, Versions>();
  #before = new Map<string, Versions>();

  /** Called when another plan begins. */
  beginPlan(): void {
    this.#before = this.#now;
    this.#now = new Map();
  }

  read(
    files: readonly TreeFile[],
    onFile: (file: TreeFile, parsed: ParsedFile) => void,
  ): Promise<readonly TreeFile[]> {
    const left = files.filter((file) => {
      const found = versionOf(this.#now, file) ?? versionOf(this.#before, file);
      if (found === undefined) return true;
      this.add(file, found);
      onFile(file, found);
      return false;
    });
    return Promise.resolve(left);
  }

  add(file: TreeFile, parsed: ParsedFile): void {
    const { path, id } = file;
    if (versionOf(this.#now, file) === undefined)
      this.#now.set(path, [...(this.#now.get(path) ?? []), [id, parsed]]);
  }

  addRecord(file: TreeFile, bytes: Buffer): void {
    this.add(file, decodeParsedFile(file.path, bytes.toString('utf8')));
  }

  settle(): void {
    // Nothing is stored.
  }
}

function versionOf(files: ReadonlyMap<string, Versions>, { path, id }: TreeFile): ParsedFile | undefined {
  return files.get(path)?.find(([version]) => version === id)?.[1];
}
