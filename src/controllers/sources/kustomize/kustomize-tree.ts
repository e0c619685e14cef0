import path from 'node:path';
import type { Problem } from '../../../core/model/problem.ts';

/** The repository as a kustomization sees it. */
export interface KustomizeTree {
  /** Every kustomization of the repository: its folder and its file. */
  readonly kustomizations: ReadonlyMap<string, string>;
  /** Whether a kustomization is asked for, or only there to be built on. */
  readonly isWanted: (file: string) => boolean;
  /** Every path that may be read, with what distinguishes its versions (empty: nothing does). */
  readonly versions: ReadonlyMap<string, string>;
  /** The paths that may not be read, and why. */
  readonly refused: ReadonlyMap<string, Problem>;
  /** Contents by path, without files that are too large or missing. */
  readonly read: (paths: readonly string[]) => Promise<ReadonlyMap<string, Buffer>>;
  readonly ambient: Readonly<Record<string, string | undefined>>;
}

/** A few at a time: each may be as large as a file may be. */
const READ_AT_ONCE = 8;

/** Passes contents as they arrive, until `onFile` returns false. Returns whether it never did. */
export async function readContents(
  tree: Pick<KustomizeTree, 'read'>,
  paths: readonly string[],
  onFile: (path: string, content: Buffer | undefined) => boolean,
): Promise<boolean> {
  for (let at = 0; at < paths.length; at += READ_AT_ONCE) {
    const some = paths.slice(at, at + READ_AT_ONCE);
    const contents = await tree.read(some);
    if (!some.every((file) => onFile(file, contents.get(file)))) return false;
  }
  return true;
}

/** Where an entry of the kustomization in a folder leads to; '' is the root. */
export function resolveEntry(folder: string, entry: string): string {
  const joined = path.posix.join(folder === '' ? '.' : folder, entry).replace(/\/+$/, '');
  return joined === '.' ? '' : joined;
}

/** The paths of a tree by folder: with many kustomizations they are not gone through for each of them. */
export class TreeIndex {
  readonly #sorted: readonly string[];
  readonly #folders = new Set<string>(['']);

  constructor(paths: Iterable<string>) {
    this.#sorted = [...paths].sort();
    for (const file of this.#sorted)
      for (let slash = file.lastIndexOf('/'); slash > 0; slash = file.lastIndexOf('/', slash - 1)) {
        const folder = file.slice(0, slash);
        if (this.#folders.has(folder)) break;
        this.#folders.add(folder);
      }
  }

  hasFolder(folder: string): boolean {
    return this.#folders.has(folder);
  }

  /** All files below a folder. */
  *below(folder: string): Generator<string> {
    const prefix = folder === '' ? '' : `${folder}/`;
    let [low, high] = [0, this.#sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#sorted[middle] ?? '') < prefix) low = middle + 1;
      else high = middle;
    }
    for (let at = low; at < this.#sorted.length; at++) {
      const file = this.#sorted[at] ?? '';
      if (!file.startsWith(prefix)) return;
      yield file;
    }
  }
}
