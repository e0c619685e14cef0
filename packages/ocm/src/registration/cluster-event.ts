import { eventAbout, type EventContent, type EventWriter } from '@berth/kube/model/event';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';

/**
 * An Event in the namespace of the cluster. A ManagedCluster has no namespace, but the API server requires that
 * `regarding` names the namespace of the Event. Source: kubernetes/kubernetes `pkg/apis/core/validation/events.go`,
 * legacyValidateEvent.
 */
export function clusterEvent(
  { metadata: { name, uid = '' } }: Pick<KubeObject, 'metadata'>,
  content: EventContent,
  writer: EventWriter,
): KubeObject {
  return eventAbout({ kind: MANAGED_CLUSTER, namespace: name, name, uid }, content, writer);
}
