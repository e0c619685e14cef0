import { InputError, TransientError } from '../../../core/errors.ts';
import type { KindInfo } from '../../../core/model/kinds.ts';
import type { KubeObject } from '../../../core/model/object-meta.ts';
import { namespacedName } from '../../../core/model/object-ref.ts';
import { isNewerResourceVersion } from '../../../core/model/resource-version.ts';
import type { Clock, KubeApi, ListOptions, Logger, WatchEvent } from '../../../core/ports.ts';
import { Backoff, type BackoffLimits } from '../../../runtime/backoff.ts';
import { sleep } from '../../../runtime/sleep.ts';
import { WaitList } from '../../../runtime/wait-list.ts';
import { ObjectStore } from './object-store.ts';
import { SilenceTimer } from './silence-timer.ts';
import { isWatchInHistory, isListOlderThanWatch } from './watch-proof.ts';
import { withoutManagedFields } from './without-managed-fields.ts';

export interface ReflectorOptions extends ListOptions {
  readonly api: KubeApi;
  readonly kind: KindInfo;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  readonly backoff?: BackoffLimits;
  /** Without an event or bookmark for this long the stream counts as dead and is opened again. Servers send bookmarks about every 60 s. */
  readonly silenceLimitMs?: number;
  readonly onError?: (error: unknown) => void;
  /** Awaited before each list and watch. When its number changes, what was read before belongs to another history: it is listed again. */
  readonly historyOf?: (() => Promise<number>) | undefined;
  /** Called when the server turned out to have another history, of which its answers said nothing; the kind is listed again. */
  readonly onOtherHistory?: (() => Promise<void>) | undefined;
  /** Keeps less of each object than the server sends; managedFields are always dropped. */
  readonly transform?: (object: KubeObject) => KubeObject;
}

export interface ReflectorPosition {
  /** Undefined before the first list, and where histories are not distinguished. */
  readonly history: number | undefined;
  readonly resourceVersion: string | undefined;
}

export interface WatchFailure {
  readonly verb: 'list' | 'watch';
  readonly error: InputError;
}

/** A failure that lasts is logged again after this time. */
const LOG_AGAIN_MS = 300_000;

/**
 * Keeps a store equal to one kind on the server: one list, then one watch that is resumed where it broke. What client-node's
 * informer lacks: bookmarks, jitter, a limit on silence (a stream that died without a FIN), and "gone" handled by a list that is
 * compared with what was known, so that deletions in the gap are reported.
 */
export class Reflector {
  readonly store = new ObjectStore();
  readonly kind: KindInfo;
  readonly #options: ReflectorOptions;
  readonly #backoff: Backoff;
  readonly #waiting = new WaitList();
  #resourceVersion: string | undefined;
  /** The newest version of the history, kept after the position was given up. */
  #reached: string | undefined;
  #history: number | undefined;
  /** The next list may show versions that were seen before, with another content. */
  #isAnotherHistory = false;
  /** The server said that it has not reached the position: it has to be told before a list counts. */
  #isDoubted = false;
  #synced = false;
  #isWatching = false;
  #provenAtMs = -Infinity;
  #relists = 0;
  /** Lists are numbered: the last that began, the last that was read, and the one that has to be read before a watch goes on. */
  #lists = { begun: 0, read: 0, wanted: 0 };
  #interrupt: () => void = () => undefined;
  #endPause: () => void = () => undefined;
  #failure: WatchFailure | undefined;
  /** When the log said so. An outage of the whole server is logged once, and not for each kind. */
  #loggedAtMs = -Infinity;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.kind = options.kind;
    this.#backoff = new Backoff(options.backoff ?? { initialMs: 500, maxMs: 30_000 }, options.random);
  }

  /** A complete list has been read at least once. */
  get synced(): boolean {
    return this.#synced;
  }

  /** A watch is open: what changes on the server now arrives here. */
  get isWatching(): boolean {
    return this.#isWatching;
  }

  /** The history that is followed (see `historyOf`) and the newest resource version that was seen in it. */
  get position(): ReflectorPosition {
    return { history: this.#history, resourceVersion: this.#resourceVersion ?? this.#reached };
  }

  /** Complete lists read so far: the first, and one per lost resourceVersion. */
  get relists(): number {
    return this.#relists;
  }

  /** What the server refuses for as long as nobody acts: a right that is missing, a kind that it does not serve. Undefined since it answered. */
  get failure(): WatchFailure | undefined {
    return this.#failure;
  }

  /** Milliseconds since the server last proved that the store is current; Infinity before the first list. */
  stalenessMs(): number {
    return Math.max(0, this.#options.clock.now() - this.#provenAtMs);
  }

  /** Resolves when synced, or when the signal aborts. */
  whenSynced(signal: AbortSignal): Promise<void> {
    return this.#waiting.until(() => this.#synced, signal);
  }

  /** The same, or when the server refused the list. */
  whenAnswered(signal: AbortSignal): Promise<void> {
    return this.#waiting.until(() => this.#synced || this.#failure !== undefined, signal);
  }

  /**
   * Lists again, whatever the watch has shown: resolves when the store has what the server held after this call, when the server refuses
   * the list, or when the signal aborts.
   */
  async relist(signal: AbortSignal): Promise<void> {
    const wanted = this.restart();
    await this.#waiting.until(() => this.#lists.read >= wanted || this.#failure?.verb === 'list', signal);
  }

  /** Ends the watch, or the pause before the next one, and lists again. @returns the number of that list */
  restart(): number {
    this.#lists.wanted = this.#lists.begun + 1;
    this.#interrupt();
    return this.#lists.wanted;
  }

  /** Ends the pause after a failure: the server answers again. */
  hurry(): void {
    this.#backoff.reset();
    this.#endPause();
  }

  get #mustList(): boolean {
    return this.#resourceVersion === undefined || this.#lists.read < this.#lists.wanted;
  }

  /** Runs until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#checkHistory();
        const isResumed = !this.#mustList;
        while (this.#mustList && !signal.aborted) this.#resourceVersion = await this.#list();
        // Stopped while listing: the abort event is over and would not reach the watch.
        if (signal.aborted || this.#resourceVersion === undefined) return;
        await this.#watch(this.#resourceVersion, isResumed, signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#afterFailure(error);
        await this.#pause(this.#waitMs(error), signal);
      }
    }
  }

  async #checkHistory(): Promise<void> {
    const history = await this.#options.historyOf?.();
    if (history === this.#history) return;
    this.#isAnotherHistory ||= this.#history !== undefined;
    this.#history = history;
    this.#resourceVersion = undefined;
    this.#reached = undefined;
  }

  async #list(): Promise<string> {
    const { api, kind, namespace, labelSelector, fieldSelector } = this.#options;
    const number = ++this.#lists.begun;
    const { items, resourceVersion } = await api.list(kind, { namespace, labelSelector, fieldSelector });
    // The next list follows at once then: others may have found more. Nothing of this one counts before all know of it.
    const isOther =
      !this.#isAnotherHistory && (this.#isDoubted || isListOlderThanWatch(this.store, items, this.#reached));
    if (isOther) await this.#meetOtherHistory();
    this.store.replace(
      items.map((object) => this.#slim(object)),
      { isSameHistory: !this.#isAnotherHistory },
    );
    this.#isAnotherHistory = false;
    this.#isDoubted = false;
    this.#relists += 1;
    this.#lists.read = number;
    this.#proven();
    this.#synced = true;
    this.#waiting.wake();
    return resourceVersion;
  }

  /** @param isResumed the version is that of a watch before, and not that of a list */
  async #watch(resourceVersion: string, isResumed: boolean, signal: AbortSignal): Promise<void> {
    const { api, kind, namespace, labelSelector, fieldSelector, clock } = this.#options;
    const stream = new AbortController();
    const stop = (): void => stream.abort();
    signal.addEventListener('abort', stop, { once: true });
    this.#interrupt = stop;
    const silence = new SilenceTimer(clock, this.#options.silenceLimitMs ?? 150_000, () => {
      // Usual where the server has no watch cache: then it sends no bookmarks for a kind that does not change.
      this.#options.log.debug('watch received nothing for long, opening it again', { kind: kind.kind });
      stop();
    });
    const openedAtMs = clock.now();
    try {
      const selection = { namespace, labelSelector, fieldSelector, resourceVersion };
      const onOpen = (): void => {
        this.#isWatching = true;
        this.#proven();
        silence.restart();
        if (isResumed) void this.#proveHistory(stream.signal);
      };
      for await (const event of api.watch(kind, { ...selection, signal: stream.signal, onOpen })) {
        silence.restart();
        this.#take(event);
      }
    } finally {
      this.#isWatching = false;
      silence.cancel();
      signal.removeEventListener('abort', stop);
      // Also when the server ended the watch: what waits for more of it ends.
      stop();
    }
    if (signal.aborted || this.#mustList) return;
    // A server that ends every watch at once must not be hammered.
    if (clock.now() - openedAtMs < 1_000) await this.#pause(this.#backoff.nextMs(), signal);
  }

  async #proveHistory(stream: AbortSignal): Promise<void> {
    const reached = (): string | undefined => this.#resourceVersion;
    try {
      const isProven = await isWatchInHistory({ ...this.#options, store: this.store, reached }, stream);
      if (!isProven && !stream.aborted) await this.#meetOtherHistory();
    } catch {
      // The server is away: the watch ends, and the next one is proven.
    }
  }

  /** @throws TransientError when the server does not answer: it has to be told again */
  async #meetOtherHistory(): Promise<void> {
    await this.#options.onOtherHistory?.();
    this.#isAnotherHistory = true;
    this.restart();
  }

  #take(event: WatchEvent): void {
    this.#proven();
    this.#backoff.reset();
    if (event.type === 'bookmark') {
      const { resourceVersion } = event;
      // Progress of an etcd that was restored under the watch.
      if (isNewerResourceVersion(this.#resourceVersion ?? '', resourceVersion))
        this.#meetOtherHistory().catch(() => this.restart());
      else if (resourceVersion !== '') this.#resourceVersion = resourceVersion;
      return;
    }
    this.#resourceVersion = event.object.metadata.resourceVersion;
    if (event.type === 'deleted') this.store.remove(namespacedName(event.object.metadata));
    else this.store.put(this.#slim(event.object));
  }

  #slim(object: KubeObject): KubeObject {
    const slim = withoutManagedFields(object);
    return this.#options.transform === undefined ? slim : this.#options.transform(slim);
  }

  #proven(): void {
    this.#provenAtMs = this.#options.clock.now();
    this.#failure = undefined;
    this.#loggedAtMs = -Infinity;
  }

  #afterFailure(error: unknown): void {
    const { log, kind, onError } = this.#options;
    const verb = this.#mustList ? 'list' : 'watch';
    // After trouble of the network or the server the stream goes on from its position; all else starts from a list. So does a
    // position that the server has not reached: it was restored from a backup, and its history is another one.
    const isAhead = error instanceof TransientError && error.code === 'kube.resourceversiontoolarge';
    this.#isDoubted ||= isAhead;
    if (!(error instanceof TransientError) || isAhead) {
      this.#reached = this.#resourceVersion ?? this.#reached;
      this.#resourceVersion = undefined;
    }
    if (error instanceof InputError && error.code === 'kube.expired') {
      log.debug('watch position expired, listing again', { kind: kind.kind });
      return;
    }
    if (error instanceof InputError) {
      this.#failure = { verb, error };
      this.#waiting.wake();
    }
    const isOfNetwork = error instanceof TransientError && error.code === 'kube.network';
    const nowMs = this.#options.clock.now();
    const isNews = !isOfNetwork && nowMs - this.#loggedAtMs >= LOG_AGAIN_MS;
    if (isNews) this.#loggedAtMs = nowMs;
    log[isNews ? 'warn' : 'debug'](`${verb} failed, trying again until it works`, { kind: kind.kind, error });
    onError?.(error);
  }

  /** Until the time is over, or a list is wanted now. */
  async #pause(forMs: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const end = (): void => over.abort();
    signal.addEventListener('abort', end, { once: true });
    this.#interrupt = end;
    this.#endPause = end;
    await sleep(this.#options.clock, forMs, over.signal);
    signal.removeEventListener('abort', end);
  }

  #waitMs(error: unknown): number {
    return Math.max(error instanceof TransientError ? (error.retryAfterMs ?? 0) : 0, this.#backoff.nextMs());
  }
}
