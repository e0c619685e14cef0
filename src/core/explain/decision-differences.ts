import type { PlacementDecision } from '../model/kind/placement-decision.ts';
import { decisionOwner } from '../placement/prior/decision-owner.ts';
import { PublishedClusters } from '../placement/prior/published-clusters.ts';
import { sameClusters } from '../publish/judge/cluster-change.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { SnapshotDifference } from './snapshot/snapshot-difference.ts';

export interface DecisionDifference extends SnapshotDifference {
  /** Clusters that the placement gained or lost. */
  readonly moved: ReadonlySet<string>;
}

/**
 * Other placements whose decisions are not the same in two snapshots: Balance counts them.
 * @param own `namespace/name` of the placement that is explained
 * @param standing `namespace/name` of each placement that exists in the later snapshot; undefined: unknown
 */
export function decisionDifferences(
  before: Snapshot,
  after: Snapshot,
  { own, standing }: { readonly own: string; readonly standing: ReadonlySet<string> | undefined },
): readonly DecisionDifference[] {
  const [old, present] = [before, after].map(
    ({ decisions }) => new PublishedClusters().read(decisions).clusters,
  ) as [ReadonlyMap<string, readonly string[]>, ReadonlyMap<string, readonly string[]>];
  const owners = [...new Set([...old.keys(), ...present.keys()])].filter(
    (owner) => owner !== '' && owner !== own,
  );
  return owners.flatMap((owner) => {
    const [was = [], is = []] = [old.get(owner), present.get(owner)];
    if (sameClusters(was, is)) return [];
    const isDeleted = standing !== undefined && !standing.has(owner);
    return [
      {
        object: `Placement ${owner} (${wordsFor({ isDeleted, isNew: !old.has(owner) })})`,
        cluster: undefined,
        kind: 'PlacementDecision',
        moved: new Set([
          ...was.filter((one) => !is.includes(one)),
          ...is.filter((one) => !was.includes(one)),
        ]),
        undo: (snapshot) => ({
          ...snapshot,
          decisions: withPagesOf(owner, before.decisions, snapshot.decisions),
        }),
      },
    ];
  });
}

function wordsFor({ isDeleted, isNew }: { readonly isDeleted: boolean; readonly isNew: boolean }): string {
  if (isDeleted) return 'deleted: its decisions no longer count';
  return isNew ? 'its first decisions count' : 'its decisions changed';
}

function withPagesOf(
  owner: string,
  from: readonly PlacementDecision[],
  to: readonly PlacementDecision[],
): readonly PlacementDecision[] {
  const isOf = (page: PlacementDecision): boolean => decisionOwner(page) === owner;
  return [...to.filter((page) => !isOf(page)), ...from.filter(isOf)];
}
