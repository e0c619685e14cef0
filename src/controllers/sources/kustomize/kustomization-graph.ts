import { parseKustomization } from './kustomization-text.ts';
import type { KustomizationText } from './kustomization-text.ts';
import { resolveEntry, readContents } from './kustomize-tree.ts';
import type { KustomizeTree } from './kustomize-tree.ts';

/** An entry of a kustomization, and the path in the repository that it refers to. */
export interface Reference {
  readonly text: string;
  readonly target: string;
}

/** The dependencies among the wanted kustomizations and their bases. */
export interface KustomizationGraph {
  /** By folder. */
  readonly references: ReadonlyMap<string, readonly Reference[]>;
  /** The folders to render. Every other wanted folder is a base of one of them. */
  readonly roots: readonly string[];
}

type Edges = ReadonlyMap<string, readonly string[]>;

/** Builds the graphs of successive commits. A text that does not change is parsed only once. */
export class KustomizationGraphs {
  #texts: ReadonlyMap<string, KustomizationText> = new Map();

  async read(tree: KustomizeTree): Promise<KustomizationGraph> {
    const texts = new Map<string, KustomizationText>();
    const references = new Map<string, readonly Reference[]>();
    const edges = new Map<string, readonly string[]>();
    const wanted = [...tree.kustomizations].filter(([, file]) => tree.isWanted(file));
    for (let open = wanted; open.length > 0; ) {
      const read = await this.#readTexts(open, tree, texts);
      for (const [folder, { references: entries, words }] of read) {
        const built = entries.map((text) => ({ text, target: resolveEntry(folder, text) }));
        references.set(folder, built);
        // If a kustomization cannot be parsed, every folder that it mentions is treated as one of
        // its bases. Rendering such a base by itself would add unwanted objects; leaving it out is
        // safe, because nothing is pruned meanwhile.
        const named = words.map((word) => resolveEntry(folder, word));
        const targets = new Set([...built.map(({ target }) => target), ...named]);
        targets.delete(folder);
        edges.set(
          folder,
          [...targets].filter((target) => tree.kustomizations.has(target)),
        );
      }
      const next = new Set(read.flatMap(([folder]) => edges.get(folder) ?? []));
      open = [...tree.kustomizations].filter(([folder]) => next.has(folder) && !references.has(folder));
    }
    this.#texts = texts;
    const roots = rootsOf(
      wanted.map(([folder]) => folder),
      edges,
    );
    return { references, roots };
  }

  async #readTexts(
    open: readonly (readonly [folder: string, file: string])[],
    tree: KustomizeTree,
    texts: Map<string, KustomizationText>,
  ): Promise<(readonly [string, KustomizationText])[]> {
    const read: (readonly [string, KustomizationText])[] = [];
    const unknown = new Map<string, string>();
    for (const [folder, file] of open) {
      const version = tree.versions.get(file) ?? '';
      const known = version === '' ? undefined : (texts.get(version) ?? this.#texts.get(version));
      if (known === undefined) unknown.set(file, folder);
      else {
        texts.set(version, known);
        read.push([folder, known]);
      }
    }
    await readContents(tree, [...unknown.keys()], (file, content) => {
      const text = parseKustomization(content);
      const version = tree.versions.get(file) ?? '';
      if (version !== '' && content !== undefined) texts.set(version, text);
      read.push([unknown.get(file) ?? '', text]);
      return true;
    });
    return read;
  }
}

/**
 * The kustomizations that are no base of another one, and one of each cycle, so that kustomize
 * reports it.
 */
function rootsOf(wanted: readonly string[], edges: Edges): readonly string[] {
  const bases = new Set([...edges.values()].flat());
  const roots = wanted.filter((folder) => !bases.has(folder));
  const covered = reachableFolders(roots, (folder) => edges.get(folder) ?? []);
  for (const folder of wanted) {
    if (covered.has(folder)) continue;
    roots.push(folder);
    reachableFolders([folder], (at) => edges.get(at) ?? [], covered);
  }
  return roots;
}

/** Some folders, and all folders that are reachable from them. */
export function reachableFolders(
  folders: readonly string[],
  next: (folder: string) => readonly string[],
  reached = new Set<string>(),
): Set<string> {
  const open = folders.filter((folder) => !reached.has(folder));
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    if (reached.has(folder)) continue;
    reached.add(folder);
    open.push(...next(folder).filter((other) => !reached.has(other)));
  }
  return reached;
}
