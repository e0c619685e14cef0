import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { AddOnConfigReference, ConfigReferent, ManagedClusterAddOnStatus } from '@berth/ocm/kind/addon';
import type { ObjectMeta } from '@berth/kube/model/object-meta';
import { AVAILABLE } from '@berth/ocm/registration/cluster-conditions';
import { findCondition } from '@berth/kube/model/condition-list';
import { MANAGED } from '../addon/install/missing-manager.ts';
import type { Listed } from './listed.ts';

/** A ManagedClusterAddOn, in the namespace of its cluster. */
export interface ListedAddon {
  readonly metadata: ObjectMeta;
  readonly status?:
    | Pick<ManagedClusterAddOnStatus, 'conditions' | 'configReferences' | 'namespace'>
    | undefined;
}

/** What is known about add-ons on a hub. */
export interface AddOnsOfHub {
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
