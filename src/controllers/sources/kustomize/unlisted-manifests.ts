import { hasManifestFields } from '../../../adapters/yaml/locate-fields.ts';
import { groupBy } from '@berth/runtime/lists/group-by';
import type { Problem } from '@berth/runtime/problem/problem';
import { isManifestName } from '../manifests/manifest-selection.ts';
import { isUnreadable } from '../manifests/read-content.ts';
import { folderOf, isBelow, isKustomization } from '../manifests/special-folders.ts';
import type { RenderedFile } from './kustomizations.ts';
import { parseKustomization } from './kustomization-text.ts';
import { type KustomizeTree, readContents, resolveEntry } from './kustomize-tree.ts';

/** The code of the warning about manifests that are not read. */
export const UNLISTED = 'source.unlisted';

export interface FolderUse {
  /** How many YAML and JSON files the kustomizations are made of. */
  readonly files: number;
  /** Warnings about manifests in the folders of kustomizations that none of them names. */
  readonly problems: readonly Problem[];
}

/** Files that one warning names. */
const MAX_NAMED = 5;

/**
 * Finds the manifests that nobody reads: they are in the folder of a kustomization, so they are not read on their own,
 * and no kustomization names them. Of a kustomization that cannot be rendered, this is unknown.
 */
export async function findUnlistedManifests(
  tree: KustomizeTree,
  rendered: Iterable<RenderedFile>,
): Promise<FolderUse> {
  const broken = [...rendered].flatMap((one) => (isUnreadable(one) ? one.inputFolders : [])).map(isBelow);
  const named = await namedPaths(tree);
  const used: string[] = [];
  const unlisted: string[] = [];
  for (const path of tree.versions.keys()) {
    if (!isManifestName(path) || !isInKustomization(path, tree)) continue;
    if (isKustomization(path) || named.has(path)) used.push(path);
    else if (tree.isWanted(path) && !broken.some((covers) => covers(path))) unlisted.push(path);
  }
  const manifests: string[] = [];
  await readContents(tree, unlisted, (path, content) => {
    if (hasManifestFields(content?.toString('utf8') ?? '')) manifests.push(path);
    return true;
  });
  const problems = [...groupBy(manifests, folderOf)].map(([folder, paths]) => unlistedProblem(folder, paths));
  return { files: used.length, problems };
}

/** Whether the path is below a kustomization, so that it is not read on its own. */
function isInKustomization(path: string, { kustomizations }: KustomizeTree): boolean {
  for (let folder = folderOf(path); ; folder = folderOf(folder)) {
    if (kustomizations.has(folder)) return true;
    if (folder === '') return false;
  }
}

/** Every path that a kustomization, or the configuration of its generators and transformers, mentions outside of comments. */
async function namedPaths(tree: KustomizeTree): Promise<ReadonlySet<string>> {
  const named = new Set<string>();
  const configurations = new Set<string>();
  const addWords = (folder: string, content: Buffer | undefined): void => {
    const text = content?.toString('utf8').replaceAll(/(^|\s)#.*$/gm, '$1') ?? '';
    for (const word of text.split(/[\s"',[\]{}=]+/)) if (word !== '') named.add(resolveEntry(folder, word));
  };
  await readContents(tree, [...tree.kustomizations.values()], (file, content) => {
    addWords(folderOf(file), content);
    for (const entry of parseKustomization(content).configurations)
      configurations.add(resolveEntry(folderOf(file), entry));
    return true;
  });
  const files = [...configurations].filter((file) => tree.versions.has(file));
  await readContents(tree, files, (file, content) => {
    addWords(folderOf(file), content);
    return true;
  });
  return named;
}

function unlistedProblem(folder: string, paths: readonly string[]): Problem {
  const [first = ''] = paths;
  const names = paths.slice(0, MAX_NAMED).map((path) => path.slice(folder === '' ? 0 : folder.length + 1));
  const more = paths.length > MAX_NAMED ? ` and ${paths.length - MAX_NAMED} more` : '';
  const what =
    paths.length === 1
      ? `${first}: a manifest that no kustomization names`
      : `${folder === '' ? './' : `${folder}/`}: ${paths.length} manifests that no kustomization names (${names.join(', ')}${more})`;
  return {
    severity: 'warning',
    code: UNLISTED,
    message: `${what}; not read`,
    hint: 'add it to the resources of a kustomization, or move it out of the folder',
    location: { file: first, line: 1, column: 1 },
  };
}
