import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ResourceRef } from '../schema/resource-definition.ts';
import type { ListOptions } from './list-options.ts';
import { dependsOnVersion } from './object-selector.ts';
import { convertForResponse } from './convert-for-response.ts';
import type { RequestContext } from './request-context.ts';
import { selectableObjects } from './selectable-objects.ts';

/** Takes a few milliseconds. */
const OBJECTS_PER_TURN = 100;

/**
 * Parses the objects that selectors will read, a few in each turn of the event loop: after a start
 * all objects are text, and the first list of many thousands by label would block all requests.
 * Objects that are parsed already are skipped. Field selectors read the requested version, so
 * conversion webhooks are called here.
 * @throws StatusError 429, 500
 */
export async function prepareForSelectors(
  context: Pick<RequestContext, 'cluster' | 'waitOutside'>,
  what: {
    readonly ref: ResourceRef;
    readonly namespace: string;
    readonly options: Pick<ListOptions, 'labels' | 'fields'>;
  },
): Promise<void> {
  const { ref, options } = what;
  if (options.labels.length === 0 && options.fields.length === 0) return;
  const { store } = context.cluster;
  const namespace = ref.definition.namespaced && what.namespace !== '' ? what.namespace : undefined;
  let parsed = 0;
  for (const entry of selectableObjects(store, ref, namespace, options)) {
    if (!entry.parse()) continue;
    parsed += 1;
    if (parsed % OBJECTS_PER_TURN === 0) await nextTurn();
  }
  if (dependsOnVersion(options))
    await convertForResponse(context, store.list(ref.definition.storageKey, namespace), ref);
}
