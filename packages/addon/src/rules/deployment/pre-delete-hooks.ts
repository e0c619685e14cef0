import { findCondition } from '@berth/kube/model/condition-list';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { groupVersionOf } from '@berth/kube/model/object-ref';
import type { ManifestWork, ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';

/** What shows that a hook is done: the value that the agent reports of it. */
const DONE: Readonly<
  Record<string, { readonly resource: string; readonly value: string; readonly is: string }>
> = {
  Job: { resource: 'jobs', value: 'JobComplete', is: 'True' },
  Pod: { resource: 'pods', value: 'PodPhase', is: 'Succeeded' },
};

/** The work that runs an add-on's hooks on a cluster. */
export function hookSpec(hooks: readonly KubeObject[]): ManifestWorkSpec {
  return {
    workload: { manifests: hooks },
    manifestConfigs: hooks.map(({ apiVersion, kind, metadata: { name, namespace = '' } }) => ({
      resourceIdentifier: {
        ...{ group: groupVersionOf(apiVersion).group, resource: DONE[kind]?.resource ?? '', name, namespace },
      },
      feedbackRules: [{ type: 'WellKnownStatus' }],
    })),
  };
}

/** Whether the agent has run all hooks to their end. */
export function hooksAreDone(work: ManifestWork | undefined, hooks: readonly KubeObject[]): boolean {
  const { conditions, resourceStatus } = work?.status ?? {};
  if (findCondition(conditions, 'Available')?.status !== 'True') return false;
  return hooks.every(({ kind, metadata }) => {
    const done = DONE[kind];
    const reported = resourceStatus?.manifests?.find(
      ({ resourceMeta }) =>
        resourceMeta.kind === kind &&
        resourceMeta.name === metadata.name &&
        (resourceMeta.namespace ?? '') === (metadata.namespace ?? ''),
    );
    const value = reported?.statusFeedback?.values?.find(({ name }) => name === done?.value);
    return done !== undefined && value?.fieldValue.string === done.is;
  });
}

export function hookCondition(work: string, isDone: boolean): Condition {
  return {
    type: 'HookManifestCompleted',
    status: isDone ? 'True' : 'False',
    reason: isDone ? 'HookManifestIsCompleted' : 'HookManifestIsNotCompleted',
    message: `hook manifestWork ${work} is ${isDone ? '' : 'not '}completed.`,
  };
}
