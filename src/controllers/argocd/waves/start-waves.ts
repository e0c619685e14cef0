import { mayBeAllowedLater } from '@berth/kube/transport/kube-errors';
import type { WaveReading, WavesRequest } from '../../../core/argocd/waves/served-waves.ts';
import type { WaveEvent } from '../../../core/argocd/waves/wave-event.ts';
import { hostingSet } from '../../../core/argocd/pull/pull-target.ts';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Logger } from '@berth/runtime/logger';
import type { PublishedPlacements } from '../../../core/publish/pages/published-placements.ts';
import { runReconciler } from '@berth/runtime/loop/reconciler';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { WorkQueue } from '@berth/runtime/loop/work-queue';
import { refusedKindText } from '../../inventory/refused-kind.ts';
import { WaveView, type WaveViewOptions } from './wave-view.ts';
import { type HeldPlacementWaves, WaveWriter } from './wave-writer.ts';

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
    failure === undefined ? [] : [`${refusedKindText(kind, failure)}; until then no further wave is served`],
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
