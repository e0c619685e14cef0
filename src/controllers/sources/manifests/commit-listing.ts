import type { GitRepository, TreeChange, TreeEntry } from '@berth/git-reader/repository/git-repository';
import { InputError } from '@berth/runtime/errors';
import type { Problem } from '@berth/runtime/problem/problem';
import type { ManifestLimits } from './source-content.ts';
import { type ManifestSelector, selectManifests } from './manifest-selection.ts';
import { findSpecialFolders } from './special-folders.ts';

/** The tree of a commit, and the files to read. */
export interface CommitListing {
  readonly commit: string;
  readonly entries: Map<string, TreeEntry>;
  readonly selection: ManifestSelection;
}

/**
 * Paths of the manifests in order, and refused entries. Both depend on names and modes only, not on
 * contents.
 */
export interface ManifestSelection {
  readonly paths: readonly string[];
  readonly problems: readonly Problem[];
  /** Folder of each kustomization and its file. */
  readonly kustomizations: ReadonlyMap<string, string>;
}

export interface SelectionRules {
  readonly selector: ManifestSelector;
  readonly limits: ManifestLimits;
}

/**
 * Lists everything in a commit.
 * @throws InputError when it contains more manifests than allowed
 */
export async function listCommit(
  repository: GitRepository,
  commit: string,
  rules: SelectionRules,
): Promise<CommitListing> {
  const entries = new Map((await repository.listTree(commit)).map((entry) => [entry.path, entry]));
  return { commit, entries, selection: select(entries, commit, rules) };
}

/** Lists a commit whose difference to a listed one is known. */
export function listNextCommit(
  before: CommitListing,
  commit: string,
  { changes, ...rules }: SelectionRules & { readonly changes: readonly TreeChange[] },
): CommitListing {
  const entries = new Map(before.entries);
  let sameNames = true;
  for (const { path, entry } of changes) {
    sameNames &&= entry !== undefined && entries.get(path)?.mode === entry.mode;
    if (entry === undefined) entries.delete(path);
    else entries.set(path, entry);
  }
  if (sameNames && before.selection.problems.length === 0)
    return { commit, entries, selection: before.selection };
  // Sorted, because a Map keeps the order of insertion, and the result must not depend on earlier
  // commits.
  const sorted = new Map([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
  return { commit, entries: sorted, selection: select(sorted, commit, rules) };
}

function select(
  entries: ReadonlyMap<string, TreeEntry>,
  commit: string,
  { selector, limits }: SelectionRules,
): ManifestSelection {
  const all = [...entries.values()];
  const special = findSpecialFolders(all.filter(({ path }) => selector.covers(path)));
  const { files, problems } = selectManifests(
    all.filter(({ path }) => !special.isInside(path)),
    selector,
  );
  if (files.length > limits.maxFiles)
    throw new InputError(`${files.length} manifests, expected at most ${limits.maxFiles}`, {
      code: 'source.too-many-files',
      subject: `Commit ${commit}`,
      hint: 'narrow the paths of the source',
    });
  const paths = [...files.map(({ path }) => path), ...special.kustomizations.values()].sort();
  const refusals = [...problems, ...special.problems].map((problem) => atCommit(problem, commit));
  return { paths, problems: refusals, kustomizations: special.kustomizations };
}

export function atCommit(problem: Problem, commit: string): Problem {
  if (problem.location === undefined || problem.location.commit !== undefined) return problem;
  return { ...problem, location: { ...problem.location, commit } };
}
