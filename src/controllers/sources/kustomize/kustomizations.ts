import type { Problem } from '@berth/runtime/problem/problem';
import { kubectlKustomize } from '../../../adapters/kustomize/kubectl-kustomize.ts';
import { parseManifests, type ParsedFile } from '../../../adapters/yaml/parse-manifests.ts';
import { KUSTOMIZE, refusedFile } from '../manifests/read-content.ts';
import { folderOf, isKustomization } from '../manifests/special-folders.ts';
import {
  parseKustomization,
  scanConfiguration,
  withoutPlace,
  type KustomizationText,
} from './kustomization-text.ts';
import { readContents, TreeIndex, type KustomizeTree, resolveEntry } from './kustomize-tree.ts';

const MAX_FILES = 2_000;
/** Limit of all input files together, which are in memory and in the temporary folder. */
const MAX_INPUT_BYTES = 64 * 1024 ** 2;
/** How many files that were not passed to kustomize its error message names. */
const MAX_WITHHELD_NAMED = 3;

/** Renders kustomizations. A result is cached until one of its input files changes. */
export class KustomizeRenderer {
  readonly #graphs = new KustomizationGraphs();
  #rendered: ReadonlyMap<string, Rendered> = new Map();

  /**
   * Renders each wanted kustomization that is no base of another wanted one. The result is keyed by the path of its
   * file.
   * @throws TransientError when rendering could not be tried
   */
  async render(tree: KustomizeTree): Promise<ReadonlyMap<string, RenderedFile>> {
    if (tree.kustomizations.size === 0) return new Map();
    const graph = await this.#graphs.read(tree);
    const index = new TreeIndex(tree.versions.keys());
    const results = new Map<string, RenderedFile>();
    const kept = new Map<string, Rendered>();
    for (const folder of graph.roots) {
      const file = tree.kustomizations.get(folder) ?? '';
      const job = jobOf(folder, file, graph, { tree, index });
      if ('problems' in job) {
        results.set(file, { ...job, inputFolders: [folder] });
        continue;
      }
      const identity = job.inputs.map((input) => `${input} ${tree.versions.get(input) ?? ''}`).join('\n');
      const known = this.#rendered.get(file);
      const { parsed, isCacheable } =
        known?.inputs === identity
          ? { parsed: known.parsed, isCacheable: true }
          : await renderOne(job, { tree, index });
      if (isCacheable) kept.set(file, { inputs: identity, parsed });
      results.set(file, { ...parsed, inputFolders: job.folders });
    }
    this.#rendered = kept;
    return results;
  }
}

export interface RenderedFile extends ParsedFile {
  /** The folder of the kustomization, those of its bases, and everything that they refer to. */
  readonly inputFolders: readonly string[];
}

interface Rendered {
  readonly inputs: string;
  readonly parsed: ParsedFile;
}

interface Job {
  readonly folder: string;
  readonly file: string;
  /** The folder of the kustomization and of its bases, and everything that they refer to. */
  readonly folders: readonly string[];
  readonly named: readonly Reference[];
  /** All files in the folders. */
  readonly inputs: readonly string[];
}

interface Place {
  readonly tree: KustomizeTree;
  readonly index: TreeIndex;
}

/** The inputs of a kustomization, or why it is refused without rendering. */
function jobOf(
  folder: string,
  file: string,
  { references }: KustomizationGraph,
  { tree, index }: Place,
): Job | ParsedFile {
  const refusal = tree.refused.get(file);
  if (refusal !== undefined) return { manifests: [], problems: [refusal] };
  const namedIn = (at: string): readonly Reference[] => references.get(at) ?? [];
  const folders = [
    ...reachableFolders([folder], (at) =>
      namedIn(at)
        .map(({ target }) => target)
        .filter((target) => tree.kustomizations.has(target)),
    ),
  ];
  const inputs = new Set<string>();
  for (const name of folders)
    for (const input of index.below(name))
      if (inputs.add(input).size > MAX_FILES)
        return refusedFile(file, {
          code: KUSTOMIZE,
          message: `kustomization over more than ${MAX_FILES} files, which is the limit`,
        });
  return { folder, file, folders, named: folders.flatMap(namedIn), inputs: [...inputs] };
}

/** `isCacheable`: the result stays valid as long as the inputs do not change. */
async function renderOne(
  job: Job,
  { tree, index }: Place,
): Promise<{ readonly parsed: ParsedFile; readonly isCacheable: boolean }> {
  const { folder, file, inputs, named } = job;
  const cacheable = (parsed: ParsedFile) => ({ parsed, isCacheable: true });
  // kustomize treats a missing path as a remote URL, so such entries must not reach it.
  for (const { text, target } of named)
    if (!tree.versions.has(target) && !index.hasFolder(target))
      return cacheable(missingReference(file, text, tree.refused.get(target)));
  const files = await contentsOf(inputs, tree);
  if (files === undefined)
    return cacheable(
      refusedFile(file, {
        code: KUSTOMIZE,
        message: `kustomization over more than ${MAX_INPUT_BYTES} bytes in its folders, which is the limit`,
      }),
    );
  const refusal = findRemoteReferences(file, inputs, files);
  if (refusal !== undefined) return cacheable(refusal);
  const result = await kubectlKustomize({ folder, files, ambient: tree.ambient });
  if (result.ok) return cacheable(atKustomization(file, parseManifests({ file, text: result.text })));
  if (result.reason === 'no-kubectl')
    return {
      isCacheable: false,
      parsed: refusedFile(file, {
        code: 'source.kustomize-missing',
        message: 'got a kustomization, but kubectl, which renders kustomizations, is not installed',
        hint: 'install kubectl, or commit the output of `kubectl kustomize`',
      }),
    };
  const message = `kustomize failed: ${result.message}`;
  if (UNSUPPORTED.test(result.message)) return cacheable(unsupported(file, message));
  return {
    isCacheable: result.reason === 'failed',
    parsed: refusedFile(file, { code: KUSTOMIZE, message, hint: withheld(job, files, tree) }),
  };
}

/** How kustomize says that a kustomization needs plugins or Helm. */
const UNSUPPORTED = /external plugins disabled|must specify --enable-(?:helm|exec|alpha-plugins)/;

function unsupported(file: string, message: string): ParsedFile {
  const folder = folderOf(file);
  return {
    manifests: [],
    problems: [
      {
        severity: 'warning',
        code: KUSTOMIZE,
        message,
        hint: `Berth runs no plugins and no Helm: commit the rendered output, or leave the folder out with the path "!${folder === '' ? '**' : folder}"`,
        location: { file, line: 1, column: 1 },
      },
    ],
  };
}

/** Contents by path; undefined if they are too large together. */
async function contentsOf(
  inputs: readonly string[],
  tree: KustomizeTree,
): Promise<ReadonlyMap<string, Buffer> | undefined> {
  const files = new Map<string, Buffer>();
  let bytes = 0;
  const fits = await readContents(tree, inputs, (input, content) => {
    bytes += content?.length ?? 0;
    if (content !== undefined) files.set(input, content);
    return bytes <= MAX_INPUT_BYTES;
  });
  return fits ? files : undefined;
}

/** Files of the folders that were not passed to kustomize, which it reports as missing. */
function withheld(
  { folders, inputs }: Job,
  files: ReadonlyMap<string, Buffer>,
  tree: KustomizeTree,
): string | undefined {
  const inside = (file: string) => folders.some((name) => name === '' || file.startsWith(`${name}/`));
  const reasons = inputs.filter((input) => !files.has(input)).map((input) => `${input} (too large)`);
  for (const [file, { message }] of tree.refused) {
    if (reasons.length >= MAX_WITHHELD_NAMED) break;
    if (inside(file)) reasons.push(`${file} (${message})`);
  }
  if (reasons.length === 0) return undefined;
  return `kustomize was not given ${reasons.slice(0, MAX_WITHHELD_NAMED).join(', ')}`;
}

/** The lines of the rendered text mean nothing to users, so every problem is reported at the kustomization. */
function atKustomization(file: string, parsed: ParsedFile): ParsedFile {
  const location = { file, line: 1, column: 1 };
  return {
    manifests: parsed.manifests.map((manifest) => ({
      ...manifest,
      location,
      place: { document: -1, within: [] },
    })),
    problems: parsed.problems.map((problem) => ({ ...problem, location })),
  };
}

/** An entry of a kustomization, and the path in the repository that it refers to. */
interface Reference {
  readonly text: string;
  readonly target: string;
}

/** The dependencies among the wanted kustomizations and their bases. */
interface KustomizationGraph {
  /** By folder. */
  readonly references: ReadonlyMap<string, readonly Reference[]>;
  /** The folders to render. Every other wanted folder is a base of one of them. */
  readonly roots: readonly string[];
}

type Edges = ReadonlyMap<string, readonly string[]>;

/** Builds the graphs of successive commits. A text that does not change is parsed only once. */
class KustomizationGraphs {
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
function reachableFolders(
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

/** @param why the reason, for the message */
function missingReference(file: string, text: string, why?: Problem): ParsedFile {
  return refusedFile(file, {
    code: 'source.kustomize-reference',
    message: `got ${JSON.stringify(text)}, expected a file or folder of this repository`,
    hint:
      why === undefined
        ? 'remote bases are not fetched: commit a copy'
        : `${why.location?.file ?? text} is refused: ${why.message}`,
  });
}

/**
 * Refuses every entry that would make kustomize open an address, in any kustomization that it might
 * read. kustomize fetches every file that it opens and whose name starts with http, also for
 * patches and generators.
 * @param inputs the paths of the files that kustomize gets
 * @param files their contents
 */
function findRemoteReferences(
  file: string,
  inputs: readonly string[],
  files: ReadonlyMap<string, Buffer>,
): ParsedFile | undefined {
  const unreadable = (at: string, why: string, place = { line: 1, column: 1 }): ParsedFile => ({
    manifests: [],
    problems: [
      {
        severity: 'error',
        code: 'source.kustomize',
        message: `${at} cannot be read: ${why}`,
        location: { file: at, ...place },
      },
    ],
  });
  const problemOf = (at: string, reaching: Reaching): ParsedFile | undefined => {
    if (reaching.remote !== undefined) return missingReference(file, reaching.remote);
    if (reaching.unreadable === undefined) return undefined;
    const { why, ...place } = reaching.unreadable;
    return unreadable(at, why, place);
  };
  for (const at of inputs) {
    if (!isKustomization(at)) continue;
    const content = files.get(at);
    if (content === undefined) return unreadable(at, 'it is too large, or it is not in the repository');
    const text = parseKustomization(content);
    const problem = problemOf(at, text);
    if (problem !== undefined) return problem;
    for (const entry of text.configurations) {
      const configuration = files.get(resolveEntry(folderOf(at), entry));
      if (configuration === undefined)
        return refusedFile(file, {
          code: 'source.kustomize-reference',
          message: `got ${JSON.stringify(entry)} to configure a generator, transformer or validator, expected a file of the kustomization's folder`,
          hint: 'a rendered folder could name any address: commit the configuration as a file',
        });
      const hidden = problemOf(at, withoutPlace(scanConfiguration(configuration)));
      if (hidden !== undefined) return hidden;
    }
  }
  return undefined;
}

type Reaching = Pick<KustomizationText, 'remote' | 'unreadable'>;
