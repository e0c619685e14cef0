import type { GitRepository } from '../../adapters/git/repository/git-repository.ts';
import { type ObjectRef, refOf } from '../../core/model/object-ref.ts';
import type { SourceObject } from '../../core/model/source-object.ts';
import type { LostFile } from '../../core/preview/lost-file.ts';
import { identityOf } from '../../core/sync/plan-prune.ts';
import { manifestSelector, selectManifests } from '../sources/manifests/manifest-selection.ts';
import type { SourceFleet } from '../../core/preview/merge-fleets.ts';

export interface LostFilesInput {
  readonly repository: Pick<GitRepository, 'listTree'>;
  /** Full ids of the commits. */
  readonly before: string;
  readonly after: string;
  /** What the source says in each of them. */
  readonly base: Pick<SourceFleet, 'name' | 'objects'>;
  readonly head: Pick<SourceFleet, 'objects'>;
  readonly paths: readonly string[];
}

/**
 * Finds files that still exist while the source loses their objects: emptied files, and files that were moved
 * unchanged to where the source's paths do not look. An author who deletes a file intends it; one who does this may
 * not.
 */
export async function findLostFiles(input: LostFilesInput): Promise<readonly LostFile[]> {
  const lost = lostObjects(input.base.objects, input.head.objects);
  if (lost.size === 0) return [];
  const { repository, base, paths } = input;
  const [before, after] = [await repository.listTree(input.before), await repository.listTree(input.after)];
  const idBefore = new Map(before.map(({ path, id }) => [path, id]));
  const selected = new Set(selectManifests(after, manifestSelector(paths)).files.map(({ path }) => path));
  const declaring = new Set(input.head.objects.map(({ location }) => location.file));
  return [...lost].flatMap(([file, objects]): readonly LostFile[] => {
    const found = { source: base.name, file, objects };
    if (selected.has(file))
      return declaring.has(file) ? [] : [{ ...found, change: 'emptied', movedTo: undefined }];
    const movedTo = after.find(({ path, id }) => id === idBefore.get(file) && !idBefore.has(path))?.path;
    return movedTo === undefined ? [] : [{ ...found, change: 'unselected', movedTo }];
  });
}

/** By file, what it declared before and what nothing declares now. */
function lostObjects(
  before: readonly SourceObject[],
  after: readonly SourceObject[],
): ReadonlyMap<string, readonly ObjectRef[]> {
  const present = new Set(after.map(({ object }) => identityOf(refOf(object))));
  const lost = new Map<string, ObjectRef[]>();
  for (const { object, location } of before) {
    const ref = refOf(object);
    if (!present.has(identityOf(ref))) lost.set(location.file, [...(lost.get(location.file) ?? []), ref]);
  }
  return lost;
}
