import { findCondition, setCondition } from '@berth/kube/model/condition-list';
import { kind } from '@berth/kube/model/kinds';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { ocmCrds, OPERATOR_GROUP } from '@berth/ocm/definition/ocm-crds';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { ACCEPTED, AVAILABLE, JOINED } from '@berth/ocm/registration/cluster-conditions';
import { isAnnounced, readDuties } from './controller-announcement.ts';

/**
 * The objects by which OCM's operator shows an installation. On an embedded hub and its members `berth init` and `berth join` write
 * them, and the process of the hub keeps their status: they show what runs, and nobody acts on them.
 * Source of names and types of conditions: open-cluster-management.io/api 1.2 `operator/v1`.
 */
export const CLUSTER_MANAGER = kind(OPERATOR_GROUP, 'v1', 'ClusterManager', 'Cluster');
export const KLUSTERLET = kind(OPERATOR_GROUP, 'v1', 'Klusterlet', 'Cluster');
export const CLUSTER_MANAGER_NAME = 'cluster-manager';
export const KLUSTERLET_NAME = 'klusterlet';

/** The definition and the object, in the order to write them. */
export function clusterManagerObjects(): readonly KubeObject[] {
  const spec = { deployOption: { mode: 'Default' } };
  return [definitionOf(CLUSTER_MANAGER.kind), objectOf(CLUSTER_MANAGER.kind, CLUSTER_MANAGER_NAME, spec)];
}

/** The same for an agent. */
export function klusterletObjects(clusterName: string, namespace: string): readonly KubeObject[] {
  const spec = { clusterName, namespace, deployOption: { mode: 'Default' } };
  return [definitionOf(KLUSTERLET.kind), objectOf(KLUSTERLET.kind, KLUSTERLET_NAME, spec)];
}

function definitionOf(name: string): KubeObject {
  const all = ocmCrds([OPERATOR_GROUP]) as readonly unknown[] as readonly (KubeObject & Named)[];
  return all.find(({ spec }) => spec.names.kind === name) as KubeObject;
}

interface Named {
  readonly spec: { readonly names: { readonly kind: string } };
}

function objectOf(kindName: string, name: string, spec: object): KubeObject {
  return { apiVersion: `${OPERATOR_GROUP}/v1`, kind: kindName, metadata: { name }, spec };
}

type News = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

const is = (type: string, status: Condition['status'], reason: string, message: string): News => ({
  ...{ type, status, reason, message },
});

/**
 * What the controllers of a hub do now.
 * @param leases by which controllers announce themselves
 */
export function managerNews(leases: readonly KubeObject[], nowMs: number): readonly News[] {
  const duties = leases.filter((lease) => isAnnounced(lease, nowMs)).map(readDuties);
  const does = duties.some(({ registration }) => registration.length > 0);
  const decides = duties.some((one) => one.decides !== 'none');
  const nobody = (what: string): string => `no controller that runs announces that it ${what}`;
  return [
    is('Applied', 'True', 'ClusterManagerApplied', 'berth init has written what clusters join with'),
    does
      ? is('HubRegistrationDegraded', 'False', 'RegistrationFunctional', 'a controller registers clusters')
      : is('HubRegistrationDegraded', 'True', 'NoController', nobody('registers clusters')),
    decides
      ? is('HubPlacementDegraded', 'False', 'PlacementFunctional', 'a controller decides placements')
      : is('HubPlacementDegraded', 'True', 'NoController', nobody('decides placements')),
  ];
}

/**
 * How far the hub has registered the cluster of an agent.
 * @param managed as the hub has it; undefined: the hub has none of this name
 */
export function klusterletNews(managed: ManagedCluster | undefined): readonly News[] {
  const applied = is('Applied', 'True', 'KlusterletApplied', 'berth join has written what the agent needs');
  const stateOf = (type: string): Condition | undefined => findCondition(managed?.status?.conditions, type);
  const isTrue = (type: string): boolean => stateOf(type)?.status === 'True';
  const missing = [
    [managed !== undefined, 'ClusterNotFound', 'the hub has no ManagedCluster of this name'],
    [isTrue(ACCEPTED), 'NotAccepted', 'the hub has not accepted the cluster'],
    [isTrue(JOINED), 'NotJoined', 'the agent has no certificate of the hub yet'],
    [
      isTrue(AVAILABLE),
      'NotAvailable',
      stateOf(AVAILABLE)?.message ?? 'the agent has not renewed its lease yet',
    ],
  ] as const;
  const [, reason, message] = missing.find(([done]) => !done) ?? [];
  return reason === undefined || message === undefined
    ? [
        applied,
        is('HubConnectionDegraded', 'False', 'HubConnectionFunctional', 'the agent renews its lease'),
        is('Available', 'True', 'KlusterletAvailable', 'the agent works with the hub'),
      ]
    : [
        applied,
        is('HubConnectionDegraded', 'True', reason, message),
        is('Available', 'False', reason, message),
      ];
}

/**
 * The conditions with the news in them.
 * @param now RFC 3339
 */
export function withNews(
  before: readonly Condition[],
  news: readonly News[],
  now: string,
): readonly Condition[] {
  return news.reduce((list, condition) => setCondition(list, condition, now), before);
}
