import type { Clock } from '@berth/runtime/clock/clock';
import { InputError, TransientError } from '@berth/runtime/errors';
import { Backoff } from '@berth/runtime/loop/backoff';
import { sleep, WaitList } from '@berth/runtime/loop/sleep';
import type { KindInfo } from '../model/kinds.ts';
import type { WatchEvent } from '../model/kube-api.ts';
import type { KubeObject } from '../model/object-meta.ts';
import { namespacedName } from '../model/object-ref.ts';
import { hasReachedVersion, isNewerResourceVersion } from '../model/resource-version.ts';
import { ObjectStore } from './object-store.ts';
import type { ReflectorOptions, ReflectorPosition, WatchFailure } from './reflector-options.ts';
import { isWatchInHistory, isListOlderThanWatch } from './watch-proof.ts';

/** A server sends a bookmark every minute. A watch that is silent for longer may be dead. */
const MAX_SILENCE_MS = 90_000;
/** A lasting failure is logged again after this time. */
const LOG_AGAIN_MS = 300_000;

/**
 * Keeps a store equal to one kind on the server: one list, then one watch that is resumed after an interruption. Unlike
 * client-node's informer, it has bookmarks, jitter, and a limit on silence (for a stream that died without a FIN). It
 * handles "gone" by a list that is compared with the known objects, so that deletions in the gap are reported.
 */
export class Reflector {
  readonly store = new ObjectStore();
  readonly kind: KindInfo;
  readonly #options: ReflectorOptions;
  readonly #backoff: Backoff;
  readonly #waiting = new WaitList();
  #resourceVersion: string | undefined;
  /** The newest version of the history. It is kept after the position is lost. */
  #reached: string | undefined;
  #history: number | undefined;
  /** Whether the next list may show known versions with other content. */
  #isAnotherHistory = false;
  /** The server has not reached our position. `onOtherHistory` must succeed before a list is stored. */
  #isHistoryInDoubt = false;
  /** A watch was resumed, and it is not known yet that the server still has the history of its position. */
  #isUnproven = false;
  #synced = false;
  #isWatching = false;
  #provenAtMs = -Infinity;
  #relists = 0;
  /** Lists are numbered: the last one started, the last one read, and the one that must be read before a watch continues. */
  #lists = { begun: 0, read: 0, wanted: 0 };
  #interrupt: () => void = () => undefined;
  #endPause: () => void = () => undefined;
  #failure: WatchFailure | undefined;
  /** When the failure was last logged as a warning. ServerOutage logs the outage of a server once for all kinds. */
  #loggedAtMs = -Infinity;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.kind = options.kind;
    this.#backoff = new Backoff(options.backoff ?? { initialMs: 500, maxMs: 30_000 }, options.random);
  }

  /** Whether a complete list has been read at least once. */
  get synced(): boolean {
    return this.#synced;
  }

  /** Whether a watch is open, so that changes on the server arrive. */
  get isWatching(): boolean {
    return this.#isWatching;
  }

  /**
   * Whether the store is what the server had a moment ago: a watch is open and not silent, and the server has the
   * history that is followed.
   */
  get isCurrent(): boolean {
    const isDoubted = this.#isHistoryInDoubt || this.#isUnproven || this.#isAnotherHistory || this.#mustList;
    return this.#isWatching && !isDoubted && this.stalenessMs() <= MAX_SILENCE_MS;
  }

  /** The history that is followed (see `historyOf`), and the newest resource version seen in it. */
  get position(): ReflectorPosition {
    return { history: this.#history, resourceVersion: this.#resourceVersion ?? this.#reached };
  }

  /** Complete lists read so far: the first one, and one for each lost resourceVersion. */
  get relists(): number {
    return this.#relists;
  }

  /** A refusal that lasts until somebody acts: a missing right or kind. Undefined after a response. */
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

  /** Resolves when synced, when the server refused the list, or when the signal aborts. */
  whenListedOrRefused(signal: AbortSignal): Promise<void> {
    return this.#waiting.until(() => this.#synced || this.#failure !== undefined, signal);
  }

  /**
   * Lists again, whatever the watch has shown. Resolves when the store has what the server had after this call, when
   * the server refuses the list, or when the signal aborts.
   */
  async relist(signal: AbortSignal): Promise<void> {
    const wanted = this.restart();
    await this.#waiting.until(() => this.#lists.read >= wanted || this.#failure?.verb === 'list', signal);
  }

  /** Ends the watch, or the pause before the next one, and lists again. Returns the number of this list. */
  restart(): number {
    this.#lists.wanted = this.#lists.begun + 1;
    this.#interrupt();
    return this.#lists.wanted;
  }

  /**
   * Stores the response to an own write, so that it can be read at once. A response that arrives after the list or the
   * watch has shown this version is ignored: the object may have been changed or deleted since.
   */
  putWritten(object: KubeObject): void {
    const { resourceVersion = '' } = object.metadata;
    if (!hasReachedVersion(this.position.resourceVersion ?? '', resourceVersion))
      this.store.put(this.#reduce(object));
  }

  /** Ends the pause after a failure, because the server answers again. */
  hurry(): void {
    this.#backoff.reset();
    this.#endPause();
  }

  get #mustList(): boolean {
    return this.#resourceVersion === undefined || this.#lists.read < this.#lists.wanted;
  }

  /** Runs until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const forget = this.#options.api.onRecovery?.(() => this.hurry());
    await this.#follow(signal);
    forget?.();
  }

  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#checkHistory();
        const isResumed = !this.#mustList;
        while (this.#mustList && !signal.aborted) {
          this.#resourceVersion = await this.#list();
          // Another kind may have found another history meanwhile, and requested one more list.
          if (this.#mustList) await this.#checkHistory();
        }
        // The signal aborted during the list, so the watch would not see the abort event.
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
    // The list shows another history. All kinds must be told before this list is stored, because what was read before
    // is invalid. The call also requests the next list, which is read at once.
    const isOther =
      !this.#isAnotherHistory &&
      (this.#isHistoryInDoubt || isListOlderThanWatch(this.store, items, this.#reached));
    if (isOther) await this.#reportOtherHistory();
    this.store.replace(
      items.map((object) => this.#reduce(object)),
      { isSameHistory: !this.#isAnotherHistory, resourceVersion },
    );
    this.#isAnotherHistory = false;
    this.#isHistoryInDoubt = false;
    this.#isUnproven = false;
    this.#relists += 1;
    this.#lists.read = number;
    this.#markCurrent();
    this.#synced = true;
    this.#waiting.wake();
    return resourceVersion;
  }

  /** @param isResumed whether the version comes from an earlier watch and not from a list */
  async #watch(resourceVersion: string, isResumed: boolean, signal: AbortSignal): Promise<void> {
    const { api, kind, namespace, labelSelector, fieldSelector, clock } = this.#options;
    const stream = new AbortController();
    const stop = (): void => stream.abort();
    signal.addEventListener('abort', stop, { once: true });
    this.#interrupt = stop;
    const silence = new SilenceTimer(clock, this.#options.silenceLimitMs ?? 150_000, () => {
      // This is normal for a server without a watch cache: it sends no bookmarks for a kind that does not change.
      this.#options.log.debug('the watch received nothing for a long time and is opened again', {
        kind: kind.kind,
      });
      stop();
    });
    const openedAtMs = clock.now();
    try {
      const selection = { namespace, labelSelector, fieldSelector, resourceVersion };
      const onOpen = (): void => {
        this.#isWatching = true;
        this.#markCurrent();
        silence.restart();
        this.#isUnproven ||= isResumed;
        if (isResumed) void this.#proveHistory(stream.signal);
      };
      for await (const event of api.watch(kind, { ...selection, signal: stream.signal, onOpen })) {
        silence.restart();
        this.#applyEvent(event);
      }
    } finally {
      this.#isWatching = false;
      silence.cancel();
      signal.removeEventListener('abort', stop);
      // Also when the server ended the watch: this ends the check of its history, too.
      stop();
    }
    if (signal.aborted || this.#mustList) return;
    // A server that ends every watch at once must not be overloaded.
    if (clock.now() - openedAtMs < 1_000) await this.#pause(this.#backoff.nextMs(), signal);
  }

  async #proveHistory(stream: AbortSignal): Promise<void> {
    const reached = (): string | undefined => this.#resourceVersion;
    try {
      const isProven = await isWatchInHistory({ ...this.#options, store: this.store, reached }, stream);
      if (stream.aborted) return;
      if (isProven) this.#isUnproven = false;
      else await this.#reportOtherHistory();
    } catch {
      // The server does not answer: the watch ends, and the next one is checked.
    }
  }

  /** @throws TransientError when the server does not answer, so that the call must be repeated */
  async #reportOtherHistory(): Promise<void> {
    await this.#options.onOtherHistory?.();
    this.#isAnotherHistory = true;
    this.restart();
  }

  #applyEvent(event: WatchEvent): void {
    this.#markCurrent();
    this.#backoff.reset();
    if (event.type === 'bookmark') {
      const { resourceVersion } = event;
      // A progress report of an etcd that was restored while the watch was open.
      if (isNewerResourceVersion(this.#resourceVersion ?? '', resourceVersion))
        this.#reportOtherHistory().catch(() => this.restart());
      else if (resourceVersion !== '') this.#resourceVersion = resourceVersion;
      return;
    }
    this.#resourceVersion = event.object.metadata.resourceVersion;
    if (event.type === 'deleted') this.store.remove(namespacedName(event.object.metadata));
    else this.store.put(this.#reduce(event.object));
  }

  #reduce(object: KubeObject): KubeObject {
    const slim = withoutManagedFields(object);
    return this.#options.transform === undefined ? slim : this.#options.transform(slim);
  }

  #markCurrent(): void {
    this.#provenAtMs = this.#options.clock.now();
    this.#failure = undefined;
    this.#loggedAtMs = -Infinity;
  }

  #afterFailure(error: unknown): void {
    const { log, kind, onError } = this.#options;
    const verb = this.#mustList ? 'list' : 'watch';
    // After a failure of the network or the server, the watch resumes at its position. After any other error, the kind
    // is listed again. So it is if the server has not reached the position, because it was restored from a backup.
    const isAhead = error instanceof TransientError && error.code === 'kube.resourceversiontoolarge';
    this.#isHistoryInDoubt ||= isAhead;
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
    const isWorthWarning = !isOfNetwork && nowMs - this.#loggedAtMs >= LOG_AGAIN_MS;
    if (isWorthWarning) this.#loggedAtMs = nowMs;
    log[isWorthWarning ? 'warn' : 'debug'](`${verb} failed and will be retried`, { kind: kind.kind, error });
    onError?.(error);
  }

  /** Waits until the time is over, or a list is requested. */
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

/** Calls back once, if it was not restarted within the limit. */
class SilenceTimer {
  #cancel: () => void = () => undefined;
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #onSilence: () => void;

  constructor(clock: Clock, limitMs: number, onSilence: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#onSilence = onSilence;
    this.restart();
  }

  restart(): void {
    this.#cancel();
    this.#cancel = this.#clock.schedule(this.#limitMs, this.#onSilence);
  }

  cancel(): void {
    this.#cancel();
  }
}

/** managedFields are often half of an object, and Berth never reads them from a store. */
function withoutManagedFields(object: KubeObject): KubeObject {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _dropped, ...metadata } = object.metadata;
  return { ...object, metadata };
}
