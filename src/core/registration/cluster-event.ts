import { eventAbout, type EventContent, type EventWriter } from '../model/kind/event.ts';
import { MANAGED_CLUSTER } from '../model/kinds.ts';
import type { KubeObject } from '../model/object-meta.ts';

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
