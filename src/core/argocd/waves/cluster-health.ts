import { epochMsOf, parseRfc3339 } from '@berth/kube/model/rfc3339';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { Application } from '../argocd-kinds.ts';
import { withoutSlash } from '../cluster-secrets/cluster-secret.ts';
import { pullCluster } from '../pull/pull-target.ts';

/** The health of one cluster, from the Applications of an ApplicationSet. Unknown counts as not healthy. */
export type ClusterHealth =
  | {
      readonly kind: 'healthy';
      /** The start of this state, as Argo CD reports it; milliseconds since the epoch. */
      readonly sinceMs: number | undefined;
    }
  | {
      /** `progressing`: no failure so far. */
      readonly kind: 'progressing' | 'failing';
      /** A description: `Application web-c1 is Degraded`. */
      readonly why: string;
    };

/**
 * The worst health of all Applications of one cluster.
 * @param applications at least one
 */
export function clusterHealth(applications: readonly Application[]): ClusterHealth {
  const all = applications.map(applicationHealth);
  const worst = all.find(({ kind }) => kind === 'failing') ?? all.find(({ kind }) => kind === 'progressing');
  if (worst !== undefined) return worst;
  const times = all.map((health) => (health.kind === 'healthy' ? health.sinceMs : undefined));
  return { kind: 'healthy', sinceMs: latest(times) };
}

/**
 * An Application counts as healthy if it is Healthy and Synced, its last operation succeeded, and this status is about
 * its current source. RollingSync of the ApplicationSet controller checks the first two (argo-cd
 * `applicationset/progressivesync`).
 */
function applicationHealth({ metadata, spec, status }: Application): ClusterHealth {
  const notHealthy = (kind: 'progressing' | 'failing', what: string): ClusterHealth => ({
    kind,
    why: `Application ${metadata.name} ${what}`,
  });
  if (metadata.deletionTimestamp !== undefined) return notHealthy('progressing', 'is being deleted');
  const { health, sync, operationState } = status ?? {};
  if (health?.status === undefined || sync?.status === undefined)
    return notHealthy('progressing', 'has no status yet');
  if (operationState?.phase === 'Failed' || operationState?.phase === 'Error')
    return notHealthy('failing', `failed to sync: ${operationState.message ?? operationState.phase}`);
  if (health.status !== 'Healthy')
    return notHealthy(IN_PROGRESS.includes(health.status) ? 'progressing' : 'failing', `is ${health.status}`);
  if (sync.status !== 'Synced')
    return notHealthy(sync.status === 'OutOfSync' ? 'progressing' : 'failing', `is ${sync.status}`);
  if (operationState?.phase !== undefined && operationState.phase !== 'Succeeded')
    return notHealthy('progressing', 'is being synced');
  if (!isOfThisSource(spec, sync.comparedTo))
    return notHealthy('progressing', 'was not compared with its new source yet');
  const since = timeOf(health.lastTransitionTime);
  // Without the first time, the start of the health is unknown.
  return {
    kind: 'healthy',
    sinceMs: since === undefined ? undefined : Math.max(since, timeOf(operationState?.finishedAt) ?? since),
  };
}

const IN_PROGRESS: readonly string[] = ['Progressing', 'Missing'];

/** The pull model reports no source, so its report is accepted. */
function isOfThisSource(
  spec: Application['spec'],
  comparedTo: Readonly<Record<string, unknown>> | undefined,
): boolean {
  if (comparedTo === undefined) return true;
  const key = spec?.['sources'] === undefined ? 'source' : 'sources';
  return jsonEqual(spec?.[key], comparedTo[key]);
}

function timeOf(text: string | undefined): number | undefined {
  const time = text === undefined ? undefined : parseRfc3339(text);
  return time === undefined ? undefined : epochMsOf(time);
}

/** Undefined if one of them is. */
function latest(times: readonly (number | undefined)[]): number | undefined {
  let last: number | undefined;
  for (const time of times) {
    if (time === undefined) return undefined;
    last = Math.max(last ?? time, time);
  }
  return last;
}

export interface ApplicationsByCluster {
  /** By name of the ManagedCluster. */
  readonly byCluster: ReadonlyMap<string, readonly Application[]>;
  /** Names of Applications whose destination is no known cluster. */
  readonly unassigned: readonly string[];
}

/** The ManagedCluster of each Application of an ApplicationSet: the one that pulls it, or its destination. */
export function applicationsByCluster(
  applications: readonly Application[],
  clusters: () => readonly ManagedCluster[],
): ApplicationsByCluster {
  let servers: ReadonlyMap<string, string | undefined> | undefined;
  const clusterAt = (server: unknown): string | undefined =>
    typeof server === 'string'
      ? (servers ??= clustersByServer(clusters())).get(withoutSlash(server))
      : undefined;
  const byCluster = new Map<string, Application[]>();
  const unassigned: string[] = [];
  for (const application of applications) {
    const { name, server } = application.spec?.destination ?? {};
    const cluster = pullCluster(application) ?? textOf(name) ?? clusterAt(server);
    if (cluster === undefined) unassigned.push(application.metadata.name);
    else {
      const others = byCluster.get(cluster);
      if (others === undefined) byCluster.set(cluster, [application]);
      else others.push(application);
    }
  }
  return { byCluster, unassigned: unassigned.sort() };
}

/** An address of two clusters identifies neither. */
function clustersByServer(clusters: readonly ManagedCluster[]): ReadonlyMap<string, string | undefined> {
  const servers = new Map<string, string | undefined>();
  for (const { metadata, spec } of clusters)
    for (const { url } of spec?.managedClusterClientConfigs ?? []) {
      if (url === undefined) continue;
      const server = withoutSlash(url);
      const known = servers.get(server);
      servers.set(server, servers.has(server) && known !== metadata.name ? undefined : metadata.name);
    }
  return servers;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
