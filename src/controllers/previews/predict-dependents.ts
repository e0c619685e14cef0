import {
  apiVersionOf,
  CLUSTER_MANAGEMENT_ADDON,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
  MANIFEST_WORK_REPLICA_SET,
} from '@berth/kube/model/kinds';
import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { type ManifestWorkReplicaSet, REPLICA_SET_LABEL } from '@berth/ocm/kind/manifest-work-replica-set';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import { decisionOwner } from '@berth/placement/prior/published-clusters';
import { SideDecider } from '../../core/preview/sides/side-decider.ts';
import { addOnPlacements } from '../../core/preview/workload-plans.ts';
import { withAssumedSets } from '../../core/registration/cluster-sets.ts';
import { ObjectsByKind } from '../../core/sources/source-references.ts';
import { snapshotOfObjects } from '../../core/sources/snapshot-of-objects.ts';
import type { Dependents } from '../../core/sync/compute-deletion-losses.ts';
import { childWorkName, ownerLabelValue } from '../../core/work/replica-set/replica-set-child.ts';

/**
 * The dependents of the objects of a fleet on a hub that has just these objects. Its decisions are the recorded ones,
 * or else those that the fleet decides by itself. Each replica set has a work on each cluster of its placements, and
 * each add-on is on each cluster of its own.
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
  const addons = [
    ...fleet
      .ofKind<KubeObject>(MANAGED_CLUSTER_ADDON)
      .map(({ object: { metadata } }) => addonOn(metadata.namespace, metadata)),
    ...fleet
      .ofKind<KubeObject>(CLUSTER_MANAGEMENT_ADDON)
      .flatMap(({ object }) => addonsOf(object, decisions)),
  ];
  return { ...snapshot, decisions, replicaSets, works: [...own, ...made], addons };
}

function addonsOf(addOn: KubeObject, decisions: Dependents['decisions']): Dependents['addons'] {
  const placements = addOnPlacements(addOn);
  const pages = decisions.filter((page) => placements.includes(decisionOwner(page) ?? ''));
  const clusters = pages.flatMap(({ status }) => status?.decisions ?? []);
  return [...new Set(clusters.map(({ clusterName }) => clusterName))].map((name) =>
    addonOn(name, addOn.metadata),
  );
}

/** As the manager of add-ons makes it. */
function addonOn(
  namespace: string | undefined,
  { name }: Pick<ObjectMeta, 'name'>,
): Dependents['addons'][number] {
  const { kind } = CLUSTER_MANAGEMENT_ADDON;
  const owner = { apiVersion: apiVersionOf(CLUSTER_MANAGEMENT_ADDON), kind, name, uid: '' };
  return { metadata: { namespace, name, ownerReferences: [owner] } };
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
