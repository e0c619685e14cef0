import type { ObjectCache } from '@berth/kube/cache/object-cache';
import { startClusterSecrets } from '../../controllers/argocd/cluster-secrets/start-cluster-secrets.ts';
import { startRefresh } from '../../controllers/argocd/refresh/start-refresh.ts';
import { type RunningWaves, startWaves } from '../../controllers/argocd/waves/start-waves.ts';
import { DEFAULT_STALE_AFTER_MS } from '../../controllers/inventory/hub-inventory.ts';
import type { PullController } from '../../controllers/argocd/pull/start-pull-controller.ts';
import type { ControllerEventBody } from '../../controllers/events/controller-events.ts';
import type { PublishedPlacements } from '../../core/publish/pages/published-placements.ts';
import { ConflictError } from '@berth/runtime/errors';
import type { ServeOptions } from '../settings/serve-options.ts';
import type { ControllerState } from './controller-state.ts';
import { startPull } from './start-pull.ts';

export interface RunningArgocd {
  /** What fails at the moment, as text for users. */
  warnings(): readonly string[];
  close(): Promise<void>;
}

interface RunningDuties extends RunningArgocd {
  /** Undefined if the pull model of Argo CD is off. */
  readonly pull: PullController | undefined;
  /** Undefined if no ApplicationSet is served in waves. */
  readonly waves: RunningWaves | undefined;
}

/** Starts the controllers for Argo CD that are enabled. */
export function startArgocd(parts: {
  readonly options: ServeOptions;
  readonly emit: (event: ControllerEventBody) => void;
  readonly cache: ObjectCache;
  readonly publishedPlacements: PublishedPlacements;
  readonly state: Pick<ControllerState, 'pullRemovals'>;
}): RunningDuties {
  const pull = startPull(parts);
  const push = startPush(parts);
  const running = [...(pull === undefined ? [] : [pull]), ...push.running];
  return {
    pull,
    waves: push.waves,
    warnings: () => running.flatMap((one) => one.warnings()),
    close: async () => void (await Promise.all(running.map((one) => one.close()))),
  };
}

/** Starts what an Argo CD on the hub needs, which deploys to the clusters itself. */
function startPush(parts: Omit<Parameters<typeof startArgocd>[0], 'state'>): {
  readonly running: readonly RunningArgocd[];
  readonly waves: RunningWaves | undefined;
} {
  const { options, emit, cache, publishedPlacements: published } = parts;
  const { api: hub, clock, log, random, leadership, argocd } = options;
  if (argocd === undefined) return { running: [], waves: undefined };
  const shared = {
    ...{ hub, cache, clock, log, random, published },
    argocdNamespace: argocd.namespace,
    mayBegin: async (signal: AbortSignal): Promise<void> => leadership?.whenHeld(signal),
    onError: (key: string, error: unknown): void => {
      // A conflict: the object is read and decided again immediately.
      if (!(error instanceof ConflictError)) emit({ kind: 'error', where: `argocd ${key}`, error });
    },
  };
  const running: RunningArgocd[] = [];
  if (argocd.refresh)
    running.push(
      startRefresh({
        ...shared,
        pluginConfigMaps: argocd.pluginConfigMaps,
        perSecond: argocd.refreshesPerSecond,
        onRefresh: (event) => emit({ kind: 'application-set-refreshed', ...event }),
      }),
    );
  if (argocd.clusterSecrets)
    running.push(
      startClusterSecrets({
        ...shared,
        labels: argocd.clusterLabels,
        onWrite: (event) => emit({ kind: 'cluster-secret-written', ...event }),
      }),
    );
  const waves =
    argocd.waves !== true
      ? undefined
      : startWaves({
          ...shared,
          pluginConfigMaps: argocd.pluginConfigMaps,
          staleAfterMs: options.staleAfterMs ?? DEFAULT_STALE_AFTER_MS,
          onWaves: (event) => emit({ kind: 'application-set-waves', ...event }),
        });
  return { running: waves === undefined ? running : [...running, waves], waves };
}
