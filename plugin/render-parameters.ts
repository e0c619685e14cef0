import type { ManagedCluster } from '../src/core/model/kind/managed-cluster.ts';
import type { PluginRequest } from './plugin-request.ts';
import type { PluginPlacement, PluginSource } from './plugin-source.ts';

/** One item: every scalar is a string (Argo CD prints numbers as floats), and every item has the same keys. */
export interface PluginParameters {
  readonly name: string;
  readonly clusterName: string;
  readonly server: string;
  readonly placement: string;
  readonly placementName: string;
  readonly namespace: string;
  readonly decisionId: string;
  readonly group: string;
  readonly groupIndex: string;
  readonly wave: string;
  readonly rank: string;
  readonly score: string;
  readonly reason: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly claims: Readonly<Record<string, string>>;
}

/** The clusters of a placement as an ApplicationSet gets them, by name. */
export function renderParameters(
  request: PluginRequest,
  placement: PluginPlacement,
  source: PluginSource,
): readonly PluginParameters[] {
  const [namespace = '', placementName = ''] = request.placement.split('/');
  const chosen = placement.groups
    .filter((group) => request.group === undefined || group.name === request.group)
    .flatMap((group) => group.decisions.map((decision) => ({ group, decision })));
  const clusters = chosen.map(({ decision }) => source.cluster(decision.clusterName));
  const labelKeys = keysOf(request.labels, clusters.map(labelsOf));
  const claimKeys = keysOf(request.claims, clusters.map(claimsOf));
  return chosen
    .map(({ group, decision }, at) => ({
      name: decision.clusterName,
      clusterName: decision.clusterName,
      server: clusters[at]?.spec?.managedClusterClientConfigs?.[0]?.url ?? '',
      placement: request.placement,
      placementName,
      namespace,
      decisionId: placement.decisionId,
      group: group.name,
      groupIndex: String(group.index),
      wave: `w${group.index}`,
      rank: String(at + 1),
      score: decision.score === undefined ? '' : String(decision.score),
      reason: decision.reason ?? '',
      labels: fill(labelKeys, labelsOf(clusters[at])),
      claims: fill(claimKeys, claimsOf(clusters[at])),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function labelsOf(cluster: ManagedCluster | undefined): ReadonlyMap<string, string> {
  // Bookkeeping of the hub sync is nobody's parameter.
  return new Map(
    Object.entries(cluster?.metadata.labels ?? {}).filter(
      ([key]) => !key.startsWith('applyset.kubernetes.io/'),
    ),
  );
}

function claimsOf(cluster: ManagedCluster | undefined): ReadonlyMap<string, string> {
  return new Map((cluster?.status?.clusterClaims ?? []).map(({ name, value }) => [name, value]));
}

function keysOf(asked: readonly string[], maps: readonly ReadonlyMap<string, string>[]): readonly string[] {
  return [...new Set([...asked, ...maps.flatMap((map) => [...map.keys()])])].sort();
}

function fill(
  keys: readonly string[],
  values: ReadonlyMap<string, string>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(keys.map((key) => [key, values.get(key) ?? '']));
}
