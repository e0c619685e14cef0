import picomatch from 'picomatch';
import { splitSafeEntries, type TreeFile } from '@berth/git-reader/repository/tree-safety';
import type { TreeEntry } from '@berth/git-reader/repository/git-repository';
import { InputError } from '@berth/runtime/errors';
import type { Problem } from '@berth/runtime/problem/problem';

/** Tests (`*.placement-test.yaml`, `*.rule-test.yaml`) are stored beside manifests, but they are run and not applied. */
const EXTENSIONS = /(?<!\.(?:placement|rule)-test)\.(?:ya?ml|json)$/i;

/** Whether a file with this name is a manifest, by its extension. */
export function isManifestName(path: string): boolean {
  return EXTENSIONS.test(path);
}

/**
 * Selects the paths of manifests: YAML and JSON files that match one of the globs (all if there are
 * none) and none of the globs that start with `!`. A path that starts with a dot (`.github/`,
 * `.argocd.yaml`) is selected only if a glob names it. A glob without wildcards also matches
 * everything below it: `fleet` is `fleet/**`.
 */
export function manifestSelector(globs: readonly string[]): ManifestSelector {
  for (const glob of globs) checkGlob(glob);
  const wanted = globs.filter((glob) => !glob.startsWith('!')).map(normalized);
  const unwanted = globs.filter((glob) => glob.startsWith('!')).map((glob) => normalized(glob.slice(1)));
  const includes = wanted.length === 0 ? () => true : matcher(wanted);
  const excludes = unwanted.length === 0 ? () => false : matcher(unwanted);
  const hidden = (path: string): boolean =>
    /(?:^|\/)\./.test(path) && !wanted.some((glob) => /(?:^|\/)\./.test(glob));
  return { covers: (path) => !hidden(path) && includes(path) && !excludes(path) };
}

export interface ManifestSelector {
  /** Whether the globs cover the path, independent of its type. */
  readonly covers: (path: string) => boolean;
}

/**
 * The manifests among the entries of a tree, and the entries that must not be read. Links that may
 * hide manifests are warnings.
 */
export function selectManifests(
  entries: readonly TreeEntry[],
  selector: ManifestSelector,
): { readonly files: readonly TreeFile[]; readonly problems: readonly Problem[] } {
  const isPlain = (entry: TreeEntry): boolean => entry.mode.startsWith('100');
  const candidates = entries.filter(
    (entry) => (EXTENSIONS.test(entry.path) || !isPlain(entry)) && selector.covers(entry.path),
  );
  const { files, problems } = splitSafeEntries(candidates);
  return {
    files,
    problems: problems.map((problem) =>
      EXTENSIONS.test(problem.location?.file ?? '') ? problem : { ...problem, severity: 'warning' as const },
    ),
  };
}

/**
 * Turns warnings about paths below which there were manifests into errors; returns the same list if
 * there are none.
 */
export function escalateUnreadablePlaces(
  problems: readonly Problem[],
  files: readonly string[],
): readonly Problem[] {
  const below = new Set<string>();
  for (const file of files)
    for (let slash = file.indexOf('/'); slash !== -1; slash = file.indexOf('/', slash + 1))
      below.add(file.slice(0, slash));
  const hides = ({ severity, location }: Problem): boolean =>
    severity === 'warning' && below.has(location?.file ?? '');
  if (!problems.some(hides)) return problems;
  const hint =
    'the manifests that were in its place stay unchanged; to remove them, exclude the entry from the paths';
  return problems.map((problem) => (hides(problem) ? { ...problem, severity: 'error', hint } : problem));
}

function normalized(glob: string): string {
  const trimmed = glob.replace(/^\.?\/+/, '').replace(/\/+$/, '');
  return trimmed === '' || trimmed === '.' ? '**' : trimmed;
}

function matcher(globs: readonly string[]): (path: string) => boolean {
  const patterns = globs.flatMap((glob) => (glob.endsWith('*') ? [glob] : [glob, `${glob}/**`]));
  return picomatch(patterns, { dot: true, nonegate: true });
}

function checkGlob(glob: string): void {
  const problem =
    glob.length > 1024
      ? 'it is longer than 1024 characters'
      : glob.includes('..')
        ? 'it contains ..'
        : undefined;
  if (problem === undefined) return;
  throw new InputError(`${problem}, expected a path or glob inside the repository`, {
    code: 'source.glob',
    subject: `Path ${JSON.stringify(glob.slice(0, 80))}`,
  });
}
