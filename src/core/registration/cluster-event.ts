import { apiVersionOf, EVENT, MANAGED_CLUSTER } from '../model/kinds.ts';
import type { KubeObject } from '../model/object-meta.ts';
import { formatMicroTime, instantFromEpochMs } from '../model/rfc3339.ts';

/** What happened to a ManagedCluster, for people who read `kubectl get events`. */
export interface ClusterNews {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly action: string;
  readonly note: string;
}

export interface ClusterEventWriter {
  /** Who writes it, and which process of those. */
  readonly controller: string;
  readonly instance: string;
  readonly nowMs: number;
  /** Makes the name of the Event another one than those before. */
  readonly suffix: string;
}

/**
 * An Event in the namespace of the cluster. A ManagedCluster has no namespace, but the API server wants that of the Event named for
 * what it regards. Source: kubernetes/kubernetes `pkg/apis/core/validation/events.go`, legacyValidateEvent.
 */
export function clusterEvent(
  { metadata: { name, uid = '' } }: Pick<KubeObject, 'metadata'>,
  news: ClusterNews,
  { controller, instance, nowMs, suffix }: ClusterEventWriter,
): KubeObject {
  return {
    apiVersion: apiVersionOf(EVENT),
    kind: EVENT.kind,
    metadata: { name: `${name}.${suffix}`, namespace: name },
    eventTime: formatMicroTime(instantFromEpochMs(nowMs)),
    reportingController: controller,
    reportingInstance: instance,
    ...news,
    regarding: {
      apiVersion: apiVersionOf(MANAGED_CLUSTER),
      kind: MANAGED_CLUSTER.kind,
      namespace: name,
      name,
      uid,
    },
  };
}
