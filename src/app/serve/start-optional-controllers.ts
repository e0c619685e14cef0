import type { ObjectCache } from '@berth/kube/cache/object-cache';
import { CLUSTER_MANAGEMENT_ADDON, MANAGED_CLUSTER, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { ConflictError } from '@berth/runtime/errors';
import { sha256 } from '@berth/runtime/sha256';
import type { RunningAdmission } from '../../controllers/admission/start-admission-webhooks.ts';
import { startAddOnManager } from '../../controllers/addons/start-addon-manager.ts';
import { startClusterSecrets } from '../../controllers/argocd/cluster-secrets/start-cluster-secrets.ts';
import { HubRemovals } from '../../controllers/argocd/pull/hub-removals.ts';
import {
  type PullController,
  startPullController,
} from '../../controllers/argocd/pull/start-pull-controller.ts';
import { startRefresh } from '../../controllers/argocd/refresh/start-refresh.ts';
import { type RunningWaves, startWaves } from '../../controllers/argocd/waves/start-waves.ts';
import type { ControllerEventBody } from '../../controllers/events/controller-events.ts';
import { watchUnattended } from '../../controllers/events/unattended-objects.ts';
import type { PublishPipeline } from '../../controllers/publication/publish-pipeline.ts';
import { startDecisionSlices } from '../../controllers/publication/start-decision-slices.ts';
import type { UpstreamDecisions } from '../../controllers/publication/upstream-decisions.ts';
import type { CommitsInProgress } from '../../controllers/sources/progress/commit-barrier.ts';
import { DEFAULT_STALE_AFTER_MS, placementOfWork } from '../../controllers/inventory/hub-inventory.ts';
import type { RunningControllers } from '@berth/kube/controller/run-controllers';
import {
  type RunningRegistration,
  startRegistration,
} from '../../controllers/registration/start-registration.ts';
import { heldRemoval } from '../../core/addon/install/held-removal.ts';
import { DEFAULT_REMOVAL_BUDGET, type RemovalMemory } from '../../core/publish/judge/removal-budget.ts';
import type { PublishedPlacements } from '../../core/publish/pages/published-placements.ts';
import type { RegistrationEvent } from '../../core/registration/duties.ts';
import { DEFAULT_NAMESPACE } from '../../core/sync/apply-set.ts';
import { clusterSteps, leaseExpired, workSteps } from '../../core/timeline/timeline.ts';
import { type ServeOptions, decidedPlacements } from '../settings/serve-options.ts';
import type { ControllerState } from './controller-state.ts';
import type { ControllerMetrics } from './http/controller-metrics.ts';

/** Starts the optional controllers: Argo CD, registration, add-ons and admission. */
export function startOptionalControllers(
  parts: Parameters<typeof startArgocd>[0] &
    Omit<Parameters<typeof startHubRegistration>[0], 'onEvent' | 'pull'> &
    Parameters<typeof recordTimeline>[0] &
    Parameters<typeof startAddOns>[0] &
    Parameters<typeof startAdmission>[0],
): ReturnType<typeof startArgocd> & Pick<RunningRegistration, 'overdue'> & HeldAddOns {
  const argocd = startArgocd(parts);
  const registration = startHubRegistration({ ...parts, pull: argocd.pull, onEvent: recordTimeline(parts) });
  const others = [
    registration,
    startAddOns(parts),
    startAdmission(parts),
    startSlices(parts),
    startUnattended(parts),
  ].filter((one) => one !== undefined);
  return {
    pull: argocd.pull,
    waves: argocd.waves,
    overdue: () => registration?.overdue() ?? [],
    heldAddOns: () => heldAddOns(parts),
    warnings: () => [argocd, ...others].flatMap((one) => [...one.warnings()]),
    close: async () => void (await Promise.all([argocd, ...others].map((one) => one.close()))),
  };
}

interface HeldAddOns {
  /** How many add-ons clusters keep because their removal is held. */
  readonly heldAddOns: () => number;
}

interface RunningArgocd {
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
function startArgocd(parts: {
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

/** Starts the pull model of Argo CD, if enabled. */
function startPull(parts: {
  readonly options: ServeOptions;
  readonly emit: (event: ControllerEventBody) => void;
  readonly cache: ObjectCache;
  readonly state: Pick<ControllerState, 'pullRemovals'>;
}): PullController | undefined {
  const { options, emit, cache, state } = parts;
  const { api, clock, log, random, leadership, budget = DEFAULT_REMOVAL_BUDGET } = options;
  if (options.argocd?.pull !== true) return undefined;
  return startPullController({
    ...{ hub: api, cache, clock, log, random, budget },
    digest: sha256,
    removals: removalMemory(options, state),
    mayBegin: async (signal) => leadership?.whenHeld(signal),
    onWrite: (written) => emit({ kind: 'pulled-work-written', ...written }),
    onHeld: (held) => emit({ kind: 'pull-held', ...held }),
    onError: (key, error) => {
      // A conflict: the object is read and decided again immediately.
      if (!(error instanceof ConflictError)) emit({ kind: 'error', where: `pull model ${key}`, error });
    },
  });
}

/**
 * On an embedded hub the data directory is as safe as the hub. On any other hub, another leader has another directory,
 * so removals are stored on the hub.
 */
function removalMemory(
  { embedded, api: hub, clock }: ServeOptions,
  { pullRemovals: file }: Pick<ControllerState, 'pullRemovals'>,
): RemovalMemory {
  if (embedded !== true) return new HubRemovals({ hub, clock, digest: sha256 });
  return {
    read: (group) => Promise.resolve(file.get(group) ?? []),
    persist: (group, removals) => file.persist(group, removals),
  };
}

/** Starts the hub's side of registration, if enabled. */
function startHubRegistration(parts: {
  readonly options: ServeOptions;
  readonly emit: (event: ControllerEventBody) => void;
  readonly cache: ObjectCache;
  readonly onEvent: (event: RegistrationEvent) => void;
  readonly pull: Pick<PullController, 'leavingOn'> | undefined;
}): RunningRegistration | undefined {
  const { options, emit, cache, onEvent, pull } = parts;
  const { api: hub, log, random, leadership, registration } = options;
  if (registration === undefined) return undefined;
  const { duties, autoAcceptance, clock } = registration;
  return startRegistration(
    {
      ...{ hub, cache, clock, log, random, autoAcceptance },
      decides: decidedPlacements(options),
      holdsOfPull: (cluster) => pull?.leavingOn(cluster) ?? [],
      mayBegin: async (signal) => leadership?.whenHeld(signal),
      onEvent: (event) => {
        onEvent(event);
        emit({ kind: 'registration', ...event });
      },
      onError: (key, error) => emit({ kind: 'error', where: `registration ${key}`, error }),
    },
    duties,
  );
}

/** Starts the manager of add-ons, if enabled. Plans read from the hub what it removed and holds. */
function startAddOns(parts: {
  readonly options: ServeOptions;
  readonly emit: (event: ControllerEventBody) => void;
  readonly cache: ObjectCache;
  readonly publishedPlacements: PublishedPlacements;
  readonly arriving: Pick<CommitsInProgress, 'areAny'>;
  readonly decider: Pick<PublishPipeline | UpstreamDecisions, 'isBusy'>;
}): RunningControllers | undefined {
  const { options, emit, cache, publishedPlacements: published, arriving, decider } = parts;
  const { api: hub, log, random, leadership, addons, budget = DEFAULT_REMOVAL_BUDGET } = options;
  if (addons === undefined) return undefined;
  return startAddOnManager(
    {
      ...{ hub, cache, clock: addons.clock, log, random, published, budget },
      isFollowing: () => arriving.areAny || decider.isBusy,
      decides: decidedPlacements(options),
      digest: sha256,
      removals: new HubRemovals({ hub, clock: options.clock, digest: sha256 }),
      mayBegin: async (signal) => leadership?.whenHeld(signal),
      onEvent: (event) => emit({ kind: 'add-on', ...event }),
      onError: (key, error) => emit({ kind: 'error', where: `add-ons ${key}`, error }),
    },
    addons.duties,
  );
}

/** Starts the writing of decisions for tools of the multicluster SIG, if enabled. */
function startSlices({
  options,
  emit,
  ...parts
}: Pick<Parameters<typeof startAddOns>[0], 'options' | 'emit' | 'cache' | 'publishedPlacements'>):
  | RunningArgocd
  | undefined {
  const { api: hub, clock, log, random, leadership, multiclusterDecisions } = options;
  if (multiclusterDecisions !== true) return undefined;
  return startDecisionSlices({
    ...{ hub, cache: parts.cache, published: parts.publishedPlacements, clock, log, random },
    mayBegin: async (signal) => leadership?.whenHeld(signal),
    onError: (key, error) => {
      // A conflict: the slices are read and written again immediately.
      if (!(error instanceof ConflictError)) emit({ kind: 'error', where: `decision slices ${key}`, error });
    },
  });
}

/** Says on which objects nothing acts. What only reads the hub says nothing. */
function startUnattended({
  options,
  cache,
}: {
  readonly options: ServeOptions;
  readonly cache: ObjectCache;
}): RunningArgocd | undefined {
  const { api: hub, clock, random, log, leadership, addons, argocd } = options;
  const decides = decidedPlacements(options);
  if (decides === 'none') return undefined;
  return watchUnattended({
    ...{ hub, cache, clock, random, log, decides },
    looksAtGitOps: addons?.duties.includes('install') === true && argocd?.clusterSecrets !== true,
    mayBegin: async (signal) => leadership?.whenHeld(signal),
  });
}

function heldAddOns({
  options,
  cache,
}: {
  readonly options: Pick<ServeOptions, 'addons'>;
  readonly cache: ObjectCache;
}): number {
  if (options.addons === undefined) return 0;
  const { store } = cache.of(CLUSTER_MANAGEMENT_ADDON);
  return store.list().filter((object) => heldRemoval(object) !== undefined).length;
}

/**
 * Records changes of clusters and of works of placements, for `berth history --timeline`. The
 * initial state is not recorded.
 * @returns a listener for registration events
 */
function recordTimeline({
  options: { clock },
  cache,
  state: { timeline },
}: {
  readonly options: Pick<ServeOptions, 'clock'>;
  readonly cache: ObjectCache;
  readonly state: Pick<ControllerState, 'timeline'>;
}): (event: RegistrationEvent) => void {
  const [clusters, works] = [cache.of(MANAGED_CLUSTER), cache.of(MANIFEST_WORK)];
  const now = (): string => new Date(clock.now()).toISOString();
  clusters.store.onChange(({ before, after }) => {
    if (before === undefined || after === undefined) return;
    const pair = [before, after] as unknown as [ManagedCluster, ManagedCluster];
    for (const step of clusterSteps(...pair, now())) timeline.append(step);
  });
  works.store.onChange(({ before, after }) => {
    const placement = placementOfWork((after ?? before)?.metadata ?? {});
    if (placement === undefined || !works.synced) return;
    const change = { before, after } as unknown as Parameters<typeof workSteps>[0];
    for (const step of workSteps(change, { placement, at: now() })) timeline.append(step);
  });
  return (event) => {
    if (event.action !== 'unreachable') return;
    const found = clusters.store.get(event.cluster) as ManagedCluster | undefined;
    if (found !== undefined) timeline.append(leaseExpired(found, new Date(event.gaveUpAtMs).toISOString()));
  };
}

/** Starts the admission webhooks of OCM's rules, if enabled. Loaded on demand. */
function startAdmission(parts: {
  readonly options: ServeOptions;
  readonly metrics: Pick<ControllerMetrics, 'reviewed'>;
}): Pick<RunningAdmission, 'warnings' | 'close'> | undefined {
  const { options, metrics } = parts;
  const { api: hub, clock, random, log, leadership, namespace = DEFAULT_NAMESPACE, admission } = options;
  if (admission === undefined) return undefined;
  let running: RunningAdmission | undefined;
  let isClosed = false;
  const started = import('../../controllers/admission/start-admission-webhooks.ts').then(
    ({ startAdmissionWebhooks }) => {
      if (isClosed) return;
      running = startAdmissionWebhooks({
        ...{ hub, clock, random, log, namespace },
        ...admission,
        mayWrite: () => leadership?.isHeld !== false,
        onResponse: (verdict) => metrics.reviewed(verdict),
      });
    },
  );
  return {
    warnings: () => running?.warnings() ?? [],
    close: async () => {
      isClosed = true;
      await started;
      await running?.close();
    },
  };
}
