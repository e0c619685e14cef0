import { MASTERS_GROUP } from '../auth/rbac/authorizer.ts';
import type { RequestInfo } from '../wire/request-info.ts';
import type { UserInfo } from '../wire/user-info.ts';

const ACCOUNT_PREFIX = 'system:serviceaccount:';
const AGENT_PREFIX = 'system:open-cluster-management:';
const SYSTEM_USERS = new Set(['system:kube-controller-manager', 'system:kube-scheduler']);
/** Namespaces whose ServiceAccounts run the cluster: of Kubernetes and of OCM (hub and agents). */
const SYSTEM_NAMESPACE = /^system:serviceaccount:(?:kube-system|open-cluster-management(?:-[-a-z0-9]*)?):/;
const ELECTION_VERBS = new Set(['get', 'create', 'update', 'patch']);
const MEBIBYTE = 1024 * 1024;

export interface PriorityLevel {
  readonly name: 'leader-election' | 'system' | 'workload' | 'global-default';
  /** Requests that are processed at a time, after their bodies are received. */
  readonly seats: number;
  /** Bytes of bodies that are being received or processed. */
  readonly bodyBytes: number;
  /** All open requests: receiving, waiting, processing, and with unread responses. */
  readonly open: number;
  readonly watches: number;
}

/**
 * The levels of kube-apiserver (apiserver `pkg/apis/flowcontrol/bootstrap/default.go`) simplified:
 * its `node-high` and `workload-high` are `system` here, since a hub has agents and no nodes.
 * Levels do not lend seats, because a free seat costs nothing.
 */
export const PRIORITY_LEVELS: readonly PriorityLevel[] = [
  { name: 'leader-election', seats: 40, bodyBytes: 16 * MEBIBYTE, open: 2_000, watches: 1_000 },
  { name: 'system', seats: 300, bodyBytes: 64 * MEBIBYTE, open: 4_000, watches: 16_000 },
  { name: 'workload', seats: 300, bodyBytes: 64 * MEBIBYTE, open: 4_000, watches: 8_000 },
  { name: 'global-default', seats: 160, bodyBytes: 64 * MEBIBYTE, open: 2_000, watches: 4_000 },
];

/** The level of a request. `exempt` requests are never counted and never wait. */
export function priorityLevelOf(caller: UserInfo, info: RequestInfo): PriorityLevel['name'] | 'exempt' {
  if (caller.groups.includes(MASTERS_GROUP)) return 'exempt';
  const system = isSystem(caller);
  if (!system && !caller.name.startsWith(ACCOUNT_PREFIX)) return 'global-default';
  if (isElection(info)) return 'leader-election';
  return system ? 'system' : 'workload';
}

function isSystem({ name, groups }: UserInfo): boolean {
  if (SYSTEM_USERS.has(name) || SYSTEM_NAMESPACE.test(name)) return true;
  return name.startsWith(AGENT_PREFIX) || groups.includes('system:nodes');
}

/** Leases: leader election and heartbeats of clusters. */
function isElection(info: RequestInfo): boolean {
  if (info.kind !== 'resource' || info.resource !== 'leases') return false;
  return info.group === 'coordination.k8s.io' && ELECTION_VERBS.has(info.verb);
}
