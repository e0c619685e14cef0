import { PublishedClusters } from '../prior/published-clusters.ts';
import { sameClusters } from '../result/cluster-change.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { SnapshotDifference } from './snapshot/snapshot-difference.ts';

export interface DecisionDifference extends Omit<SnapshotDifference, 'undo'> {
  /** `namespace/name` of the placement. */
  readonly owner: string;
  /** Its earlier clusters; undefined if it had none published. */
  readonly earlier: readonly string[] | undefined;
  /** Clusters that the placement gained or lost. */
  readonly moved: ReadonlySet<string>;
}

export interface DecisionDifferenceOptions {
  /** `namespace/name` of the placement that is explained. */
  readonly own: string;
  /** `namespace/name` of each placement that exists in the later snapshot; undefined: unknown. */
  readonly existingPlacements: ReadonlySet<string> | undefined;
  /** Readers to reuse from an earlier call; absent: new ones. */
  readonly readers?: { readonly earlier: PublishedClusters; readonly later: PublishedClusters } | undefined;
}

/**
 * Other placements whose decisions differ between two snapshots. They can be causes because Balance
 * counts them.
 */
export function decisionDifferences(
  before: Snapshot,
  after: Snapshot,
  { own, existingPlacements, readers }: DecisionDifferenceOptions,
): readonly DecisionDifference[] {
  const old = (readers?.earlier ?? new PublishedClusters()).read(before.decisions).clusters;
  const present = (readers?.later ?? new PublishedClusters()).read(after.decisions).clusters;
  const owners = [...new Set([...old.keys(), ...present.keys()])].filter(
    (owner) => owner !== '' && owner !== own,
  );
  return owners.flatMap((owner) => {
    const [was = [], is = []] = [old.get(owner), present.get(owner)];
    const moved = movedBetween(was, is);
    if (moved === undefined) return [];
    const isDeleted = existingPlacements !== undefined && !existingPlacements.has(owner);
    return [
      {
        object: `Placement ${owner} (${wordsFor({ isDeleted, isNew: !old.has(owner) })})`,
        cluster: undefined,
        kind: 'PlacementDecision',
        owner,
        earlier: old.get(owner),
        moved,
      },
    ];
  });
}

interface Comparison {
  readonly was: readonly string[];
  readonly moved: ReadonlySet<string> | undefined;
}

/** The last comparison of each later list. The moves of one plan compare the same lists. */
const COMPARED = new WeakMap<readonly string[], Comparison>();

/** The names that are in exactly one of the lists; undefined if there are none. */
function movedBetween(was: readonly string[], is: readonly string[]): ReadonlySet<string> | undefined {
  if (was === is) return undefined;
  const known = COMPARED.get(is);
  if (known?.was === was) return known.moved;
  const moved = sameClusters(was, is) ? undefined : exchanged(was, is);
  COMPARED.set(is, { was, moved });
  return moved;
}

/** The names that are in exactly one of the lists. */
function exchanged(was: readonly string[], is: readonly string[]): ReadonlySet<string> {
  const [old, present] = [new Set(was), new Set(is)];
  return new Set([...was.filter((one) => !present.has(one)), ...is.filter((one) => !old.has(one))]);
}

function wordsFor({ isDeleted, isNew }: { readonly isDeleted: boolean; readonly isNew: boolean }): string {
  if (isDeleted) return 'deleted: its decisions no longer count';
  return isNew ? 'its first decisions count' : 'its decisions changed';
}
