import type { ObjectCache } from '@berth/kube/cache/object-cache';
import type { Reflector } from '@berth/kube/cache/reflector';
import { CONFIG_MAP, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { mayBeAllowedLater } from '@berth/kube/transport/kube-errors';
import type { Clock } from '@berth/runtime/clock/clock';
import { errorText } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import { DONE, type ReconcileOutcome, runReconciler } from '@berth/runtime/loop/reconciler';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { WaitList } from '@berth/runtime/loop/sleep';
import { WorkQueue } from '@berth/runtime/loop/work-queue';
import { sha256 } from '@berth/runtime/sha256';
import { APPLICATION_SET } from '../../../core/argocd/argocd-kinds.ts';
import {
  type DecisionUse,
  decisionUses,
  type GeneratorConfigs,
  generatorConfigs,
} from '../../../core/argocd/refresh/decision-use.ts';
import {
  planRefresh,
  REFRESH_ANNOTATION,
  REFRESHED_FOR_ANNOTATION,
  type SentRefresh,
} from '../../../core/argocd/refresh/plan-refresh.ts';
import { type SeenDecisions, seenDecisions } from '../../../core/argocd/refresh/seen-digest.ts';
import { servedText } from '../../../core/argocd/waves/served-waves.ts';
import type { PublishedPlacements } from '../../../core/publish/pages/published-placements.ts';
import { refusedKindText } from '@berth/kube/cache/reflector-options';
import { SERVE_RIGHTS } from '../../../core/rbac/rights-command.ts';
import { DecisionView } from '../../publication/decision-view.ts';

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
  /** How many refreshes a second are requested while Argo CD answers none, on average. Default: 10. */
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
/** By default Argo CD reconciles ten ApplicationSets at a time. Twice as many requests keep it busy. */
const DEFAULT_PER_SECOND = 10;
/** A request that is not answered within this time makes room for another one. */
const UNANSWERED_MS = 2_000;
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
    if (after?.metadata.annotations?.[REFRESH_ANNOTATION] === undefined) refresher.answered(key);
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
          : [
              `argocd: ${refusedKindText(kind, failure, SERVE_RIGHTS)}; until then no ApplicationSet is refreshed`,
            ],
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
  readonly #open: OpenRequests;
  readonly #signal: AbortSignal;
  readonly #sent = new Map<string, SentRefresh>();
  readonly #problems = new Map<string, string>();

  constructor(options: RefreshOptions, view: RefreshView, signal: AbortSignal) {
    this.#options = options;
    this.#view = view;
    this.#signal = signal;
    const { perSecond = DEFAULT_PER_SECOND } = options;
    this.#open = new OpenRequests(options.clock, (perSecond * UNANSWERED_MS) / 1_000);
  }

  get pending(): number {
    return [...this.#sent.values()].filter(({ confirmed }) => !confirmed).length;
  }

  warnings(): readonly string[] {
    return [...this.#problems].map(
      ([key, problem]) => `argocd: ApplicationSet ${key} is not refreshed: ${problem}`,
    );
  }

  /** Argo CD has taken the request, or there is none. */
  answered(key: string): void {
    this.#open.end(key);
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
    await this.#open.begin(key, this.#signal);
    const object = this.#view.applicationSet(key);
    if (this.#signal.aborted || object === undefined) {
      this.#open.end(key);
      return DONE;
    }
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
      this.#open.end(key);
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

/**
 * The requests that Argo CD has not answered yet, at most `limit` at a time. So they are made as fast as it answers, and it
 * never has a long queue of them.
 */
class OpenRequests {
  readonly #clock: Clock;
  readonly #limit: number;
  /** By ApplicationSet: cancels the timer that ends the request. */
  readonly #open = new Map<string, () => void>();
  readonly #waiting = new WaitList();

  constructor(clock: Clock, limit: number) {
    this.#clock = clock;
    this.#limit = limit;
  }

  /** Resolves when the request is open, or when the signal aborts. */
  begin(key: string, signal: AbortSignal): Promise<void> {
    this.end(key);
    return this.#waiting.until(() => {
      if (this.#open.size >= this.#limit) return false;
      this.#open.set(
        key,
        this.#clock.schedule(UNANSWERED_MS, () => this.end(key)),
      );
      return true;
    }, signal);
  }

  end(key: string): void {
    this.#open.get(key)?.();
    if (this.#open.delete(key)) this.#waiting.wake();
  }
}

/** With milliseconds, so that two refreshes within one second differ. */
function formatTime(ms: number): string {
  return formatRfc3339(instantFromEpochMs(ms)).replace(
    'Z',
    `.${String(Math.floor(ms) % 1000).padStart(3, '0')}Z`,
  );
}

interface RefreshViewOptions {
  readonly cache: ObjectCache;
  readonly published: PublishedPlacements;
  readonly argocdNamespace: string;
  /** Names of the ConfigMaps whose `baseUrl` is Berth. */
  readonly pluginConfigMaps: readonly string[];
}

/** Finds out which ApplicationSets read which published decisions, from the state in memory. */
class RefreshView {
  readonly applicationSets: Reflector;
  readonly configMaps: Reflector;
  readonly decisions: Reflector;
  readonly #options: RefreshViewOptions;
  readonly #pages: DecisionView;
  readonly #uses = new WeakMap<KubeObject, readonly DecisionUse[]>();
  #configs: GeneratorConfigs | undefined;

  constructor(options: RefreshViewOptions) {
    const { cache } = options;
    this.#options = options;
    this.applicationSets = cache.of(APPLICATION_SET);
    this.configMaps = cache.of(CONFIG_MAP);
    this.decisions = cache.of(PLACEMENT_DECISION);
    this.#pages = new DecisionView(this.decisions.store);
    this.configMaps.store.onChange(() => (this.#configs = undefined));
  }

  /** Names (`namespace/name`) of the ApplicationSets with a generator for decisions. */
  readers(): readonly string[] {
    return this.applicationSets.store
      .list()
      .filter((object) => this.#usesOf(object).length > 0)
      .map(({ metadata }) => namespacedName(metadata));
  }

  /** Names of the ApplicationSets that read this placement (`namespace/name`), if it is published. */
  readersOf(placement: string): readonly string[] {
    const published = this.#options.published.get(placement);
    if (published === undefined) return [];
    return this.applicationSets.store
      .list()
      .filter((object) => this.#seen(object, [published]).digest !== undefined)
      .map(({ metadata }) => namespacedName(metadata));
  }

  applicationSet(key: string): KubeObject | undefined {
    return this.applicationSets.store.get(key);
  }

  /** What the ApplicationSet reads from all published decisions. */
  seenBy(object: KubeObject): SeenDecisions {
    return this.#seen(object, this.#options.published.list());
  }

  #seen(object: KubeObject, published: Parameters<typeof seenDecisions>[1]): SeenDecisions {
    this.#configs ??= generatorConfigs(this.configMaps.store.list(), this.#options.pluginConfigMaps);
    const seen = seenDecisions(this.#usesOf(object), published, {
      configs: this.#configs,
      argocdNamespace: this.#options.argocdNamespace,
      pagesOf: (placement) => this.#pages.pagesOf(placement).map(({ metadata }) => metadata),
      digest: sha256,
    });
    const served = servedText(object.metadata.annotations);
    if (served === '' || seen.digest === undefined) return seen;
    // Generators get another response for the same decision when another wave is served.
    return { ...seen, digest: sha256(`${seen.digest} ${served}`).slice(0, 12) };
  }

  #usesOf(object: KubeObject): readonly DecisionUse[] {
    const known = this.#uses.get(object);
    if (known !== undefined) return known;
    const uses = decisionUses(object['spec']);
    this.#uses.set(object, uses);
    return uses;
  }
}
