import type { KubeObject } from '@berth/kube/model/object-meta';
import type { JudgedDeletions } from '../../core/preview/judged-deletions.ts';
import type { OwnerOf, SourceDeclaration } from '../../core/preview/sides/merge-sources.ts';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { SourceContent } from '../sources/manifests/source-content.ts';
import { judgeDeletions } from './judge-deletions.ts';
import type { MemberHeads } from './members/read-members.ts';
import type { RecordedHubState } from './recorded-hub-state.ts';

export type ReadFleets = readonly (SourceContent & SourceDeclaration)[];

interface JudgedInput {
  readonly others?: readonly SourceDeclaration[] | undefined;
  readonly hubMemory?: RecordedHubState | undefined;
  readonly hubApi?: KubeApi | undefined;
  readonly headsOf?: MemberHeads | undefined;
}

/**
 * Judges the deletions of every source of a merge. The loss of an object that another source deletes does not count.
 * The sources are therefore judged repeatedly until nothing changes, so that their order does not matter.
 */
export async function judgeSources(
  { others = [], hubMemory, hubApi: hub, headsOf }: JudgedInput,
  [bases, heads]: readonly [ReadFleets, ReadFleets],
  known: { readonly ownerOf: OwnerOf; readonly now: string },
): Promise<readonly JudgedDeletions[]> {
  const judge = (deletedBy: readonly (readonly KubeObject[])[]): Promise<readonly JudgedDeletions[]> =>
    Promise.all(
      heads.map((fleet, at) =>
        judgeDeletions(bases[at] ?? fleet, fleet, {
          ...{ before: [...bases, ...others], all: [...heads, ...others], hub, headsOf, ...known },
          memory: hubMemory?.deletions.get(fleet.name),
          deletedByOthers: deletedBy.flatMap((gone, other) => (other === at ? [] : gone)),
        }),
      ),
    );
  let judged = await judge([]);
  let deleted = 0;
  // Each round deletes more than the previous one, or is the last.
  while (heads.length > 1 && judged.some(({ held }) => held !== undefined)) {
    const deletedBy = judged.map((one) => one.deleted);
    const count = deletedBy.flat().length;
    if (count <= deleted) break;
    deleted = count;
    judged = await judge(deletedBy);
  }
  return judged;
}
