import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../core/ports.ts';
import { errorText } from '../../core/errors.ts';
import type { StreamSink } from '../wire/answer.ts';
import { StatusError } from '../wire/status-error.ts';
import { expired, internalError } from '../wire/status-errors.ts';
import type { ObjectStore } from '../store/object-store.ts';
import type { StoreEvent } from '../store/event-ring.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { SubscriptionScope } from '../store/subscriptions.ts';
import { batchLines } from './batch-cache.ts';
import type { WatchView } from './watch-lines.ts';
import { bookmarkLine, eventLine, objectLine } from './watch-lines.ts';

/** More than this unread: the client is too slow, its stream is cut and it lists again. */
const BACKLOG_LIMIT_BYTES = 8 * 1024 * 1024;
/** As many changes as a watch may be behind and still go on. */
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
  /** Where the stream begins. `state`: what exists at version `rv`, as ADDED, before anything else. */
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
  /** Webhooks are asked for the events before these. */
  #preparing: Promise<void> | undefined;
  #unprepared = 0;
  #columnsSent = false;
  /** The watcher asked for changes after this version, which the store has not reached. */
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

  /** Subscribes in the same turn in which the plan was made, so that no event falls between. */
  start(): void {
    const { storage, scope, timeoutMs, bookmarks, from } = this.#plan;
    if (from.kind === 'version' && from.rv > this.#store.rv) this.#future = from.rv;
    this.#cleanups.push(this.#store.subscribe(storage, scope, (events) => this.#onEvents(events)));
    this.#cleanups.push(this.#clock.schedule(timeoutMs, () => this.#end()));
    if (bookmarks) this.#scheduleBookmark();
    this.#sink.onClose(() => this.#close());
    void this.#writeBeginning().catch((error: unknown) => this.#fail(error));
  }

  async #writeBeginning(): Promise<void> {
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
    // What was captured may still be on its way to the disk.
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
    else if (this.#plan.view.prepare !== undefined) this.#onUnprepared(events, this.#plan.view.prepare);
    else
      try {
        this.#writeEvents(events);
      } catch (error) {
        this.#fail(error);
      }
  }

  /** As k8s.io/apiserver pkg/storage/cacher cacheWatcher.process: nothing up to the version that was asked for is shown. */
  #onEventsBefore(future: number, events: readonly StoreEvent[]): void {
    const after = events.filter(({ rv }) => rv > future);
    if (after.length === 0) return;
    this.#future = undefined;
    this.#onEvents(after);
  }

  /** In order, whatever the webhook takes; a watcher whose webhook falls too far behind lists again. */
  #onUnprepared(events: readonly StoreEvent[], prepare: NonNullable<WatchView['prepare']>): void {
    this.#unprepared += events.length;
    if (this.#unprepared > UNPREPARED_LIMIT)
      return this.#fail(expired('the conversion webhook is too slow for the changes of this resource'));
    const before = this.#preparing ?? Promise.resolve();
    const mine = before
      .then(() => (this.#closed ? undefined : prepare(events)))
      .then(() => {
        this.#unprepared -= events.length;
        if (this.#preparing === mine) this.#preparing = undefined;
        if (!this.#closed) this.#writeEvents(events);
      })
      .catch((error: unknown) => this.#fail(error));
    this.#preparing = mine;
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

  /** Only the first row of a Table stream says what its columns are. */
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

  /** Everything that happened was written. */
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

  /** One object that cannot be shown ends this stream alone, and says why. */
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
