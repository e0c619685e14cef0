import { lowerBound } from '@berth/runtime/lists/lower-bound';
import { type ApiResponse, jsonResponse } from '../wire/api-response.ts';
import type { JsonObject } from '../json/json-value.ts';
import { apiVersionOf, type ResourceRef } from '../schema/resource-definition.ts';
import { StatusError } from '../wire/status-error.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { renderTable, partialMetadataList } from '../table/table.ts';
import { boundedWork } from '../wire/status-errors.ts';
import { chargeWork } from '../json/work-budget.ts';
import type { Cluster } from '../request/cluster.ts';
import {
  selectorOf,
  selectableObjects,
  convertForResponse,
  prepareForSelectors,
} from '../request/select-objects.ts';
import {
  type ListOptions,
  checkNotFuture,
  parseListOptions,
  decodeContinue,
  encodeContinue,
} from '../request/list-options.ts';
import { entryJson, objectsInVersion, includeObjectOf } from '../request/representation.ts';
import { negotiatedForm, type ResourceContext } from '../request/request-context.ts';

/** Longer lists are streamed in chunks, and other requests run between the chunks. */
const OBJECTS_IN_ONE_BODY = 250;
const OBJECTS_PER_CHUNK = 100;
/** The same limit by size, for lists of a few large objects. */
const CHARACTERS_IN_ONE_BODY = 1024 * 1024;
const CHARACTERS_PER_CHUNK = 256 * 1024;
/** Maximum time for one chunk: after a start the objects must be parsed, too. */
const CHUNK_MS = 4;
const OBJECTS_PER_CLOCK_CHECK = 25;
const WORDS_PER_STEP = 16;

export interface ListPart {
  readonly entries: readonly StoredObject[];
  readonly rv: number;
  readonly continueToken: string;
  readonly remaining: number | undefined;
}

export async function listObjects(context: ResourceContext, ref: ResourceRef): Promise<ApiResponse> {
  const { cluster, info, query } = context;
  const options = parseListOptions(query, ref);
  const form = negotiatedForm(context);
  await prepareForSelectors(context, { ref, namespace: info.namespace, options });
  const part = boundedWork(() => selectPart(cluster, { ref, namespace: info.namespace, options }));
  await convertForResponse(context, part.entries, ref);
  await cluster.store.durable(Math.min(part.rv, cluster.store.rv));
  const metadata = listMeta(part);
  if (form.as === 'table') {
    const items = objectsInVersion(part.entries, ref);
    const includeObject = includeObjectOf(query);
    const now = cluster.clock.now();
    const { apiVersion } = form;
    return jsonResponse(200, {
      ...renderTable(ref, items, { listMeta: metadata, includeObject, now, withColumns: true }),
      apiVersion,
    });
  }
  if (form.as === 'partial')
    return jsonResponse(200, partialMetadataList(objectsInVersion(part.entries, ref), metadata));
  const { listKind, builtIn } = ref.definition;
  // Lists of custom resources have an empty `continue`.
  const shown = builtIn ? metadata : { continue: '', ...metadata };
  const head = JSON.stringify({ kind: listKind, apiVersion: apiVersionOf(ref), metadata: shown });
  const chunks = listChunks(head, part.entries, (entry) => entryJson(entry, ref, form));
  const firstPart =
    part.entries.length <= OBJECTS_IN_ONE_BODY ? firstChunks(chunks) : { texts: [], done: false };
  if (firstPart.done) return jsonResponse(200, firstPart.texts.join(''));
  return {
    kind: 'chunks',
    code: 200,
    contentType: 'application/json',
    chunks: resume(firstPart.texts, chunks),
  };
}

/** The first chunks of a list, as many as fit into one body. */
function firstChunks(chunks: Iterator<string>): { readonly texts: string[]; readonly done: boolean } {
  const texts: string[] = [];
  for (let characters = 0; characters < CHARACTERS_IN_ONE_BODY; ) {
    const next = chunks.next();
    if (next.done === true) return { texts, done: true };
    texts.push(next.value);
    characters += next.value.length;
  }
  return { texts, done: false };
}

function* resume(texts: readonly string[], rest: Iterable<string>): Generator<string> {
  yield* texts;
  yield* rest;
}

function* listChunks(
  head: string,
  entries: readonly StoredObject[],
  render: (entry: StoredObject) => string,
): Generator<string> {
  let text = `${head.slice(0, -1)},"items":[`;
  let rendered: string[] = [];
  let characters = 0;
  let startedMs = performance.now();
  for (const [index, entry] of entries.entries()) {
    const shown = render(entry);
    rendered.push(shown);
    characters += shown.length;
    const late = rendered.length % OBJECTS_PER_CLOCK_CHECK === 0 && performance.now() - startedMs > CHUNK_MS;
    const full = rendered.length >= OBJECTS_PER_CHUNK || characters >= CHARACTERS_PER_CHUNK;
    if (!late && !full && index < entries.length - 1) continue;
    yield `${text}${rendered.join(',')}`;
    text = ',';
    rendered = [];
    characters = 0;
    startedMs = performance.now();
  }
  yield `${text === ',' ? '' : text}]}\n`;
}

function listMeta(part: ListPart): JsonObject {
  return {
    resourceVersion: String(part.rv),
    ...(part.continueToken !== '' && { continue: part.continueToken }),
    ...(part.remaining !== undefined && { remainingItemCount: part.remaining }),
  };
}

/**
 * The objects that a list shows, in key order, at one version.
 * @throws StatusError 400, 410, 504
 */
export function selectPart(
  cluster: Cluster,
  what: { readonly ref: ResourceRef; readonly namespace: string; readonly options: ListOptions },
): ListPart {
  const { ref, options } = what;
  const namespace = ref.definition.namespaced && what.namespace !== '' ? what.namespace : undefined;
  const source = readSource(cluster, { ref, namespace, options });
  const matches = selectorOf(ref, options);
  const selective = options.labels.length > 0 || options.fields.length > 0;
  const { limit } = options;
  const steps = stepsPerObject(options);
  const entries: StoredObject[] = [];
  let at = source.start;
  for (; at < source.entries.length && (limit === 0 || entries.length < limit); at += 1) {
    const entry = source.entries[at] as StoredObject;
    chargeWork(steps);
    if (matches(entry)) entries.push(entry);
  }
  const last = entries.at(-1);
  const more = at < source.entries.length && last !== undefined;
  if (!more) return { entries, rv: source.rv, continueToken: '', remaining: undefined };
  cluster.snapshots.keep(snapshotKey(ref.definition.storageKey, namespace, source.rv), source.entries);
  return {
    entries,
    rv: source.rv,
    continueToken: encodeContinue({ rv: source.rv, namespace: last.namespace, name: last.name }),
    remaining: selective ? undefined : source.entries.length - at,
  };
}

/** The cost of a selector for each object. A URL can contain thousands of requirements. */
function stepsPerObject({ labels, fields }: ListOptions): number {
  const words = labels.reduce((sum, { values }) => sum + 1 + values.length, fields.length);
  return Math.floor(words / WORDS_PER_STEP);
}

interface ListSource {
  readonly entries: readonly StoredObject[];
  readonly start: number;
  readonly rv: number;
}

function readSource(
  cluster: Cluster,
  what: { readonly ref: ResourceRef; readonly namespace: string | undefined; readonly options: ListOptions },
): ListSource {
  const { ref, namespace, options } = what;
  const storage = ref.definition.storageKey;
  const { store } = cluster;
  checkNotFuture(options, store.rv);
  if (options.continueToken === '') {
    if (options.resourceVersionMatch === 'Exact' && options.resourceVersion !== store.rv)
      return {
        ...exactSource(cluster, snapshotKey(storage, namespace, options.resourceVersion ?? 0), options),
        start: 0,
      };
    return { entries: selectableObjects(store, ref, namespace, options), start: 0, rv: store.rv };
  }
  const point = decodeContinue(options.continueToken);
  const entries =
    point.rv < 0
      ? store.list(storage, namespace)
      : cluster.snapshots.find(snapshotKey(storage, namespace, point.rv));
  if (entries === undefined) throw expiredContinue(encodeContinue({ ...point, rv: -1 }));
  return { entries, start: indexAfter(entries, point), rv: point.rv < 0 ? store.rv : point.rv };
}

function exactSource(
  cluster: Cluster,
  key: string,
  options: ListOptions,
): { entries: readonly StoredObject[]; rv: number } {
  const entries = cluster.snapshots.find(key);
  const rv = options.resourceVersion ?? 0;
  if (entries !== undefined) return { entries, rv };
  throw new StatusError(410, 'Expired', `The resourceVersion for the provided list is too old.`);
}

function snapshotKey(storage: string, namespace: string | undefined, rv: number): string {
  return `${storage}|${namespace ?? '*'}|${String(rv)}`;
}

/** Index of the first entry behind `point` in key order. */
function indexAfter(
  entries: readonly StoredObject[],
  point: { readonly namespace: string; readonly name: string },
): number {
  const prefix = `${point.namespace}/`;
  return lowerBound(entries.length, (at) => {
    const entry = entries[at] as StoredObject;
    const entryPrefix = `${entry.namespace}/`;
    return entryPrefix < prefix || (entryPrefix === prefix && entry.name <= point.name);
  });
}

class ExpiredContinueError extends StatusError {
  readonly #token: string;

  constructor(token: string) {
    super(
      410,
      'Expired',
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    );
    this.#token = token;
  }

  override toStatus(): JsonObject {
    return { ...super.toStatus(), metadata: { continue: this.#token } };
  }
}

function expiredContinue(token: string): StatusError {
  return new ExpiredContinueError(token);
}
