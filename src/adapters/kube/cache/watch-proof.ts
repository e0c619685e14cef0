import type { KindInfo } from '../../../core/model/kinds.ts';
import type { KubeObject } from '../../../core/model/object-meta.ts';
import { namespacedName } from '../../../core/model/object-ref.ts';
import { isNewerResourceVersion } from '../../../core/model/resource-version.ts';
import type { Clock, KubeApi, ListOptions } from '../../../core/ports.ts';
import { sleep } from '../../../runtime/sleep.ts';
import type { ObjectStore } from './object-store.ts';

export interface WatchProofOptions extends ListOptions {
  readonly api: Pick<KubeApi, 'list'>;
  readonly kind: KindInfo;
  readonly clock: Clock;
  readonly store: ObjectStore;
  /** How far the watch has got. */
  readonly reached: () => string | undefined;
}

/** After each of these the server is asked; meanwhile the watch may show what happened while it was cut. */
const PAUSES_MS = [1_000, 2_000, 3_000];

/** Of no object: such a list shows the newest version alone. */
const NO_NAME = 'no-such-object';

/**
 * Whether the server still is where a watch that was opened again believes it to be. A kube-apiserver takes a version that its etcd does
 * not have, or has for another state since a restore, without an error: the watch shows nothing of what the restore changed. So the
 * newest object of the store is compared with the server: where it went back, is gone, or is another one, and the watch does not
 * show that either, the history is another one.
 *
 * Rejected: to list all of the kind whenever a watch was cut. Each restart of an API server would cost a list of everything.
 * @returns false: another history; also true when the signal aborts
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
    // The watch has shown what became of it, so it follows the history that the server has.
    if (signal.aborted || newest === undefined || !isStillShown() || sameState(items[0], newest)) return true;
  }
  return false;
}

/**
 * Whether a list shows a state from before the position that a watch had reached: an object went back, or one that the watch must have
 * shown is not known. A server whose watches do not reach back to the position after a restore asks for such a list (410).
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
    // What the process itself put into the store may be ahead of the list.
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
