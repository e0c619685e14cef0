import { InputError } from '@berth/runtime/errors';
import { applySnapshotChanges } from '@berth/placement/explain/snapshot/apply-snapshot-change';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { changesOfStep } from '../../placement-test/changes-of-step.ts';
import type { GivenStep } from '../../placement-test/placement-test.ts';
import { claimOf, labelOf } from '@berth/placement/snapshot/cluster-index';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';

/** One assumption about clusters. */
export interface WhatIf {
  /** As the user gave it: `--drain c1`. */
  readonly text: string;
  readonly assumption: Assumption;
}

export type Assumption =
  | { readonly kind: 'add-cluster'; readonly cluster: ManagedCluster }
  | {
      readonly kind: 'change';
      /** The clusters of the assumption. */
      readonly target: ClusterTarget;
      /**
       * Applies the assumption.
       * @param clusters their names, at least one
       */
      readonly stepFor: (clusters: readonly string[]) => GivenStep;
    };

/** A cluster by its name, or all clusters with this label or claim. */
export type ClusterTarget =
  | { readonly name: string }
  | { readonly attribute: string; readonly value: string };

/** Steps about clusters need no placement. */
const NO_PLACEMENT = { namespace: '', name: '' };

/**
 * Applies the assumptions to the snapshot in order: a later one sees the result of the earlier ones.
 * @throws InputError if an assumption is about a cluster that does not exist
 */
export function applyWhatIf(snapshot: Snapshot, assumptions: readonly WhatIf[]): Snapshot {
  return assumptions.reduce(applyOne, snapshot);
}

function applyOne(snapshot: Snapshot, { text, assumption }: WhatIf): Snapshot {
  const fail = (problem: string): InputError =>
    new InputError(problem, { code: 'plan.what-if', subject: text });
  if (assumption.kind === 'add-cluster') {
    const { cluster } = assumption;
    if (snapshot.clusters.some(({ metadata }) => metadata.name === cluster.metadata.name))
      throw fail(`there is a ManagedCluster ${cluster.metadata.name} already`);
    return applySnapshotChanges(snapshot, [{ kind: 'add-cluster', cluster }]);
  }
  const clusters = clustersOf(snapshot, assumption.target);
  if (clusters.length === 0) throw fail('no cluster has this name, label or claim');
  const changes = changesOfStep(assumption.stepFor(clusters), snapshot, NO_PLACEMENT);
  if (!changes.ok) throw fail(changes.error);
  return applySnapshotChanges(snapshot, changes.changes);
}

function clustersOf({ clusters }: Snapshot, target: ClusterTarget): readonly string[] {
  const isSelected = (cluster: ManagedCluster): boolean =>
    'name' in target
      ? cluster.metadata.name === target.name
      : (labelOf(cluster, target.attribute) ?? claimOf(cluster, target.attribute)) === target.value;
  return clusters.filter(isSelected).map(({ metadata }) => metadata.name);
}
