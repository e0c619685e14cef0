import { type ManifestWorkReplicaSet, REPLICA_SET_LABEL } from '@berth/ocm/kind/manifest-work-replica-set';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET } from '@berth/kube/model/kinds';
import type { SourceObject } from '@berth/kube/model/source-object';
import { ObjectsByKind } from '../../core/sources/objects-by-kind.ts';
import { withAssumedSets } from '../../core/registration/sets/assumed-sets.ts';
import { snapshotOfObjects } from '../../core/sources/snapshot-of-objects.ts';
import type { Dependents } from '../../core/sync/compute-deletion-losses.ts';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import { childWorkName, ownerLabelValue } from '../../core/work/replica-set/replica-set-names.ts';
import { SideDecider } from '../../core/preview/sides/side-decider.ts';

/**
 * The dependents of the objects of a fleet on a hub that holds just these objects. Its decisions are the recorded ones,
 * or else those that the fleet decides by itself. Each replica set has a work on each cluster of its placements.
 */
export function predictDependents(objects: readonly SourceObject[], now: string): Dependents {
  const snapshot = withAssumedSets(snapshotOfObjects(objects, { now }));
  const decisions = new SideDecider().publishedBefore(snapshot);
  const fleet = new ObjectsByKind(objects);
  const replicaSets = fleet
    .ofKind<ManifestWorkReplicaSet>(MANIFEST_WORK_REPLICA_SET)
    .map(({ object }) => object);
  const own = fleet.ofKind<ManifestWork>(MANIFEST_WORK).map(({ object }) => object);
  const made = replicaSets.flatMap((replicaSet) => worksOf(replicaSet, decisions));
  return { ...snapshot, decisions, replicaSets, works: [...own, ...made] };
}

function worksOf(
  { metadata, spec }: ManifestWorkReplicaSet,
  decisions: Dependents['decisions'],
): Dependents['works'] {
  return spec.placementRefs.flatMap(({ name }) =>
    decisions
      .filter((page) => page.metadata.namespace === metadata.namespace)
      .filter((page) => page.metadata.labels?.[PLACEMENT_LABEL] === name)
      .flatMap(({ status }) => status?.decisions ?? [])
      .map(({ clusterName }) => ({
        metadata: {
          namespace: clusterName,
          name: childWorkName(metadata, name, 0),
          labels: { [REPLICA_SET_LABEL]: ownerLabelValue(metadata) },
        },
      })),
  );
}
