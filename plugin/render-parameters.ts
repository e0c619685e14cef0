import type { ManagedCluster } from '../src/core/model/kind/managed-cluster.ts';
import type { PluginRequest } from './plugin-request.ts';
import type { PluginPlacement, PluginSource } from './plugin-source.ts';

/**
 * The parameters of one cluster, which ApplicationSet templates use. docs/reference.md describes them. Every scalar is a string,
 * because Argo CD formats numbers as floats, and the items of one answer have the same keys.
 */
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

/**
 * Renders one item for each decided cluster of the placement, sorted by cluster name. With `request.group`, only the clusters of
 * that decision group.
 */
export function renderParameters(
  request: PluginRequest,
  placement: PluginPlacement,
  source: PluginSource,
): readonly PluginParameters[] {
  const [namespace = '', placementName = ''] = request.placement.split('/');
  const selected = placement.groups
    .filter((group) => request.group === undefined || group.name === request.group)
    .flatMap((group) => group.decisions.map((decision) => ({ group, decision })));
  const clusters = selected.map(({ decision }) => source.cluster(decision.clusterName));
  const labelKeys = unionOfKeys(request.labels, clusters.map(labelsOf));
  const claimKeys = unionOfKeys(request.claims, clusters.map(claimsOf));
  return selected
    .map(({ group, decision }, position) => ({
      name: decision.clusterName,
      clusterName: decision.clusterName,
      server: clusters[position]?.spec?.managedClusterClientConfigs?.[0]?.url ?? '',
      placement: request.placement,
      placementName,
      namespace,
      decisionId: placement.decisionId,
      group: group.name,
      groupIndex: String(group.index),
      wave: `w${group.index}`,
      rank: String(position + 1),
      score: decision.score === undefined ? '' : String(decision.score),
      reason: decision.reason ?? '',
      labels: valuesByKey(labelKeys, labelsOf(clusters[position])),
      claims: valuesByKey(claimKeys, claimsOf(clusters[position])),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function labelsOf(cluster: ManagedCluster | undefined): ReadonlyMap<string, string> {
  // The labels of the ApplySet are internal to the hub sync.
  return new Map(
    Object.entries(cluster?.metadata.labels ?? {}).filter(
      ([key]) => !key.startsWith('applyset.kubernetes.io/'),
    ),
  );
}

function claimsOf(cluster: ManagedCluster | undefined): ReadonlyMap<string, string> {
  return new Map((cluster?.status?.clusterClaims ?? []).map(({ name, value }) => [name, value]));
}

function unionOfKeys(
  requested: readonly string[],
  maps: readonly ReadonlyMap<string, string>[],
): readonly string[] {
  return [...new Set([...requested, ...maps.flatMap((map) => [...map.keys()])])].sort();
}

/** The values of the keys; '' for a key without a value. */
function valuesByKey(
  keys: readonly string[],
  values: ReadonlyMap<string, string>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(keys.map((key) => [key, values.get(key) ?? '']));
}
