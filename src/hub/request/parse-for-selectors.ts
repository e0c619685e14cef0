import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ResourceRef } from '../schema/resource-definition.ts';
import type { Cluster } from './cluster.ts';
import type { ListOptions } from './list-options.ts';

/** Takes a few milliseconds. */
const OBJECTS_PER_TURN = 100;

/**
 * Parses the objects that selectors are about to look at, a few in each turn of the loop: after a start all objects are text, and the
 * first list of many thousands by label would otherwise keep everybody waiting. Nothing to do for objects that were looked at before.
 */
export async function parseForSelectors(
  cluster: Cluster,
  what: {
    readonly ref: ResourceRef;
    readonly namespace: string;
    readonly options: Pick<ListOptions, 'labels' | 'fields'>;
  },
): Promise<void> {
  const { ref, options } = what;
  if (options.labels.length === 0 && options.fields.length === 0) return;
  const namespace = ref.definition.namespaced && what.namespace !== '' ? what.namespace : undefined;
  let parsed = 0;
  for (const entry of cluster.store.list(ref.definition.storageKey, namespace)) {
    if (!entry.parse()) continue;
    parsed += 1;
    if (parsed % OBJECTS_PER_TURN === 0) await nextTurn();
  }
}
