import type { ManifestCondition, ManifestWork, ManifestWorkStatus } from '../../core/model/manifest-work.ts';
import { statusAfterLook, wasApplied } from '../../core/work/observed-status.ts';
import type { AgentState } from './agent-state.ts';
import type { ManifestResult } from './apply/apply-manifests.ts';
import type { WatchedObject } from './live-objects.ts';
import { lookAtObjects } from './look-at-objects.ts';
import { kindOfResource } from './release-resources.ts';

/**
 * The status with Available, feedback and rule conditions as the cluster shows them now.
 * @param justApplied results of this pass, by which objects are known already
 */
export async function lookAtWork(
  state: AgentState,
  work: ManifestWork,
  status: ManifestWorkStatus,
  justApplied: readonly ManifestResult[] = [],
): Promise<ManifestWorkStatus> {
  if (!wasApplied(status)) return status;
  const entries = status.resourceStatus?.manifests ?? [];
  state.live.setInterest(work.metadata.name, watchedObjects(entries));
  // What the server answered a moment ago need not be read again while the watch is not up.
  const known = new Map(
    justApplied.flatMap(({ task, outcome }) =>
      outcome.kind === 'applied' && outcome.object !== undefined
        ? [[task.meta.ordinal, outcome.object] as const]
        : [],
    ),
  );
  const { settings, live } = state;
  const observations = await lookAtObjects({ settings, live, spec: work.spec ?? {}, entries, known });
  return statusAfterLook(status, observations, {
    generation: work.metadata.generation ?? 0,
    now: state.now(),
  });
}

export function watchedObjects(entries: readonly ManifestCondition[]): readonly WatchedObject[] {
  return entries.flatMap(({ resourceMeta }) => {
    const { group = '', version = '', resource = '', name = '', namespace = '' } = resourceMeta;
    if (version === '' || resource === '' || name === '') return [];
    return [
      { kind: kindOfResource({ group, version, resource, name, namespace }), key: { namespace, name } },
    ];
  });
}
