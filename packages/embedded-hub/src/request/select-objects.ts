import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { toVersion, awaitsConversion } from '../scheme/to-version.ts';
import type { ObjectStore } from '../store/object-store.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { COMMON_FIELDS, matchesFields, matchesLabels, selectedName } from './selectors.ts';
import type { ListOptions } from './list-options.ts';
import type { RequestContext } from './request-context.ts';

/** Takes a few milliseconds. */
const OBJECTS_PER_TURN = 100;

/**
 * Label and field selectors as one test of stored objects; field paths refer to the requested
 * version.
 */
export function selectorOf(
  ref: ResourceRef,
  options: Pick<ListOptions, 'labels' | 'fields'>,
): (entry: StoredObject) => boolean {
  const { labels, fields } = options;
  if (labels.length === 0 && fields.length === 0) return () => true;
  if (fields.length === 0) return ({ object }) => matchesLabels(labels, object);
  const inRequestVersion = dependsOnVersion(options) ? toVersion : (object: JsonObject): JsonObject => object;
  return ({ object }) =>
    matchesLabels(labels, object) && matchesFields(fields, inRequestVersion(object, ref));
}

/** Whether the result depends on the version of the objects; names are the same in all versions. */
export function dependsOnVersion({ fields }: Pick<ListOptions, 'fields'>): boolean {
  return fields.some(({ path }) => !COMMON_FIELDS.includes(path));
}

/**
 * The stored objects that a list reads, in key order, before its selectors are applied. For a
 * selector by name within one namespace, or of a kind without namespaces, this is one object, as in
 * an API server: clients read one object in this way when they need its version as a list.
 * Source: kubernetes/apiserver `pkg/registry/generic/registry/store.go`, ListPredicate.
 * @param namespace undefined: all namespaces
 */
export function selectableObjects(
  store: Pick<ObjectStore, 'get' | 'list'>,
  { definition }: ResourceRef,
  namespace: string | undefined,
  { fields }: Pick<ListOptions, 'fields'>,
): StoredObject[] {
  const storage = definition.storageKey;
  const name = selectedName(fields);
  if (name === '' || (definition.namespaced && namespace === undefined))
    return store.list(storage, namespace);
  const one = store.get({ storage, namespace: namespace ?? '', name });
  return one === undefined ? [] : [one];
}

/**
 * Converts objects that a webhook must convert to `ref`, and frees the seat of the request
 * meanwhile.
 * @throws StatusError 429, 500
 */
export async function convertForResponse(
  context: Pick<RequestContext, 'cluster' | 'waitOutside'>,
  entries: readonly StoredObject[],
  ref: ResourceRef,
): Promise<void> {
  if (ref.definition.conversion?.kind !== 'webhook') return;
  if (!entries.some(({ object }) => awaitsConversion(object, ref))) return;
  await context.waitOutside(() => context.cluster.conversions.prepare(entries, ref));
}

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
