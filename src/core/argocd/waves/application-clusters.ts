import type { Application } from '../argo-application.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { pullCluster } from '../pull/pull-target.ts';
import { withoutSlash } from '../cluster-secrets/known-secret.ts';

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
