import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '@berth/runtime/clock/clock';
import { errorText } from '@berth/runtime/errors';
import type { StreamSink } from '../wire/api-response.ts';
import { StatusError } from '../wire/status-error.ts';
import { expired, internalError } from '../wire/status-errors.ts';
import type { ObjectStore } from '../store/object-store.ts';
import type { StoreEvent } from '../store/event-ring.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { SubscriptionScope } from '../store/subscriptions.ts';
import { batchLines } from './batch-cache.ts';
import type { WatchView } from './watch-lines.ts';
import { bookmarkLine, eventLine, objectLine } from './watch-lines.ts';

/** With more unread bytes the client is too slow: its stream is closed, and it lists again. */
const BACKLOG_LIMIT_BYTES = 8 * 1024 * 1024;
/** Maximum number of changes that wait for conversion; with more the watch ends. */
const UNPREPARED_LIMIT = 2_500;
const BOOKMARK_PERIOD_MS = 60_000;
const INITIAL_OBJECTS_PER_TURN = 200;
/** A turn ends earlier with large objects. */
const INITIAL_CHARACTERS = 256 * 1024;

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
