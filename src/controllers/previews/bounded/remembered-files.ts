import type { TreeFile } from '../../../adapters/git/repository/tree-safety.ts';
import type { ParsedFile } from '../../../adapters/yaml/parse-manifests.ts';
import type { ParsedFiles } from '../../sources/parsing/parsed-files.ts';
import { decodeParsedFile } from '../../sources/parsing/parsed-record.ts';

type Versions = readonly (readonly [id: string, parsed: ParsedFile])[];

/**
 * Parsed files in memory. The same file is the very same object from plan to plan, so that what was computed of it is found again. What
 * neither this plan nor the last one read is forgotten.
 */
export class RememberedFiles implements ParsedFiles {
  /** By path: a base and a few heads. */
  #now = new Map<string, Versions>();
  #before = new Map<string, Versions>();

  /** Another plan begins. */
  turn(): void {
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
