import { NAMESPACE } from '@berth/kube/model/kinds';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { sleep } from '@berth/runtime/loop/sleep';

/** If more namespaces are missing, they are found when their objects are tried again. */
const MAX_WATCHES = 10;
/** The pause before an existing namespace is reported, because it was missing just before. */
const PAUSE_MS = 1_000;

/**
 * Resolves when one of the namespaces exists on the hub, or when the signal aborts. If namespaces
 * cannot be read, only the signal ends the wait.
 */
export async function waitForNamespace(
  { api, clock }: { readonly api: KubeApi; readonly clock: Clock },
  names: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const arrivals = [...new Set(names)].slice(0, MAX_WATCHES).map(async (name) => {
    const fieldSelector = `metadata.name=${name}`;
    const { items, resourceVersion } = await api.list(NAMESPACE, { fieldSelector });
    if (items.length > 0) return sleep(clock, PAUSE_MS, signal);
    for await (const { type } of api.watch(NAMESPACE, { fieldSelector, resourceVersion, signal }))
      if (type === 'added' || type === 'modified') return undefined;
    throw new Error('the watch ended');
  });
  await Promise.any(arrivals).catch(() => aborted(signal));
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
