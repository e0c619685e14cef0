import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { compareText } from '@berth/runtime/text/compare-text';
import { InputError } from '@berth/runtime/errors';
import type { Problem } from '@berth/runtime/problem/problem';
import type { TreeEntry } from '@berth/git-reader/repository/git-repository';
import { isUnreadable, readContent, tooLargeFile } from '../manifests/read-content.ts';
import { assembleObjects, fileReading, type FileReading } from '../manifests/assemble-objects.ts';
import { DEFAULT_MANIFEST_LIMITS, type SourceContent } from '../manifests/source-content.ts';
import type { KustomizeTree } from '../kustomize/kustomize-tree.ts';
import { KustomizeRenderer } from '../kustomize/kustomizations.ts';
import { findUnlistedManifests } from '../kustomize/unlisted-manifests.ts';
import { manifestSelector, type ManifestSelector, selectManifests } from '../manifests/manifest-selection.ts';
import { findSpecialFolders } from '../manifests/special-folders.ts';
import { problemsByFile, splitSafeEntries } from '@berth/git-reader/repository/tree-safety';
import { asNamed, type ParsedFile } from '../../../adapters/yaml/parse-manifests.ts';

export interface FolderOptions {
  /** Globs relative to the folder. */
  readonly paths?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The folder that locations are relative to; absent: the working directory of the process. */
  readonly cwd?: string | undefined;
  /** The environment to find kubectl in, for kustomizations; absent: the environment of the process. */
  readonly ambient?: Readonly<Record<string, string | undefined>> | undefined;
}

/**
 * Reads the manifests of a folder (or one file) from disk, without Git. Locations are relative to the current directory
 * if the files are below it.
 * @throws InputError `source.not-found` when `root` does not exist
 */
export async function readSourceFolder(root: string, options: FolderOptions = {}): Promise<SourceContent> {
  const info = await stat(root).catch((cause: unknown) => {
    throw new InputError('cannot be read, expected a folder or file', {
      code: 'source.not-found',
      subject: root,
      cause,
    });
  });
  const isSingleFile = info.isFile();
  const folder = isSingleFile ? path.dirname(root) : root;
  const entries = isSingleFile
    ? [{ path: path.basename(root), mode: '100644', id: '' }]
    : await listFolder(folder);
  const selector = isSingleFile ? { covers: () => true } : manifestSelector(options.paths ?? []);
  const displayPathOf = (file: string): string =>
    displayPath(path.join(folder, file), options.cwd ?? process.cwd());
  const special = findSpecialFolders(
    isSingleFile ? [] : entries.filter((entry) => selector.covers(entry.path)),
  );
  const { files, problems: refusals } = selectManifests(
    entries.filter((entry) => !special.isInside(entry.path)),
    selector,
  );
  const problems: Problem[] = [...refusals, ...special.problems].map((problem) =>
    withDisplayPath(problem, displayPathOf),
  );
  const readings: FileReading[] = [];
  for (const file of files) {
    options.signal?.throwIfAborted();
    // Hints name paths as a source has them.
    const parsed = await readOne(path.join(folder, file.path), file.path);
    readings.push(fileReading(withDisplayPaths(parsed, displayPathOf)));
  }
  let renderedFiles = 0;
  if (special.kustomizations.size > 0) {
    const tree = treeOfFolder(folder, entries, selector, options.ambient ?? process.env);
    const rendered = await new KustomizeRenderer().render(tree);
    for (const parsed of rendered.values())
      readings.push(fileReading(withDisplayPaths(parsed, displayPathOf)));
    const inFolders = await findUnlistedManifests(tree, rendered.values());
    problems.push(...inFolders.problems.map((problem) => withDisplayPath(problem, displayPathOf)));
    renderedFiles = inFolders.files;
  }
  // The second argument is the displayed path of the folder, with the slash at its end.
  const assembled = assembleObjects(readings, isSingleFile ? undefined : displayPathOf('x').slice(0, -1));
  return {
    objects: assembled.objects,
    problems: [...problems, ...assembled.problems],
    files: files.length + renderedFiles,
    complete:
      assembled.complete &&
      !problems.some(({ severity }) => severity === 'error') &&
      !readings.some(({ parsed }) => isUnreadable(parsed)),
    textOf: (file) => readFile(path.resolve(options.cwd ?? '', file), 'utf8').catch(() => undefined),
  };
}

function treeOfFolder(
  folder: string,
  entries: readonly TreeEntry[],
  selector: ManifestSelector,
  ambient: NonNullable<FolderOptions['ambient']>,
): KustomizeTree {
  const { files, problems } = splitSafeEntries(entries);
  return {
    kustomizations: findSpecialFolders(entries).kustomizations,
    isWanted: (file) => selector.covers(file),
    versions: new Map(files.map((file) => [file.path, ''])),
    refused: problemsByFile(problems),
    read: async (paths) => {
      const contents = new Map<string, Buffer>();
      for (const file of paths) {
        const absolute = path.join(folder, file);
        const { size } = await stat(absolute);
        if (size <= DEFAULT_MANIFEST_LIMITS.maxFileBytes) contents.set(file, await readFile(absolute));
      }
      return contents;
    },
    ambient,
  };
}

function withDisplayPaths(parsed: ParsedFile, displayPathOf: (file: string) => string): ParsedFile {
  return {
    manifests: parsed.manifests.map((manifest) => ({
      ...manifest,
      location: { ...manifest.location, file: displayPathOf(manifest.location.file) },
    })),
    problems: parsed.problems.map((problem) => withDisplayPath(problem, displayPathOf)),
  };
}

/** @param name its path in the folder */
async function readOne(file: string, name: string) {
  const { size } = await stat(file);
  const { maxFileBytes } = DEFAULT_MANIFEST_LIMITS;
  return size > maxFileBytes
    ? tooLargeFile(name, size, maxFileBytes)
    : asNamed(name, readContent(name, await readFile(file)));
}

/**
 * All files below a folder, sorted by path. Links are listed, but never followed. Folders named
 * `.git` or `node_modules` are skipped.
 */
async function listFolder(folder: string): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = [];
  const walk = async (below: string): Promise<void> => {
    const names = await readdir(path.join(folder, below), { withFileTypes: true });
    for (const entry of names) {
      const relative = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) {
        if (entry.name !== '.git' && entry.name !== 'node_modules') await walk(relative);
      } else if (entry.isSymbolicLink()) entries.push({ path: relative, mode: '120000', id: '' });
      else if (entry.isFile()) entries.push({ path: relative, mode: '100644', id: '' });
    }
  };
  await walk('');
  return entries.sort((a, b) => compareText(a.path, b.path));
}

/** The path relative to the current directory if it is below it, and else as given. */
function displayPath(file: string, cwd: string): string {
  const relative = path.relative(cwd, path.resolve(file));
  return relative.startsWith('..') ? file : relative;
}

function withDisplayPath(problem: Problem, displayPathOf: (file: string) => string): Problem {
  if (problem.location === undefined) return problem;
  return { ...problem, location: { ...problem.location, file: displayPathOf(problem.location.file) } };
}
