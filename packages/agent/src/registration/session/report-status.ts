import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Condition } from '@berth/kube/model/object-meta';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { AVAILABLE } from '@berth/ocm/registration/cluster-conditions';
import { reportedClaims, type ReportedClaims } from '../../rules/registration/cluster-claims.ts';
import type { NodeResources } from '../../rules/registration/cluster-resources.ts';
import {
  HEALTH_RECHECK_MS,
  type HealthMemory,
  type HealthVerdict,
  judgeHealth,
} from '../../rules/registration/judge-health.ts';
import { type ClusterObservation, isAccepted, nextStatus } from '../../rules/registration/next-status.ts';
import { findCondition } from '@berth/kube/model/condition-list';
import type { ManagedApi, RegistrationSettings } from '../options/registration-settings.ts';
import { applyNamespaces } from './apply-namespaces.ts';
import { ClusterEvents } from './cluster-events.ts';
import { serverVersion } from '@berth/kube/server-version';
import { probeServer } from './probe-server.ts';
import { WatchedKinds } from './watched-kinds.ts';

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
    const { memory, verdict } = judgeHealth(this.#health, await probeServer(cluster), nowMs);
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
