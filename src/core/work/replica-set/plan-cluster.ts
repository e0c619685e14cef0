import type { ManifestWork, ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import { FIRST_BRIDGE_PART, planHandover } from './plan-handover.ts';
import { childLabels, type ClusterWorks, renderChildWork } from './replica-set-child.ts';
import type { ReplicaSetInput, WorkAction } from './replica-set-plan.ts';

interface ClusterPlan {
  readonly actions: readonly WorkAction[];
  readonly error?: string;
}

/**
 * Plans the writes for the wanted content of a cluster. If a handover must wait for the cluster, a
 * later pass continues.
 */
export function planCluster(
  input: ReplicaSetInput,
  placement: string,
  cluster: string,
  existing: readonly ClusterWorks[],
): ClusterPlan {
  const wanted = input.specsFor(cluster);
  if (!wanted.ok) return { actions: [], error: wanted.error };
  const known = existing.find((group) => group.cluster === cluster)?.works ?? new Map<number, ManifestWork>();
  const write = (spec: ManifestWorkSpec, part: number): WorkAction => {
    const current = known.get(part);
    if (current === undefined)
      return {
        type: 'create',
        work: renderChildWork(input.replicaSet, { cluster, placement, part }, spec, input.now),
      };
    return { type: 'update', current, labels: childLabels(input.replicaSet, placement, part), spec };
  };
  const { build, ready, remove } = planHandover(known, wanted.specs);
  if (!ready) return { actions: [...build].map(([part, spec]) => write(spec, part)) };
  const surplus = [...known].filter(([part]) => part >= wanted.specs.length && part < FIRST_BRIDGE_PART);
  return {
    actions: [
      ...wanted.specs.map(write),
      ...[...surplus.map(([, work]) => work), ...remove].map(
        (current): WorkAction => ({ type: 'delete', current, reason: 'part is not needed any more' }),
      ),
    ],
  };
}

/** Whether there is a bridge work: the change of the cluster is in progress, and continues. */
export function isHandingOver({ works }: ClusterWorks): boolean {
  for (const part of works.keys()) if (part >= FIRST_BRIDGE_PART) return true;
  return false;
}
