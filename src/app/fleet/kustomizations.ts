import path from 'node:path';
import yaml from 'js-yaml';
import { kubectlKustomize } from '../../adapters/kustomize/kubectl-kustomize.ts';
import { parseManifests } from '../../adapters/yaml/parse-manifests.ts';
import type { ParsedFile } from '../../adapters/yaml/parse-manifests.ts';
import { refused } from './read-content.ts';

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

/** Fields of a kustomization that name files or folders to build from. */
const REFERENCE_FIELDS = [
  'resources',
  'bases',
  'components',
  'crds',
  'generators',
  'transformers',
  'validators',
];
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
  let parsed: unknown;
  try {
    parsed = yaml.load(content?.toString('utf8') ?? '');
  } catch {
    return []; // kubectl says what is wrong with it
  }
  if (typeof parsed !== 'object' || parsed === null) return [];
  const fields = parsed as Readonly<Record<string, unknown>>;
  return REFERENCE_FIELDS.flatMap((field) => {
    const list = fields[field];
    const texts = Array.isArray(list)
      ? list.filter((entry): entry is string => typeof entry === 'string')
      : [];
    // An entry of several lines is a resource written in place.
    return texts
      .filter((text) => !text.includes('\n'))
      .map((text) => ({ text, target: inRepository(folder, text) }));
  });
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
    if (!exists)
      return refused(file, {
        code: 'source.kustomize-reference',
        message: `got ${JSON.stringify(text)}, expected a file or folder of this repository`,
        hint: 'remote bases are not fetched: commit a copy',
      });
  }
  const result = await kubectlKustomize({ folder, files: await tree.read(inputs), ambient: tree.ambient });
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
