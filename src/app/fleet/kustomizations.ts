import path from 'node:path';
import { kubectlKustomize } from '../../adapters/kustomize/kubectl-kustomize.ts';
import { parseManifests } from '../../adapters/yaml/parse-manifests.ts';
import type { ParsedFile } from '../../adapters/yaml/parse-manifests.ts';
import { parseKustomization, scanConfiguration } from './kustomization-text.ts';
import type { KustomizationText } from './kustomization-text.ts';
import { refused } from './read-content.ts';
import { folderOf, isKustomization } from './special-folders.ts';

/** The repository as a kustomization sees it. */
export interface KustomizeTree {
  /** Every kustomization of the repository: its folder and its file. */
  readonly kustomizations: ReadonlyMap<string, string>;
  /** Whether a kustomization is asked for, or only there to be built on. */
  readonly isWanted: (file: string) => boolean;
  /** Every path of the tree with what tells its versions apart. */
  readonly versions: ReadonlyMap<string, string>;
  readonly read: (paths: readonly string[]) => Promise<ReadonlyMap<string, Buffer>>;
  readonly ambient: Readonly<Record<string, string | undefined>>;
}

const MAX_FILES = 2_000;

/** Renders kustomizations; a result is kept as long as none of the files that went into it changes. */
export class KustomizeRenderer {
  #rendered: ReadonlyMap<string, Rendered> = new Map();

  /** One reading for each kustomization that no other one builds on, by the path of its file. */
  async render(tree: KustomizeTree): Promise<ReadonlyMap<string, ParsedFile>> {
    if (tree.kustomizations.size === 0) return new Map();
    const contents = await tree.read([...tree.kustomizations.values()]);
    const references = new Map<string, Reference[]>();
    for (const [folder, file] of tree.kustomizations)
      references.set(folder, referencesOf(folder, contents.get(file)));
    const used = new Set([...references.values()].flat().map(({ target }) => target));
    const results = new Map<string, ParsedFile>();
    const kept = new Map<string, Rendered>();
    for (const [folder, file] of tree.kustomizations) {
      if (used.has(folder) || !tree.isWanted(file)) continue;
      const inputs = inputPaths(folder, references, tree);
      const identity = inputs.map((input) => `${input} ${tree.versions.get(input) ?? ''}`).join('\n');
      const known = this.#rendered.get(file);
      const parsed =
        known?.inputs === identity
          ? known.parsed
          : await renderOne({ folder, file, inputs, references }, tree);
      kept.set(file, { inputs: identity, parsed });
      results.set(file, parsed);
    }
    this.#rendered = kept;
    return results;
  }
}

interface Rendered {
  readonly inputs: string;
  readonly parsed: ParsedFile;
}

interface Reference {
  readonly text: string;
  /** Path in the repository that it names. */
  readonly target: string;
}

interface Job {
  readonly folder: string;
  readonly file: string;
  readonly inputs: readonly string[];
  readonly references: ReadonlyMap<string, readonly Reference[]>;
}

function referencesOf(folder: string, content: Buffer | undefined): Reference[] {
  return parseKustomization(content).references.map((text) => ({ text, target: inRepository(folder, text) }));
}

function inRepository(folder: string, text: string): string {
  const joined = path.posix.join(folder === '' ? '.' : folder, text).replace(/\/+$/, '');
  return joined === '.' ? '' : joined;
}

/** A kustomization and those it builds on. */
function foldersOf(folder: string, references: Job['references'], tree: KustomizeTree): ReadonlySet<string> {
  const folders = new Set<string>();
  const visit = (at: string): void => {
    if (folders.has(at)) return;
    folders.add(at);
    for (const { target } of references.get(at) ?? []) if (tree.kustomizations.has(target)) visit(target);
  };
  visit(folder);
  return folders;
}

/** All files in the folders that it builds on. */
function inputPaths(folder: string, references: Job['references'], tree: KustomizeTree): string[] {
  const inside = [...foldersOf(folder, references, tree)].map((name) => (name === '' ? '' : `${name}/`));
  return [...tree.versions.keys()].filter((file) => inside.some((prefix) => file.startsWith(prefix)));
}

async function renderOne(
  { folder, file, inputs, references }: Job,
  tree: KustomizeTree,
): Promise<ParsedFile> {
  if (inputs.length > MAX_FILES)
    return refused(file, {
      code: 'source.kustomize',
      message: `kustomization over ${inputs.length} files, expected at most ${MAX_FILES}`,
    });
  // kustomize takes for a remote address what it does not find: such entries must not reach it.
  const paths = [...tree.versions.keys()];
  const named = [...foldersOf(folder, references, tree)].flatMap((name) => references.get(name) ?? []);
  for (const { text, target } of named) {
    const exists =
      tree.versions.has(target) || paths.some((other) => target === '' || other.startsWith(`${target}/`));
    if (!exists) return notHere(file, text);
  }
  const files = await tree.read(inputs);
  const refusal = whatReachesOut(file, files);
  if (refusal !== undefined) return refusal;
  const result = await kubectlKustomize({ folder, files, ambient: tree.ambient });
  if (result.ok) return atKustomization(file, parseManifests({ file, text: result.text }));
  return refused(
    file,
    result.reason === 'no-kubectl'
      ? {
          code: 'source.kustomize-missing',
          message: 'got a kustomization, which needs the kustomize in kubectl, and kubectl is not installed',
          hint: 'install kubectl, or commit what `kubectl kustomize` makes of it',
        }
      : { code: 'source.kustomize', message: `kustomize failed: ${result.message}` },
  );
}

function notHere(file: string, text: string): ParsedFile {
  return refused(file, {
    code: 'source.kustomize-reference',
    message: `got ${JSON.stringify(text)}, expected a file or folder of this repository`,
    hint: 'remote bases are not fetched: commit a copy',
  });
}

/**
 * Refuses whatever would make kustomize open an address, in any kustomization that it might come by: it fetches every file that it
 * is to open and that begins with http, patches and generators' files too.
 */
function whatReachesOut(file: string, files: ReadonlyMap<string, Buffer>): ParsedFile | undefined {
  const problemOf = (at: string, { remote, unreadable }: Reaching): ParsedFile | undefined => {
    if (remote !== undefined) return notHere(file, remote);
    if (unreadable === undefined) return undefined;
    return refused(file, { code: 'source.kustomize', message: `${at} cannot be read: ${unreadable}` });
  };
  for (const [at, content] of files) {
    if (!isKustomization(at)) continue;
    const text = parseKustomization(content);
    const problem = problemOf(at, text);
    if (problem !== undefined) return problem;
    for (const entry of text.configurations) {
      const configuration = files.get(inRepository(folderOf(at), entry));
      if (configuration === undefined)
        return refused(file, {
          code: 'source.kustomize-reference',
          message: `got ${JSON.stringify(entry)} to configure a generator, transformer or validator, expected a file of the kustomization's folder`,
          hint: 'what a folder is rendered to could name any address: commit the configuration as a file',
        });
      const hidden = problemOf(at, scanConfiguration(configuration));
      if (hidden !== undefined) return hidden;
    }
  }
  return undefined;
}

type Reaching = Pick<KustomizationText, 'remote' | 'unreadable'>;

/** Lines of the rendered text mean nothing to anybody: everything stands at the kustomization. */
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
