import { apiVersionOf, EVENT, type KindInfo } from './kinds.ts';
import type { KubeObject } from './object-meta.ts';
import { formatMicroTime, instantFromEpochMs } from './rfc3339.ts';

/** What happened to an object, for people who read `kubectl get events`. */
export interface EventContent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly action: string;
  /** At most 1,024 bytes. */
  readonly note: string;
}

export interface EventWriter {
  /** The reporting controller, and its instance. */
  readonly controller: string;
  readonly instance: string;
  readonly nowMs: number;
  /** Makes the name of the Event unique. */
  readonly suffix: string;
}

/** An object that an Event names. */
export interface EventSubject {
  readonly kind: KindInfo;
  /** '' has none: kubectl describe shows an Event of a cluster-scoped object only if `regarding` has no namespace. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** An events.k8s.io/v1 Event in the namespace of what it regards, or in `default` if that has none. */
export function eventAbout(
  regarding: EventSubject,
  { related, ...content }: EventContent & { readonly related?: EventSubject | undefined },
  { controller, instance, nowMs, suffix }: EventWriter,
): KubeObject {
  return {
    apiVersion: apiVersionOf(EVENT),
    kind: EVENT.kind,
    metadata: { name: `${regarding.name}.${suffix}`, namespace: regarding.namespace || 'default' },
    eventTime: formatMicroTime(instantFromEpochMs(nowMs)),
    reportingController: controller,
    reportingInstance: instance,
    ...content,
    regarding: referenceTo(regarding),
    ...(related === undefined ? {} : { related: referenceTo(related) }),
  };
}

function referenceTo({ kind, namespace, name, uid }: EventSubject) {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, ...(namespace && { namespace }), name, uid };
}
