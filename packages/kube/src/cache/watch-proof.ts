import type { KindInfo } from '../model/kinds.ts';
import type { KubeObject } from '../model/object-meta.ts';
import { namespacedName } from '../model/object-ref.ts';
import { isNewerResourceVersion } from '../model/resource-version.ts';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi, ListOptions } from '../model/kube-api.ts';
import { sleep } from '@berth/runtime/loop/sleep';
import type { ObjectStore } from './object-store.ts';

export interface WatchProofOptions extends ListOptions {
  readonly api: Pick<KubeApi, 'list'>;
  readonly kind: KindInfo;
  readonly clock: Clock;
  readonly store: ObjectStore;
  /** The version that the watch has reached. */
  readonly reached: () => string | undefined;
}

/** The server is asked after each of these pauses. Meanwhile the watch may show what happened while it was interrupted. */
const PAUSES_MS = [1_000, 2_000, 3_000];

/** The name of no object: a list of it shows only the newest version. */
const NO_NAME = 'no-such-object';

/**
 * Whether the server is still at the position from which a watch was resumed. A kube-apiserver accepts a version
 * without an error even if its etcd does not have it, or has another state for it since a restore. The watch then shows
 * nothing of what the restore changed. Therefore the newest object of the store is compared with the server. If it has
 * an older version, is gone or was replaced, and the watch does not show that, the history is another one.
 *
 * Rejected: to list the whole kind after each interruption of a watch. Each restart of an API server would cost a
 * complete list.
 * @returns false for another history; true also when the signal aborts
 * @throws TransientError when the server does not answer
 */
export async function isWatchInHistory(options: WatchProofOptions, signal: AbortSignal): Promise<boolean> {
  const { api, kind, clock, store, reached, namespace, labelSelector, fieldSelector } = options;
  const newest = newestOf(store.list());
  const isStillShown = (): boolean =>
    newest === undefined || sameState(store.get(namespacedName(newest.metadata)), newest);
  for (const pauseMs of PAUSES_MS) {
    await sleep(clock, pauseMs, signal);
    if (signal.aborted) return true;
    const before = reached();
    const byName = `metadata.name=${newest?.metadata.name ?? NO_NAME}`;
    const { items, resourceVersion } = await api.list(kind, {
      namespace: newest?.metadata.namespace ?? namespace,
      labelSelector,
      fieldSelector: fieldSelector === undefined ? byName : `${fieldSelector},${byName}`,
    });
    if (before !== undefined && isNewerResourceVersion(before, resourceVersion)) return false;
    // The watch has shown the change of the object, so it follows the history of the server.
    if (signal.aborted || newest === undefined || !isStillShown() || sameState(items[0], newest)) return true;
  }
  return false;
}

/**
 * Whether a list shows a state before the position of a watch: an object has an older version, or an object that the
 * watch must have shown is unknown. After a restore, a server whose watches do not reach back to the position answers
 * 410 and so causes such a list.
 */
export function isListOlderThanWatch(
  store: Pick<ObjectStore, 'get'>,
  items: readonly KubeObject[],
  reached: string | undefined,
): boolean {
  if (reached === undefined) return false;
  const isSeen = (object: KubeObject): boolean => !isNewerResourceVersion(versionOf(object), reached);
  return items.some((item) => {
    const known = store.get(namespacedName(item.metadata));
    if (known?.metadata.uid !== item.metadata.uid) return isSeen(item);
    // Objects that the process itself put into the store may be newer than the list.
    return known !== undefined && isSeen(known) && isNewerResourceVersion(versionOf(known), versionOf(item));
  });
}

function newestOf(objects: readonly KubeObject[]): KubeObject | undefined {
  let newest: KubeObject | undefined;
  for (const object of objects)
    if (newest === undefined || isNewerResourceVersion(versionOf(object), versionOf(newest))) newest = object;
  return newest;
}

function sameState(a: KubeObject | undefined, b: KubeObject): boolean {
  return a?.metadata.uid === b.metadata.uid && versionOf(a) === versionOf(b);
}

function versionOf(object: KubeObject | undefined): string {
  return object?.metadata.resourceVersion ?? '';
}
