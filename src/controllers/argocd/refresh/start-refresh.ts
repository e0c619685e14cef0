import { mayBeAllowedLater } from '@berth/kube/transport/kube-errors';
import { APPLICATION_SET } from '../../../core/argocd/argocd-kinds.ts';
import {
  planRefresh,
  REFRESH_ANNOTATION,
  REFRESHED_FOR_ANNOTATION,
  type SentRefresh,
} from '../../../core/argocd/refresh/plan-refresh.ts';
import type { SeenDecisions } from '../../../core/argocd/refresh/seen-digest.ts';
import { errorText } from '@berth/runtime/errors';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Logger } from '@berth/runtime/logger';
import { DONE, type ReconcileOutcome, runReconciler } from '@berth/runtime/loop/reconciler';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { WorkQueue } from '@berth/runtime/loop/work-queue';
import { RateLimiter } from '@berth/runtime/loop/rate-limiter';
import { refusedKindText } from '../../inventory/refused-kind.ts';
import { RefreshView, type RefreshViewOptions } from './refresh-view.ts';

/** The outcome of a refresh. `tookMs`: since the first request. */
export interface RefreshEvent {
  /** `namespace/name` */
  readonly applicationSet: string;
  readonly outcome: 'requested' | 'requested-again' | 'confirmed';
  readonly placements: readonly string[];
  readonly tookMs?: number | undefined;
}

export interface RefreshOptions extends RefreshViewOptions {
  readonly hub: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Awaited before each write. Default: no wait. */
  readonly mayBegin?: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly onRefresh?: ((event: RefreshEvent) => void) | undefined;
  readonly onError?: ((key: string, error: unknown) => void) | undefined;
  /** Average rate for all ApplicationSets together; bursts may have twice as many. Default: 10. */
  readonly perSecond?: number | undefined;
}

export interface RunningRefresh {
  /** What fails at the moment, as text for users. Berth retries all of it. */
  warnings(): readonly string[];
  /** Number of ApplicationSets whose refresh was requested and is not confirmed. */
  readonly pending: number;
  close(): Promise<void>;
}

/** Placements of one commit are usually published within this time, so their ApplicationSets are refreshed once. */
const DEBOUNCE_MS = 250;
/** By default Argo CD reconciles ten ApplicationSets at a time. More requests would only wait in its queue. */
const DEFAULT_PER_SECOND = 10;
const FIELD_MANAGER = 'berth-argocd';

/**
 * Makes Argo CD generate the Applications of exactly those ApplicationSets whose published decisions changed. Each
 * request is recorded on the ApplicationSet itself, so that a restart neither repeats nor forgets one.
 */
export function startRefresh(options: RefreshOptions): RunningRefresh {
  const { clock, random, log, mayBegin, published, onError } = options;
  const supervisor = new Supervisor({ clock, random, log });
  const view = new RefreshView(options);
  const refresher = new Refresher(options, view, supervisor.signal);
  const queue = new WorkQueue(clock);
  const soon = (keys: readonly string[]): void => keys.forEach((key) => queue.addAfter(key, DEBOUNCE_MS));
  published.onChange((placement) =>
    soon(placement === undefined ? view.readers() : view.readersOf(placement)),
  );
  // A page with a new name or label may be what a generator selects.
  view.decisions.store.onChange(({ before, after }) => {
    if (before === undefined || after === undefined) soon(view.readers());
  });
  view.configMaps.store.onChange(() => soon(view.readers()));
  view.applicationSets.store.onChange(({ key, after }) => {
    if (after !== undefined) queue.add(key);
    else refresher.forget(key);
  });
  supervisor.start('refresh of ApplicationSets', async (signal) => {
    await Promise.all([view.configMaps.whenSynced(signal), view.decisions.whenSynced(signal)]);
    soon(view.readers());
    await runReconciler(
      {
        ...{ clock, random, log, mayBegin, ...(onError && { onError }) },
        name: 'ApplicationSet refresh',
        queue,
        concurrency: 4,
        isRetryable: mayBeAllowedLater,
        reconcile: (key) => refresher.reconcile(key),
      },
      signal,
    );
  });
  const reflectors = [view.applicationSets, view.configMaps];
  return {
    warnings: () => [
      ...reflectors.flatMap(({ kind, failure }) =>
        failure === undefined
          ? []
          : [`argocd: ${refusedKindText(kind, failure)}; until then no ApplicationSet is refreshed`],
      ),
      ...refresher.warnings(),
    ],
    get pending() {
      return refresher.pending;
    },
    close: () => supervisor.close(),
  };
}

class Refresher {
  readonly #options: RefreshOptions;
  readonly #view: RefreshView;
  readonly #pace: RateLimiter;
  readonly #signal: AbortSignal;
  readonly #sent = new Map<string, SentRefresh>();
  readonly #problems = new Map<string, string>();

  constructor(options: RefreshOptions, view: RefreshView, signal: AbortSignal) {
    this.#options = options;
    this.#view = view;
    this.#signal = signal;
    const { perSecond = DEFAULT_PER_SECOND } = options;
    this.#pace = new RateLimiter(options.clock, { perSecond, burst: 2 * perSecond });
  }

  get pending(): number {
    return [...this.#sent.values()].filter(({ confirmed }) => !confirmed).length;
  }

  warnings(): readonly string[] {
    return [...this.#problems].map(
      ([key, problem]) => `argocd: ApplicationSet ${key} is not refreshed: ${problem}`,
    );
  }

  forget(key: string): void {
    this.#sent.delete(key);
    this.#problems.delete(key);
  }

  async reconcile(key: string): Promise<ReconcileOutcome> {
    const object = this.#view.applicationSet(key);
    if (object === undefined || !this.#options.published.complete) return DONE;
    const seen = this.#view.seenBy(object);
    const sent = this.#sent.get(key);
    const step = planRefresh(object, seen.digest, {
      sent,
      nowMs: this.#options.clock.now(),
    });
    if (step.kind === 'refresh') return this.#refresh(key, seen, step.isRetry);
    if (step.kind !== 'wait' || step.problem === undefined) this.#problems.delete(key);
    else this.#problems.set(key, step.problem);
    if (step.kind === 'wait') return { kind: 'requeue', afterMs: step.forMs };
    if (step.kind === 'confirmed' && sent !== undefined) this.#confirm(key, seen, sent);
    return DONE;
  }

  #confirm(applicationSet: string, { placements }: SeenDecisions, sent: SentRefresh): void {
    this.#sent.set(applicationSet, { ...sent, confirmed: true });
    const tookMs = this.#options.clock.now() - sent.firstAtMs;
    this.#options.onRefresh?.({ applicationSet, outcome: 'confirmed', placements, tookMs });
  }

  async #refresh(key: string, seen: SeenDecisions, isRetry: boolean): Promise<ReconcileOutcome> {
    const { hub, clock, onRefresh, log } = this.#options;
    await this.#pace.whenDue(this.#signal);
    if (this.#signal.aborted) return DONE;
    const object = this.#view.applicationSet(key);
    if (object === undefined) return DONE;
    const { name, namespace = '', uid } = object.metadata;
    const nowMs = clock.now();
    const annotations = {
      [REFRESH_ANNOTATION]: formatTime(nowMs),
      [REFRESHED_FOR_ANNOTATION]: seen.digest,
    };
    const before = this.#sent.get(key);
    // Recorded before the request: the ApplicationSet controller may respond before the hub does.
    this.#sent.set(key, {
      firstAtMs: isRetry ? (before?.firstAtMs ?? nowMs) : nowMs,
      lastAtMs: nowMs,
      tries: isRetry ? (before?.tries ?? 0) + 1 : 1,
      confirmed: false,
    });
    try {
      await hub.mergePatch(
        APPLICATION_SET,
        { namespace, name },
        { metadata: { uid, annotations } },
        { fieldManager: FIELD_MANAGER, metadataOnly: true },
      );
    } catch (error) {
      if (before === undefined) this.#sent.delete(key);
      else this.#sent.set(key, before);
      this.#problems.set(key, errorText(error));
      throw error;
    }
    const outcome = isRetry ? 'requested-again' : 'requested';
    log.debug('ApplicationSet refresh requested', { applicationSet: key, placements: seen.placements });
    onRefresh?.({ applicationSet: key, outcome, placements: seen.placements });
    // Normally the watch reports the result sooner.
    return { kind: 'requeue', afterMs: RECHECK_MS };
  }
}

const RECHECK_MS = 15_000;

/** With milliseconds, so that two refreshes within one second differ. */
function formatTime(ms: number): string {
  return formatRfc3339(instantFromEpochMs(ms)).replace(
    'Z',
    `.${String(Math.floor(ms) % 1000).padStart(3, '0')}Z`,
  );
}
