import type { TreeFile } from '../../../adapters/git/repository/tree-safety.ts';
import type { ParsedFile } from '../../../adapters/yaml/parse-manifests.ts';
import type { ParsedFiles } from '../../sources/parsing/parsed-files.ts';
import { decodeParsedFile } from '../../sources/parsing/parsed-record.ts';

/** The versions of one file: of the base, and of a few heads. */
type Versions = readonly (readonly [id: string, parsed: ParsedFile])[];

/**
 * Parsed files in memory. A file is the same object from plan to plan, so that caches by object find
 * it again. A file that neither this plan nor the last one read is forgotten.
 */
export class InMemoryParsedFiles implements ParsedFiles {
  /** By path. */
  #thisPlan = new Map<string, Versions>();
  #lastPlan = new Map<string, Versions>();

  /** Called when another plan begins. */
  beginPlan(): void {
    this.#lastPlan = this.#thisPlan;
    this.#thisPlan = new Map();
  }

  read(
    files: readonly TreeFile[],
    onFile: (file: TreeFile, parsed: ParsedFile) => void,
  ): Promise<readonly TreeFile[]> {
    const missing = files.filter((file) => {
      const found = versionOf(this.#thisPlan, file) ?? versionOf(this.#lastPlan, file);
      if (found === undefined) return true;
      this.add(file, found);
      onFile(file, found);
      return false;
    });
    return Promise.resolve(missing);
  }

  add(file: TreeFile, parsed: ParsedFile): void {
    const { path, id } = file;
    if (versionOf(this.#thisPlan, file) === undefined)
      this.#thisPlan.set(path, [...(this.#thisPlan.get(path) ?? []), [id, parsed]]);
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
