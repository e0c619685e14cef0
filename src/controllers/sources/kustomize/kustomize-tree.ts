import path from 'node:path';
import type { Problem } from '@berth/runtime/problem/problem';

/** The repository as seen by a kustomization. */
export interface KustomizeTree {
  /** Every kustomization of the repository: its folder and its file. */
  readonly kustomizations: ReadonlyMap<string, string>;
  /** Whether a source wants the kustomization; otherwise it can only be a base. */
  readonly isWanted: (file: string) => boolean;
  /** Every path that may be read, with a text that identifies its content (empty: it is not identified). */
  readonly versions: ReadonlyMap<string, string>;
  /** The paths that may not be read, and why. */
  readonly refused: ReadonlyMap<string, Problem>;
  /** Contents by path, without files that are too large or missing. */
  readonly read: (paths: readonly string[]) => Promise<ReadonlyMap<string, Buffer>>;
  readonly ambient: Readonly<Record<string, string | undefined>>;
}

/** Only a few at a time, because each may have the maximum size. */
const READ_AT_ONCE = 8;

/**
 * Passes contents as they arrive, until `onFile` returns false.
 * @returns whether it never returned false
 */
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

/** The path that an entry of a kustomization in a folder refers to; '' is the root. */
export function resolveEntry(folder: string, entry: string): string {
  const joined = path.posix.join(folder === '' ? '.' : folder, entry).replace(/\/+$/, '');
  return joined === '.' ? '' : joined;
}

/** The paths of a tree, grouped by folder, so that they are not searched for each kustomization. */
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
