import { randomInt } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '@berth/runtime/clock/clock';
import { errorText } from '@berth/runtime/errors';
import type { Cluster } from '../request/cluster.ts';
import { selectedName } from '../request/selectors.ts';
import { checkNotFuture, type ListOptions, parseListOptions } from '../request/list-options.ts';
import {
  dependsOnVersion,
  selectorOf,
  selectableObjects,
  prepareForSelectors,
} from '../request/select-objects.ts';
import { includeObjectOf } from '../request/representation.ts';
import { negotiatedForm, type ResourceContext } from '../request/request-context.ts';
import { apiVersionOf, type ResourceRef } from '../schema/resource-definition.ts';
import type { ObjectStore } from '../store/object-store.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { StoreEvent, SubscriptionScope } from '../store/subscriptions.ts';
import type { ApiResponse, StreamSink } from '../wire/api-response.ts';
import { StatusError } from '../wire/status-error.ts';
import { expired, internalError } from '../wire/status-errors.ts';
import { type WatchView, bookmarkLine, eventLine, objectLine } from './watch-lines.ts';

/**
 * `?watch=true`: a stream of changes.
 * @throws StatusError 400, 422, 504; an expired version is reported in the stream
 */
export async function watchObjects(context: ResourceContext, ref: ResourceRef): Promise<ApiResponse> {
  const { cluster, query, info } = context;
  const options = parseListOptions(query, ref);
  const view = viewOf(context, ref, options);
  // kube-apiserver accepts a watch from a future version, and waits; only a list rejects it.
  if (options.sendInitialEvents === true) checkNotFuture(options, cluster.store.rv);
  await prepareForSelectors(context, { ref, namespace: info.namespace, options });
  const namespace = ref.definition.namespaced && info.namespace !== '' ? info.namespace : undefined;
  const name = info.name === '' ? selectedName(options.fields) : info.name;
  const scope = {
    namespace: ref.definition.namespaced ? namespace : '',
    name: name === '' ? undefined : name,
  };
  const run = (sink: StreamSink): void => {
    const from = startOfWatch(cluster, { ref, namespace, options, view });
    if (from === undefined) return sendErrorEvent(sink, tooOld(options, cluster));
    const plan: WatchPlan = {
      storage: ref.definition.storageKey,
      scope: scopeOf(ref, scope),
      view,
      bookmarks: options.allowWatchBookmarks,
      timeoutMs: timeoutSeconds(options) * 1000,
      from,
    };
    new WatchSession(plan, sink, cluster).start();
  };
  return { kind: 'stream', contentType: streamType(view), run };
}

function scopeOf(
  ref: ResourceRef,
  scope: { namespace: string | undefined; name: string | undefined },
): WatchPlan['scope'] {
  if (ref.definition.namespaced) return scope;
  return scope.name === undefined ? {} : { namespace: '', name: scope.name };
}

function viewOf(context: ResourceContext, ref: ResourceRef, options: ListOptions): WatchView {
  const { query, info, cluster } = context;
  const form = negotiatedForm(context);
  const includeObject = includeObjectOf(query);
  const named = info.name === '' ? options.fields : [...options.fields, nameIs(info.name)];
  const what = [apiVersionOf(ref), form, includeObject, info.namespace, options.labels, named];
  return {
    ref,
    form,
    includeObject,
    selects: selectorOf(ref, { labels: options.labels, fields: named }),
    identity: JSON.stringify(what),
    ...(ref.definition.conversion?.kind === 'webhook' && {
      prepare: prepareEvents(cluster, ref, dependsOnVersion({ fields: named })),
    }),
    nowMs: () => cluster.clock.now(),
  };
}

/**
 * @param selects whether the selector depends on the version; then the previous states are
 * converted, too
 */
function prepareEvents(
  cluster: Cluster,
  ref: ResourceRef,
  selects: boolean,
): NonNullable<WatchView['prepare']> {
  return (changes) => {
    const before = selects ? changes.flatMap(({ previous }) => previous ?? []) : [];
    return cluster.conversions.prepare([...before, ...changes.map(({ entry }) => entry)], ref);
  };
}

function nameIs(name: string): { path: string; equals: boolean; value: string } {
  return { path: 'metadata.name', equals: true, value: name };
}

/** Undefined if the history does not reach back to the requested version. */
function startOfWatch(
  cluster: Cluster,
  what: { ref: ResourceRef; namespace: string | undefined; options: ListOptions; view: WatchView },
): WatchPlan['from'] | undefined {
  const { ref, namespace, options, view } = what;
  const { store } = cluster;
  const requested = options.resourceVersion ?? 0;
  if (options.sendInitialEvents === true || (requested === 0 && options.sendInitialEvents === undefined)) {
    const present = selectableObjects(store, ref, namespace, options);
    // If selection needs the conversion webhook, the session selects after the conversion.
    const selectsAfterConversion = view.prepare !== undefined && dependsOnVersion(options);
    const entries = selectsAfterConversion ? present : present.filter((entry) => view.selects(entry));
    return {
      kind: 'state',
      rv: store.rv,
      entries,
      markEnd: options.sendInitialEvents === true && options.allowWatchBookmarks,
    };
  }
  const rv = requested === 0 ? store.durableRv : requested;
  const history = store.eventsSince(ref.definition.storageKey, rv);
  if (history === undefined) return undefined;
  const missed =
    namespace === undefined ? history : history.filter(({ entry }) => entry.namespace === namespace);
  // The requested version is still being written: no event was missed, and events up to it are
  // skipped.
  return { kind: 'version', rv: Math.max(rv, missed.at(-1)?.rv ?? 0), missed };
}

function tooOld(options: ListOptions, cluster: Cluster): StatusError {
  return expired(
    `too old resource version: ${String(options.resourceVersion ?? 0)} (${String(cluster.store.rv)})`,
  );
}

function sendErrorEvent(sink: StreamSink, error: StatusError): void {
  sink.write(`${JSON.stringify({ type: 'ERROR', object: error.toStatus() })}\n`);
  sink.end();
}

const DEFAULT_TIMEOUT_SECONDS = 1_800;

/** Default: random between 30 and 60 minutes, so that clients do not reconnect at the same time. */
function timeoutSeconds(options: ListOptions): number {
  const requested = options.timeoutSeconds ?? 0;
  return requested > 0
    ? Math.min(requested, 86_400)
    : DEFAULT_TIMEOUT_SECONDS + randomInt(DEFAULT_TIMEOUT_SECONDS);
}

function streamType(view: WatchView): string {
  return view.form.as === 'object' ? 'application/json' : 'application/json;stream=watch';
}

export interface WatchPlan {
  readonly storage: string;
  readonly scope: SubscriptionScope;
  readonly view: WatchView;
  readonly bookmarks: boolean;
  readonly timeoutMs: number;
  /** Start of the stream. `state`: begins with an ADDED event for each object at version `rv`. */
  readonly from:
    | { readonly kind: 'version'; readonly rv: number; readonly missed: readonly StoreEvent[] }
    | {
        readonly kind: 'state';
        readonly rv: number;
        readonly entries: readonly StoredObject[];
        readonly markEnd: boolean;
      };
}

/** With more unread bytes the client is too slow: its stream is closed, and it lists again. */
const BACKLOG_LIMIT_BYTES = 8 * 1024 * 1024;
/** Maximum number of changes that wait for conversion; with more the watch ends. */
const UNPREPARED_LIMIT = 2_500;
const BOOKMARK_PERIOD_MS = 60_000;
const INITIAL_OBJECTS_PER_TURN = 200;
/** A turn ends earlier with large objects. */
const INITIAL_CHARACTERS = 256 * 1024;

/** One running watch: initial state or replay, then live events, bookmarks, and an end. */
export class WatchSession {
  readonly #plan: WatchPlan;
  readonly #sink: StreamSink;
  readonly #store: ObjectStore;
  readonly #clock: Clock;
  readonly #cleanups: (() => void)[] = [];
  /** Events that arrive while the initial state is still being written. */
  #queued: (readonly StoreEvent[])[] | undefined = [];
  /** Conversion of earlier events; later ones wait for it. */
  #preparing: Promise<void> | undefined;
  #unprepared = 0;
  #columnsSent = false;
  /** The requested version, if it is newer than the store. */
  #future: number | undefined;
  #closed = false;

  constructor(
    plan: WatchPlan,
    sink: StreamSink,
    deps: { readonly store: ObjectStore; readonly clock: Clock },
  ) {
    this.#plan = plan;
    this.#sink = sink;
    this.#store = deps.store;
    this.#clock = deps.clock;
  }

  /**
   * Subscribes in the turn of the event loop in which the plan was made, so that no event is
   * missed.
   */
  start(): void {
    const { storage, scope, timeoutMs, bookmarks, from } = this.#plan;
    if (from.kind === 'version' && from.rv > this.#store.rv) this.#future = from.rv;
    this.#cleanups.push(this.#store.subscribe(storage, scope, (events) => this.#onEvents(events)));
    this.#cleanups.push(this.#clock.schedule(timeoutMs, () => this.#end()));
    if (bookmarks) this.#scheduleBookmark();
    this.#sink.onClose(() => this.#close());
    void this.#writeInitialEvents().catch((error: unknown) => this.#fail(error));
  }

  async #writeInitialEvents(): Promise<void> {
    const { from, view } = this.#plan;
    if (from.kind === 'version') await view.prepare?.(from.missed);
    if (from.kind === 'version')
      for (const event of from.missed) this.#write(eventLine(event, view, this.#columns()));
    else await this.#writeState(from);
    const queued = this.#queued ?? [];
    this.#queued = undefined;
    for (const events of queued) this.#onEvents(events.filter((event) => event.rv > from.rv));
  }

  async #writeState(from: Extract<WatchPlan['from'], { kind: 'state' }>): Promise<void> {
    const { view } = this.#plan;
    // The captured state may not be durable yet.
    await this.#store.durable(from.rv);
    await view.prepare?.(from.entries.map((entry) => ({ entry, previous: undefined })));
    const entries = view.prepare === undefined ? from.entries : from.entries.filter(view.selects);
    let lines = '';
    for (const [index, entry] of entries.entries()) {
      lines += objectLine('ADDED', entry, view, this.#columns());
      const last = index === entries.length - 1;
      if (!last && lines.length < INITIAL_CHARACTERS && (index + 1) % INITIAL_OBJECTS_PER_TURN !== 0)
        continue;
      const backlog = this.#sink.write(lines);
      lines = '';
      if (backlog > BACKLOG_LIMIT_BYTES / 2) await this.#sink.drained();
      else await nextTurn();
      if (this.#closed) return;
    }
    if (from.markEnd) this.#write(bookmarkLine(from.rv, view, true));
  }

  #onEvents(events: readonly StoreEvent[]): void {
    if (this.#future !== undefined) this.#onEventsBefore(this.#future, events);
    else if (this.#queued !== undefined) this.#queued.push(events);
    else if (this.#plan.view.prepare !== undefined) this.#convertThenWrite(events, this.#plan.view.prepare);
    else
      try {
        this.#writeEvents(events);
      } catch (error) {
        this.#fail(error);
      }
  }

  /**
   * As k8s.io/apiserver pkg/storage/cacher cacheWatcher.process: events up to the requested version
   * are skipped.
   */
  #onEventsBefore(future: number, events: readonly StoreEvent[]): void {
    const after = events.filter(({ rv }) => rv > future);
    if (after.length === 0) return;
    this.#future = undefined;
    this.#onEvents(after);
  }

  /**
   * Keeps the order of events while the webhook runs; if it falls too far behind, the watch ends
   * and the client lists again.
   */
  #convertThenWrite(events: readonly StoreEvent[], prepare: NonNullable<WatchView['prepare']>): void {
    this.#unprepared += events.length;
    if (this.#unprepared > UNPREPARED_LIMIT)
      return this.#fail(expired('the conversion webhook is too slow for the changes of this resource'));
    const earlier = this.#preparing ?? Promise.resolve();
    const conversion = earlier
      .then(() => (this.#closed ? undefined : prepare(events)))
      .then(() => {
        this.#unprepared -= events.length;
        if (this.#preparing === conversion) this.#preparing = undefined;
        if (!this.#closed) this.#writeEvents(events);
      })
      .catch((error: unknown) => this.#fail(error));
    this.#preparing = conversion;
  }

  #writeEvents(events: readonly StoreEvent[]): void {
    const { view } = this.#plan;
    if (view.form.as === 'table' && !this.#columnsSent)
      this.#write(events.map((event) => this.#firstLines(event)).join(''));
    else this.#write(batchLines(events, view));
  }

  #firstLines(event: StoreEvent): string {
    const line = eventLine(event, this.#plan.view, !this.#columnsSent);
    if (line !== '') this.#columnsSent = true;
    return line;
  }

  /** Only the first Table of a stream contains the column definitions. */
  #columns(): boolean {
    const first = !this.#columnsSent;
    this.#columnsSent = true;
    return first;
  }

  #write(lines: string | Buffer): void {
    if (lines.length === 0 || this.#closed) return;
    if (this.#sink.write(lines) <= BACKLOG_LIMIT_BYTES) return;
    this.#close();
    this.#sink.destroy();
  }

  #scheduleBookmark(): void {
    const cancel = this.#clock.schedule(BOOKMARK_PERIOD_MS, () => {
      this.#cleanups.splice(this.#cleanups.indexOf(cancel), 1);
      if (this.#isUpToDate()) this.#write(bookmarkLine(this.#store.durableRv, this.#plan.view, false));
      if (!this.#closed) this.#scheduleBookmark();
    });
    this.#cleanups.push(cancel);
  }

  /** Whether all events were written. */
  #isUpToDate(): boolean {
    const isFuture = this.#future !== undefined && this.#future > this.#store.durableRv;
    return this.#queued === undefined && this.#preparing === undefined && !isFuture;
  }

  #end(): void {
    if (this.#plan.bookmarks && this.#isUpToDate())
      this.#write(bookmarkLine(this.#store.durableRv, this.#plan.view, false));
    this.#close();
    this.#sink.end();
  }

  /** An object that cannot be converted ends this stream with an error event. */
  #fail(error: unknown): void {
    if (this.#closed) return;
    const status = error instanceof StatusError ? error : internalError(errorText(error));
    this.#write(`${JSON.stringify({ type: 'ERROR', object: status.toStatus() })}\n`);
    this.#close();
    this.#sink.end();
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const cleanup of this.#cleanups.splice(0)) cleanup();
  }
}

const linesOfBatches = new WeakMap<readonly StoreEvent[], Map<string, Buffer>>();

/**
 * The lines of one batch of events for a view, in UTF-8. A thousand watchers with the same view
 * share the bytes, so they are encoded once. The batch is the same array for all subscribers of a
 * scope, and is released after the delivery.
 */
function batchLines(events: readonly StoreEvent[], view: WatchView): Buffer {
  let views = linesOfBatches.get(events);
  if (views === undefined) {
    views = new Map();
    linesOfBatches.set(events, views);
  }
  let bytes = views.get(view.identity);
  if (bytes === undefined) {
    bytes = Buffer.from(events.map((event) => eventLine(event, view, false)).join(''));
    views.set(view.identity, bytes);
  }
  return bytes;
}
