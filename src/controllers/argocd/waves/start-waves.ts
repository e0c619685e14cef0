import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { mayBeAllowedLater } from '@berth/kube/transport/kube-errors';
import type { Clock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import { runReconciler, DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { WorkQueue } from '@berth/runtime/loop/work-queue';
import { APPLICATION_SET } from '../../../core/argocd/argocd-kinds.ts';
import { hostingSet } from '../../../core/argocd/pull/pull-target.ts';
import { type HeldWaves, planWaveStates, type WaveStatePlan } from '../../../core/argocd/waves/plan-waves.ts';
import type { WaveReading, WavesRequest } from '../../../core/argocd/waves/served-waves.ts';
import {
  parseWaves,
  renderWaves,
  type WaveEvent,
  WAVES_ANNOTATION,
  type WaveStates,
} from '../../../core/argocd/waves/wave-state.ts';
import type { PublishedPlacements } from '../../../core/publish/pages/published-placements.ts';
import { refusedKindText } from '@berth/kube/cache/reflector-options';
import { SERVE_RIGHTS } from '../../../core/rbac/rights-command.ts';
import { WaveView, type WaveViewOptions } from './wave-view.ts';

export interface WavesOptions extends WaveViewOptions {
  readonly hub: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly published: PublishedPlacements;
  /** Awaited before each write. Default: no wait. */
  readonly mayBegin?: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly onWaves?: ((event: WaveEvent) => void) | undefined;
  readonly onError?: ((key: string, error: unknown) => void) | undefined;
}

export interface RunningWaves {
  /** The waves that are served to an ApplicationSet, as its annotation records them. */
  readWaves(request: WavesRequest): WaveReading;
  held(): readonly HeldPlacementWaves[];
  /** What fails, or needs somebody to act, as text for users. */
  warnings(): readonly string[];
  close(): Promise<void>;
}

/** Applications change their status one after the other. Changes within this time are handled together. */
const GATHER_MS = 100;
/** A wave that takes longer is reported, so that somebody looks at it. */
const SLOW_MS = 15 * 60_000;

/**
 * Assigns a wave to each cluster that an ApplicationSet takes in waves, and serves a wave when the previous one is
 * healthy. The leader plans and writes; every process answers from what is written.
 */
export function startWaves(options: WavesOptions): RunningWaves {
  const { clock, random, log, mayBegin, onError, published } = options;
  const supervisor = new Supervisor({ clock, random, log });
  const view = new WaveView(options);
  const writer = new WaveWriter({ ...options, view });
  const queue = new WorkQueue(clock);
  const addAll = (keys: readonly string[]): void => keys.forEach((key) => queue.add(key));
  published.onChange((placement) => addAll(view.setsWithWaves(placement)));
  view.configMaps.store.onChange(() => addAll(view.setsWithWaves()));
  view.applicationSets.store.onChange(({ key, after }) => {
    if (after === undefined) return writer.forget(key);
    writer.note(key, after);
    queue.add(key);
  });
  view.applications.store.onChange(({ before, after }) => {
    for (const object of [before, after]) {
      const key = object === undefined ? undefined : hostingSet(object.metadata);
      const set = key === undefined ? undefined : view.applicationSet(key);
      if (key !== undefined && set !== undefined && view.usesOf(set).rules.size > 0)
        queue.addAfter(key, GATHER_MS);
    }
  });
  supervisor.start('waves of ApplicationSets', async (signal) => {
    // Until all Applications are known, a cluster that has one looks like a new cluster.
    await Promise.all(view.reflectors.map((reflector) => reflector.whenSynced(signal)));
    addAll(view.setsWithWaves());
    await runReconciler(
      {
        ...{ clock, random, log, mayBegin, ...(onError && { onError }) },
        name: 'waves of ApplicationSets',
        queue,
        concurrency: 2,
        isRetryable: mayBeAllowedLater,
        reconcile: (key) => writer.reconcile(key),
      },
      signal,
    );
  });
  return {
    readWaves: (request) => view.readWaves(request),
    held: () => writer.held(),
    warnings: () =>
      [...refusals(view), ...writer.problems(), ...heldTexts(writer, clock.now())].map(
        (text) => `argocd: ${text}`,
      ),
    close: () => supervisor.close(),
  };
}

function refusals(view: WaveView): readonly string[] {
  return [view.applicationSets, view.applications, view.configMaps].flatMap(({ kind, failure }) =>
    failure === undefined
      ? []
      : [`${refusedKindText(kind, failure, SERVE_RIGHTS)}; until then no further wave is served`],
  );
}

/** A wave that soaks, or whose Applications have just started, needs nobody to act. */
function heldTexts(writer: WaveWriter, nowMs: number): readonly string[] {
  return writer
    .held()
    .filter(
      ({ reason, sinceMs }) =>
        reason === 'failing' || (reason === 'progressing' && nowMs - sinceMs >= SLOW_MS),
    )
    .map(
      ({ applicationSet, placement, message }) =>
        `ApplicationSet ${applicationSet}, placement ${placement}: ${message}`,
    );
}

interface WaveWriterOptions {
  readonly hub: KubeApi;
  readonly clock: Clock;
  readonly published: PublishedPlacements;
  readonly view: WaveView;
  readonly onWaves?: ((event: WaveEvent) => void) | undefined;
}

/** The waves of one placement that are held now. */
interface HeldPlacementWaves extends HeldWaves {
  readonly applicationSet: string;
  readonly placement: string;
  /** Since when the reason has been the same; milliseconds since the epoch. */
  readonly sinceMs: number;
}

interface Memory {
  readonly uid: string | undefined;
  /** What this process last saw written. It is kept because a user may remove the annotation. */
  readonly states: WaveStates | undefined;
  readonly held: readonly HeldPlacementWaves[];
  readonly problems: readonly string[];
}

const FIELD_MANAGER = 'berth-argocd';

/** The hub does not notify Berth when it answers again. */
const UNKNOWN_RECHECK_MS = 15_000;

/** Plans the waves of ApplicationSets, one at a time, and writes them to the ApplicationSet. */
class WaveWriter {
  readonly #options: WaveWriterOptions;
  readonly #memory = new Map<string, Memory>();

  constructor(options: WaveWriterOptions) {
    this.#options = options;
  }

  held(): readonly HeldPlacementWaves[] {
    return [...this.#memory.values()].flatMap(({ held }) => held);
  }

  /** What a user has to correct, as sentences. */
  problems(): readonly string[] {
    return [...this.#memory].flatMap(([key, { problems }]) =>
      problems.map((problem) => `waves of ApplicationSet ${key}: ${problem}`),
    );
  }

  forget(key: string): void {
    this.#memory.delete(key);
  }

  /**
   * Stores the waves of an ApplicationSet, which another process may have written. It is used even if a user removes
   * the annotation later.
   */
  note(key: string, { metadata }: KubeObject): void {
    const text = metadata.annotations?.[WAVES_ANNOTATION];
    const states = text === undefined ? undefined : parseWaves(text);
    if (states === undefined) return;
    const known = this.#knownOf(key, metadata.uid);
    this.#memory.set(key, { held: [], problems: [], ...known, uid: metadata.uid, states });
  }

  async reconcile(key: string): Promise<ReconcileOutcome> {
    const { view, published, clock } = this.#options;
    const object = view.applicationSet(key);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined || !published.complete)
      return DONE;
    const uses = view.usesOf(object);
    const written = object.metadata.annotations?.[WAVES_ANNOTATION];
    if (uses.rules.size + uses.refused.size === 0) {
      this.forget(key);
      if (written !== undefined) await this.#write(object, null);
      return DONE;
    }
    const healthProblem = view.healthProblem();
    const known = this.#knownOf(key, object.metadata.uid);
    const plan = planWaveStates({
      ...uses,
      before: (written === undefined ? undefined : parseWaves(written)) ?? known?.states,
      publishedOf: (placement) => published.get(placement),
      applications: view.applicationsOf(object),
      healthProblem,
      nowMs: clock.now(),
    });
    const text = renderWaves(plan.states);
    const tooLong =
      text === undefined ? ['they are longer than an annotation may be: use fewer clusters'] : [];
    if (text !== undefined && text !== written && plan.states.size > 0) await this.#write(object, text);
    this.#remember(key, object, { ...plan, problems: [...plan.problems, ...tooLong] });
    if (plan.held.size === 0) return DONE;
    const waits = [plan.againAfterMs, healthProblem === undefined ? undefined : UNKNOWN_RECHECK_MS];
    const afterMs = Math.min(...waits.map((ms) => ms ?? Infinity));
    return afterMs === Infinity ? DONE : { kind: 'requeue', afterMs: Math.ceil(afterMs) };
  }

  /** Nothing is written if the version differs from the one that was read: the next pass reads it again. */
  async #write({ metadata }: KubeObject, text: string | null): Promise<void> {
    const { name, namespace = '', uid, resourceVersion } = metadata;
    await this.#options.hub.mergePatch(
      APPLICATION_SET,
      { namespace, name },
      { metadata: { uid, resourceVersion, annotations: { [WAVES_ANNOTATION]: text } } },
      { fieldManager: FIELD_MANAGER, metadataOnly: true },
    );
  }

  #remember(key: string, { metadata }: KubeObject, { states, held, opened, problems }: WaveStatePlan): void {
    const { clock, onWaves } = this.#options;
    const before = this.#knownOf(key, metadata.uid);
    const applicationSet = namespacedName(metadata);
    const now = [...held].map(([placement, one]): HeldPlacementWaves => {
      const same = before?.held.find(
        (earlier) => earlier.placement === placement && isSameHold(earlier, one),
      );
      return { ...one, applicationSet, placement, sinceMs: same?.sinceMs ?? clock.now() };
    });
    this.#memory.set(key, { uid: metadata.uid, states, held: now, problems });
    for (const [placement, served] of opened) {
      const one = now.find((hold) => hold.placement === placement);
      const earlier = before?.held.find((hold) => hold.placement === placement);
      const isChanged =
        one === undefined ? earlier !== undefined : earlier === undefined || !isSameHold(earlier, one);
      if (served.length === 0 && !isChanged) continue;
      const { clusters = [], message } = one ?? {};
      onWaves?.({ applicationSet, placement, served, waiting: clusters.length, message });
    }
  }

  /** An ApplicationSet that was deleted and created again counts as another one. */
  #knownOf(key: string, uid: string | undefined): Memory | undefined {
    const known = this.#memory.get(key);
    return known?.uid === uid ? known : undefined;
  }
}

function isSameHold(a: HeldWaves, b: HeldWaves): boolean {
  return a.wave === b.wave && a.waitsFor === b.waitsFor && a.reason === b.reason;
}
