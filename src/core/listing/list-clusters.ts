import { findCondition } from '@berth/kube/model/condition-list';
import type { ObjectMeta } from '@berth/kube/model/object-meta';
import type { AddOnConfigReference, ConfigReferent, ManagedClusterAddOnStatus } from '@berth/ocm/kind/addon';
import { CLUSTER_SET_LABEL, type ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManagedClusterSet, ManagedClusterSetBinding } from '@berth/ocm/kind/managed-cluster-set';
import { AVAILABLE, DELETING } from '@berth/ocm/registration/cluster-conditions';
import { MANAGED } from '../addon/install/missing-manager.ts';
import { REMOVAL_HELD } from '../registration/cluster-deletion.ts';
import type { Listed } from './listed.ts';

/**
 * The columns of `clusteradm get clusters`. Values that are not reported yet are empty cells. One more column has the reasons why
 * deletions are not done, where a cluster is being deleted.
 * Source: open-cluster-management.io/clusteradm `pkg/cmd/get/cluster`.
 */
export function listClusters(clusters: readonly ManagedCluster[]): Listed {
  const areDeleted = clusters.some((cluster) => deletionState(cluster) !== '');
  return {
    header: [...HEADER, ...(areDeleted ? ['DELETING'] : [])],
    rows: clusters.map((cluster) => {
      const { metadata, spec, status } = cluster;
      return [
        metadata.name,
        String(spec?.hubAcceptsClient ?? false),
        findCondition(status?.conditions, AVAILABLE)?.status ?? '',
        metadata.labels?.[CLUSTER_SET_LABEL] ?? '',
        String(status?.capacity?.['cpu'] ?? ''),
        String(status?.capacity?.['memory'] ?? ''),
        status?.version?.kubernetes ?? '',
        ...(areDeleted ? [deletionState(cluster)] : []),
      ];
    }),
  };
}

const HEADER = ['NAME', 'ACCEPTED', 'AVAILABLE', 'CLUSTERSET', 'CPU', 'MEMORY', 'KUBERNETES VERSION'];

/** `held (RemovalHeld)`; '' if nobody deletes the cluster. */
function deletionState({ metadata, status }: ManagedCluster): string {
  if (metadata.deletionTimestamp === undefined) return '';
  const reason = findCondition(status?.conditions, DELETING)?.reason;
  if (reason === REMOVAL_HELD) return `held (${reason})`;
  return reason ?? 'yes';
}

/**
 * The columns of `clusteradm get clustersets`.
 * Source: open-cluster-management.io/clusteradm `pkg/cmd/get/clusterset`.
 *
 * @param bindings of all namespaces
 */
export function listClusterSets(
  sets: readonly ManagedClusterSet[],
  bindings: readonly ManagedClusterSetBinding[],
): Listed {
  const namespaces = new Map<string, string[]>();
  for (const { metadata, spec } of bindings) {
    const set = spec?.clusterSet ?? metadata.name;
    namespaces.set(set, [...(namespaces.get(set) ?? []), metadata.namespace ?? '']);
  }
  return {
    header: ['NAME', 'BOUND NAMESPACES', 'STATUS'],
    rows: sets.map(({ metadata, status }) => [
      metadata.name,
      (namespaces.get(metadata.name) ?? []).sort().join(','),
      findCondition(status?.conditions, 'ClusterSetEmpty')?.message ?? '',
    ]),
  };
}

/** A ManagedClusterAddOn, in the namespace of its cluster. */
export interface ListedAddon {
  readonly metadata: ObjectMeta;
  readonly status?:
    | Pick<ManagedClusterAddOnStatus, 'conditions' | 'configReferences' | 'namespace'>
    | undefined;
}

/** What is known about add-ons on a hub. */
interface AddOnsOfHub {
  /** Of the add-ons to list, each once. */
  readonly names: readonly string[];
  readonly installed: readonly ListedAddon[];
  readonly clusters: readonly ManagedCluster[];
}

/**
 * Add-ons, the clusters on which each is available, and the others to which it was added, with the
 * reason. `clusteradm get addons` lists both as installed.
 */
export function listAddons(hub: AddOnsOfHub): Listed {
  return {
    header: ['NAME', 'AVAILABLE CLUSTERS', 'OTHER CLUSTERS'],
    rows: hub.names.map((name) => {
      const own = placesOf(hub, name);
      const available = own.filter(({ why }) => why === undefined).map(({ cluster }) => cluster);
      const others = own.flatMap(({ cluster, why }) => (why === undefined ? [] : [`${cluster} (${why})`]));
      return [name, available.join(','), others.join(', ')];
    }),
  };
}

/**
 * A row for each add-on of a cluster, with its configurations.
 * @param chosenBy who chose the clusters of an add-on, for display
 */
export function listAddonsWide(hub: AddOnsOfHub, chosenBy: (name: string) => string): Listed {
  return {
    header: ['NAME', 'CLUSTER', 'STATE', 'NAMESPACE', 'CONFIGURATION', 'CLUSTERS CHOSEN BY'],
    rows: hub.names.flatMap((name) => {
      const own = placesOf(hub, name);
      if (own.length === 0) return [[name, '', 'on no cluster', '', '', chosenBy(name)]];
      return own.map(({ cluster, why, addon: { status } }) => [
        name,
        cluster,
        why ?? 'available',
        status?.namespace ?? '',
        (status?.configReferences ?? []).flatMap(configurationText).join(', '),
        chosenBy(name),
      ]);
    }),
  };
}

interface Place {
  readonly cluster: string;
  readonly addon: ListedAddon;
  /** Undefined: the add-on is available. */
  readonly why: string | undefined;
}

function placesOf({ installed, clusters }: AddOnsOfHub, name: string): readonly Place[] {
  const byName = new Map(clusters.map((cluster) => [cluster.metadata.name, cluster]));
  return installed
    .filter(({ metadata }) => metadata.name === name)
    .map((addon) => {
      const cluster = addon.metadata.namespace ?? '';
      return { cluster, addon, why: whyNot(addon, byName.get(cluster)) };
    })
    .sort((a, b) => (a.cluster < b.cluster ? -1 : 1));
}

function configurationText({ desiredConfig, lastAppliedConfig }: AddOnConfigReference): readonly string[] {
  if (!desiredConfig) return [];
  const name = referentText(desiredConfig);
  if (lastAppliedConfig?.specHash === desiredConfig.specHash && referentText(lastAppliedConfig) === name)
    return [name];
  const had = lastAppliedConfig ? `, has ${referentText(lastAppliedConfig)}` : '';
  return [`${name} (not yet${had === `, has ${name}` ? ', has an older one' : had})`];
}

const referentText = ({ namespace, name }: ConfigReferent): string =>
  namespace ? `${namespace}/${name}` : name;

/**
 * Why the add-on is not known to be available on its cluster. Undefined: it is. While the agent of
 * a cluster is silent, nobody updates the status of its add-ons.
 */
function whyNot({ metadata, status }: ListedAddon, cluster: ManagedCluster | undefined): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return 'being removed';
  if (cluster === undefined) return 'there is no such cluster';
  const alive = findCondition(cluster.status?.conditions, AVAILABLE);
  if (alive?.status !== 'True')
    return `unknown: the cluster ${alive === undefined ? 'has not joined' : `is not available, ${alive.reason}`}`;
  const find = (type: string) => findCondition(status?.conditions, type);
  const managed = find(MANAGED);
  if (managed?.status === 'False') return `nothing acts on it: ${managed.reason}`;
  const available = find('Available');
  if (available?.status === 'True') return undefined;
  const applied = find('ManifestApplied');
  if (applied?.status === 'False') return `not applied: ${applied.reason}`;
  if (available !== undefined)
    return `${available.status === 'False' ? 'not available' : 'unknown'}: ${available.reason}`;
  const registered = find('RegistrationApplied');
  if (registered?.status === 'False') return `not registered: ${registered.reason}`;
  return registered === undefined ? 'not reported yet' : 'registered, not reported yet';
}
