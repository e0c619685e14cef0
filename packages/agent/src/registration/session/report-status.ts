import { randomBytes } from 'node:crypto';
import { Reflector } from '@berth/kube/cache/reflector';
import { findCondition, setCondition } from '@berth/kube/model/condition-list';
import {
  MANAGED_CLUSTER,
  EVENT,
  NAMESPACE,
  apiVersionOf,
  CLUSTER_CLAIM,
  CLUSTER_PROPERTY,
  type KindInfo,
  NODE,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { probeHealth, serverVersion } from '@berth/kube/probe-server';
import type { ManagedCluster, ManagedNamespaceStatus } from '@berth/ocm/kind/managed-cluster';
import { AVAILABLE, clusterEvent } from '@berth/ocm/registration/cluster-conditions';
import { errorText } from '@berth/runtime/errors';
import { sha256 } from '@berth/runtime/sha256';
import { reportedClaims, type ReportedClaims } from '../../rules/registration/cluster-claims.ts';
import {
  managedNamespaceLabel,
  namespaceCondition,
  namespacesGivenUp,
} from '../../rules/registration/managed-namespaces.ts';
import {
  type ClusterObservation,
  HEALTH_RECHECK_MS,
  type HealthMemory,
  type HealthVerdict,
  isAccepted,
  judgeHealth,
  nextStatus,
  type NodeResources,
} from '../../rules/registration/next-status.ts';
import type { ManagedApi, RegistrationSettings } from '../options/registration-settings.ts';

export interface StatusReportOptions {
  readonly hub: KubeApi;
  readonly cluster: ManagedApi;
  readonly clusterName: string;
  /** The server of the bootstrap kubeconfig. */
  readonly hubServer: string;
  readonly settings: RegistrationSettings;
  /** Called when something about the cluster changed. */
  readonly onChange: () => void;
  /** The condition about the certificate, if there is one. */
  readonly certificate: () => Condition | undefined;
}

/** Without events, the status is checked at this interval. */
const RESYNC_MS = 60_000;
/** Events arrive in bursts. The API server is not probed again for each of them. */
const PROBE_FRESH_MS = 10_000;

/** Reports the state of the cluster to the hub: one patch, and only if something changed. */
export class StatusReport {
  readonly #options: StatusReportOptions;
  readonly #watched: WatchedKinds;
  readonly #events: ClusterEvents;
  #health: HealthMemory = { failingSinceMs: undefined };
  #probed:
    | { readonly atMs: number; readonly verdict: HealthVerdict; readonly version: string | undefined }
    | undefined;
  #lastCustomCount = 0;

  constructor(options: StatusReportOptions) {
    this.#options = options;
    this.#watched = new WatchedKinds(options.cluster, options.settings, options.onChange);
    this.#events = new ClusterEvents(options.hub, options.settings);
  }

  /** @returns when to check again, in milliseconds; undefined: when the hub accepts the cluster */
  async report(managed: ManagedCluster, signal: AbortSignal): Promise<number | undefined> {
    if (!isAccepted(managed)) return undefined;
    const { clock, random } = this.#options.settings;
    const now = formatRfc3339(instantFromEpochMs(clock.now()));
    const observed = await this.#observe(managed, now, signal);
    if (signal.aborted) return undefined;
    const status = nextStatus(managed, observed, now);
    if (status !== undefined) await this.#write(managed, status);
    return observed.health.kind === 'ok' ? RESYNC_MS * (0.9 + 0.2 * random()) : HEALTH_RECHECK_MS;
  }

  async ended(): Promise<void> {
    await this.#watched.ended();
  }

  async #observe(managed: ManagedCluster, now: string, signal: AbortSignal): Promise<ClusterObservation> {
    const { cluster, hubServer, certificate } = this.#options;
    const { verdict: health, version } = await this.#probe();
    const base = { health, certificate: certificate() };
    // If the server is not healthy, the other values that it returns are not reported.
    if (health.kind !== 'ok') return base;
    await this.#watched.refresh(signal);
    return {
      ...base,
      kubernetesVersion: version,
      nodes: this.#watched.nodes() as readonly NodeResources[] | undefined,
      claims: this.#claims(managed)?.claims,
      managedNamespaces: await applyNamespaces({ cluster, managed, hubServer, now }),
    };
  }

  #claims(managed: ManagedCluster): ReportedClaims | undefined {
    const { settings } = this.#options;
    const found = this.#watched.claims();
    if (found === undefined) return undefined;
    const reported = reportedClaims(found, settings.claims);
    const { customCount, unfit } = reported;
    if (customCount > settings.claims.maxCustom && customCount !== this.#lastCustomCount)
      this.#events.report(managed, 'CustomClusterClaimsTruncated', {
        type: 'Warning',
        note: `The number of custom cluster claims ${customCount} exceeds the limit ${settings.claims.maxCustom}; the rest is not reported`,
      });
    if (customCount !== this.#lastCustomCount && unfit.length > 0)
      settings.log.warn('claims are not reported: their name or value is empty or too long', {
        claims: unfit,
      });
    this.#lastCustomCount = customCount;
    return reported;
  }

  async #probe(): Promise<{ readonly verdict: HealthVerdict; readonly version: string | undefined }> {
    const { cluster, settings } = this.#options;
    const nowMs = settings.clock.monotonicMs();
    const last = this.#probed;
    if (last?.verdict.kind === 'ok' && nowMs - last.atMs < PROBE_FRESH_MS) return last;
    const { memory, verdict } = judgeHealth(this.#health, await probeHealth(cluster), nowMs);
    this.#health = memory;
    const version = verdict.kind === 'ok' ? await serverVersion(cluster) : undefined;
    this.#probed = { atMs: nowMs, verdict, version };
    return this.#probed;
  }

  async #write(managed: ManagedCluster, status: object): Promise<void> {
    const { hub, clusterName } = this.#options;
    const { uid, resourceVersion } = managed.metadata;
    const patch = { metadata: { uid, resourceVersion }, status };
    const written = await hub.mergePatch(MANAGED_CLUSTER, { namespace: '', name: clusterName }, patch, {
      subresource: 'status',
    });
    const [before, after] = [managed, written as unknown as ManagedCluster].map(
      ({ status: one }) => findCondition(one?.conditions, AVAILABLE)?.status,
    );
    if (before === after || after === undefined) return;
    const isUp = after === 'True';
    this.#events.report(managed, isUp ? 'Available' : 'Unavailable', {
      type: isUp ? 'Normal' : 'Warning',
      note:
        findCondition((written as unknown as ManagedCluster).status?.conditions, AVAILABLE)?.message ?? '',
    });
  }
}

/** Kinds that a cluster may lack are looked up again at this interval. */
const LOOKUP_INTERVAL_MS = 300_000;

/** What an agent reports about its cluster, kept up to date by watches: nodes, claims and properties. */
class WatchedKinds {
  readonly #cluster: KubeApi;
  readonly #settings: RegistrationSettings;
  readonly #onChange: () => void;
  readonly #reflectors = new Map<KindInfo, Reflector>();
  readonly #runs: Promise<void>[] = [];
  #lookedUpAtMs = -Infinity;

  constructor(cluster: KubeApi, settings: RegistrationSettings, onChange: () => void) {
    this.#cluster = cluster;
    this.#settings = settings;
    this.#onChange = onChange;
  }

  /** Starts to watch the kinds that the cluster serves. Waits for their first lists, but not for lists that are refused. */
  async refresh(signal: AbortSignal): Promise<void> {
    this.#watch(NODE, signal);
    const nowMs = this.#settings.clock.monotonicMs();
    if (nowMs - this.#lookedUpAtMs >= LOOKUP_INTERVAL_MS) {
      for (const kind of [CLUSTER_CLAIM, CLUSTER_PROPERTY])
        if (!this.#reflectors.has(kind) && (await this.#isServed(kind))) this.#watch(kind, signal);
      this.#lookedUpAtMs = nowMs;
    }
    await Promise.all(
      [...this.#reflectors.values()].map((reflector) => reflector.whenListedOrRefused(signal)),
    );
  }

  nodes(): readonly KubeObject[] | undefined {
    return this.#known(NODE);
  }

  /** Undefined if one of the kinds exists and could not be read. */
  claims():
    | { readonly claims: readonly KubeObject[]; readonly properties: readonly KubeObject[] }
    | undefined {
    const [claims, properties] = [CLUSTER_CLAIM, CLUSTER_PROPERTY].map((kind) =>
      this.#reflectors.has(kind) ? this.#known(kind) : [],
    );
    return claims === undefined || properties === undefined ? undefined : { claims, properties };
  }

  async ended(): Promise<void> {
    await Promise.all(this.#runs);
  }

  #known(kind: KindInfo): readonly KubeObject[] | undefined {
    const reflector = this.#reflectors.get(kind);
    return reflector?.synced === true ? reflector.store.list() : undefined;
  }

  async #isServed(kind: KindInfo): Promise<boolean> {
    return (await this.#cluster.resolve(apiVersionOf(kind), kind.kind)) !== undefined;
  }

  #watch(kind: KindInfo, signal: AbortSignal): void {
    if (this.#reflectors.has(kind)) return;
    const { clock, random, log } = this.#settings;
    const transform = kind === NODE ? reduceNode : undefined;
    const reflector = new Reflector({
      api: this.#cluster,
      kind,
      clock,
      random,
      log,
      ...(transform !== undefined && { transform }),
    });
    reflector.store.onChange(this.#onChange);
    this.#reflectors.set(kind, reflector);
    this.#runs.push(reflector.run(signal));
  }
}

/** There may be thousands of nodes, so only the fields that count are kept. */
function reduceNode({ apiVersion, kind, metadata, ...node }: KubeObject): KubeObject {
  const { name, uid, resourceVersion } = metadata;
  const { unschedulable } = (node['spec'] ?? {}) as { readonly unschedulable?: boolean };
  const { capacity, allocatable } = (node['status'] ?? {}) as Readonly<Record<string, unknown>>;
  return {
    apiVersion,
    kind,
    metadata: { name, uid, resourceVersion },
    spec: { unschedulable },
    status: { capacity, allocatable },
  };
}

/**
 * Writes Events about a ManagedCluster into its namespace on the hub. One that cannot be written is dropped, because
 * nothing depends on it.
 */
class ClusterEvents {
  readonly #hub: KubeApi;
  readonly #settings: RegistrationSettings;

  constructor(hub: KubeApi, settings: RegistrationSettings) {
    this.#hub = hub;
    this.#settings = settings;
  }

  report(
    cluster: ManagedCluster,
    reason: string,
    { type, note }: { readonly type: 'Normal' | 'Warning'; readonly note: string },
  ): void {
    const { name } = cluster.metadata;
    const { clock, log } = this.#settings;
    const event = clusterEvent(
      cluster,
      { type, reason, action: reason, note },
      {
        ...{ controller: 'berth-agent', instance: name },
        ...{ nowMs: clock.now(), suffix: randomBytes(8).toString('hex') },
      },
    );
    this.#hub.create(EVENT, event).catch((error: unknown) => {
      log.debug('an Event cannot be written', { cluster: name, reason, problem: errorText(error) });
    });
  }
}

interface NamespaceOptions {
  readonly cluster: KubeApi;
  readonly managed: ManagedCluster;
  /** The server of the bootstrap kubeconfig, unchanged. */
  readonly hubServer: string;
  /** RFC 3339, seconds. */
  readonly now: string;
}

/**
 * Creates the namespaces that the hub manages on the cluster, and marks with a label those that it no longer manages.
 * None is ever deleted.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/managedcluster/managed_namespace_reconcile.go`.
 * @returns the entries, each with its outcome
 */
async function applyNamespaces(options: NamespaceOptions): Promise<readonly ManagedNamespaceStatus[]> {
  const { cluster, managed, hubServer, now } = options;
  const label = managedNamespaceLabel(sha256(hubServer));
  const isLeaving = managed.metadata.deletionTimestamp !== undefined;
  const wanted = isLeaving ? [] : (managed.status?.managedNamespaces ?? []);
  const { items } = await cluster.list(NAMESPACE, { labelSelector: `${label}=true` });
  const labelledNames = new Set(items.map(({ metadata }) => metadata.name));
  const entries: ManagedNamespaceStatus[] = [];
  for (const entry of wanted) {
    const problem = labelledNames.has(entry.name)
      ? undefined
      : await problemOf(() => ensureLabelled(cluster, entry.name, label));
    entries.push({
      ...entry,
      conditions: setCondition(entry.conditions ?? [], namespaceCondition(problem), now),
    });
  }
  for (const name of namespacesGivenUp(wanted, items))
    await cluster.mergePatch(
      NAMESPACE,
      { namespace: '', name },
      { metadata: { labels: { [label]: 'false' } } },
    );
  return isLeaving ? (managed.status?.managedNamespaces ?? []) : entries;
}

async function ensureLabelled(cluster: KubeApi, name: string, label: string): Promise<void> {
  const key = { namespace: '', name };
  const labels = { [label]: 'true' };
  if ((await cluster.get(NAMESPACE, key)) === undefined)
    await cluster.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
  else await cluster.mergePatch(NAMESPACE, key, { metadata: { labels } });
}

async function problemOf(action: () => Promise<void>): Promise<string | undefined> {
  try {
    await action();
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}
