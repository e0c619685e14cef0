import { EVENT } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatMicroTime, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { InputError } from '@berth/runtime/errors';

/** An Event lives an hour after its last change. One that says what lasts is renewed twice in that time. */
export const RENEWAL_MS = 1_800_000;

/**
 * Renews the Event of something that lasts, as Kubernetes does: the Event counts how often it was seen, and when last. What is
 * counted follows from its age, so that a restart changes nothing. Nothing is written before it lasts for `RENEWAL_MS`.
 * @param event as it was written first; one that is gone is written again
 */
export async function renewEvent(
  api: Pick<KubeApi, 'create' | 'mergePatch'>,
  event: KubeObject,
  { sinceMs, nowMs }: { readonly sinceMs: number; readonly nowMs: number },
): Promise<void> {
  const count = Math.floor((nowMs - sinceMs) / RENEWAL_MS) + 1;
  // What is new was just reported, and a series has at least two.
  if (count < 2) return;
  const series = { count, lastObservedTime: formatMicroTime(instantFromEpochMs(nowMs)) };
  const { namespace = '', name } = event.metadata;
  try {
    await api.mergePatch(EVENT, { namespace, name }, { series }, { metadataOnly: true });
  } catch (error) {
    if (!(error instanceof InputError) || error.code !== 'kube.notfound') throw error;
    await api.create(EVENT, { ...event, series }, { metadataOnly: true });
  }
}
