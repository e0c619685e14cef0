import type { GitRepository } from '@berth/git-reader/repository/git-repository';
import { identityOf, type ObjectRef, refOf } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { LostFile } from '../../core/preview/lost-file.ts';
import { manifestSelector, selectManifests } from '../sources/manifests/manifest-selection.ts';
import type { SourceDeclaration } from '../../core/preview/sides/merge-sources.ts';

export interface LostFilesInput {
  readonly repository: Pick<GitRepository, 'listTree'>;
  /** Full id of the commit before the change. `after` is the commit with the change. */
  readonly before: string;
  readonly after: string;
  /** The objects of the source in the commits `before` and `after`. */
  readonly base: Pick<SourceDeclaration, 'name' | 'objects'>;
  readonly head: Pick<SourceDeclaration, 'objects'>;
  /** The paths of the source, which select its manifests. */
  readonly paths: readonly string[];
}

/**
 * Finds files that still exist although the source lost all of their objects: files that were emptied, and files that
 * were moved unchanged to a path that the source does not select. Unlike the deletion of a file, such a change may be a
 * mistake.
 */
export async function findLostFiles(input: LostFilesInput): Promise<readonly LostFile[]> {
  const lost = lostObjects(input.base.objects, input.head.objects);
  if (lost.size === 0) return [];
  const { repository, base, paths } = input;
  const [before, after] = [await repository.listTree(input.before), await repository.listTree(input.after)];
  const idBefore = new Map(before.map(({ path, id }) => [path, id]));
  const selected = new Set(selectManifests(after, manifestSelector(paths)).files.map(({ path }) => path));
  const filesWithObjects = new Set(input.head.objects.map(({ location }) => location.file));
  return [...lost].flatMap(([file, objects]): readonly LostFile[] => {
    const lostFile = { source: base.name, file, objects };
    if (selected.has(file))
      return filesWithObjects.has(file) ? [] : [{ ...lostFile, change: 'emptied', movedTo: undefined }];
    const movedTo = after.find(({ path, id }) => id === idBefore.get(file) && !idBefore.has(path))?.path;
    return movedTo === undefined ? [] : [{ ...lostFile, change: 'unselected', movedTo }];
  });
}

/** The objects that only the commit before declares, by the file that declared them. */
function lostObjects(
  before: readonly SourceObject[],
  after: readonly SourceObject[],
): ReadonlyMap<string, readonly ObjectRef[]> {
  // Nearly all objects are the same on both sides.
  const same = new Set(after.map(({ object }) => object));
  const others = before.filter(({ object }) => !same.has(object));
  const lost = new Map<string, ObjectRef[]>();
  if (others.length === 0) return lost;
  const present = new Set(after.map(({ object }) => identityOf(object)));
  for (const { object, location } of others)
    if (!present.has(identityOf(object)))
      lost.set(location.file, [...(lost.get(location.file) ?? []), refOf(object)]);
  return lost;
}
