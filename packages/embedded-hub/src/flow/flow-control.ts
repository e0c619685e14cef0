import type { Clock } from '@berth/runtime/clock/clock';
import { MASTERS_GROUP } from '../auth/rbac/authorizer.ts';
import type { RequestInfo } from '@berth/kube/request-info';
import { tooManyRequests } from '../wire/status-errors.ts';
import type { UserInfo } from '../wire/user-info.ts';
import {
  type Exchange,
  type RejectReason,
  EXEMPT_EXCHANGE,
  type ExchangeLevel,
  LimitedExchange,
  UserUsage,
} from './exchange.ts';
import { type ReleaseFunction, FairShare, CapacityError } from './fair-share.ts';

const MEBIBYTE = 1024 * 1024;

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

/** The current state of one priority level, for the metrics. */
export interface LevelGauges {
  readonly name: string;
  readonly executing: number;
  readonly waiting: number;
  readonly bodyBytes: number;
  readonly watches: number;
  readonly rejected: ReadonlyMap<RejectReason, number>;
}

/**
 * A small version of kube-apiserver's priority and fairness. Every request belongs to a level; each level has seats
 * and room for bodies of its own, and shares them fairly among its users. A user is who sent the request:
 * impersonation gives no second share.
 */
export class FlowControl {
  readonly #levels: ReadonlyMap<string, FlowLevel>;

  constructor(clock: Clock, levels: readonly PriorityLevel[] = PRIORITY_LEVELS) {
    this.#levels = new Map(levels.map((level) => [level.name, new FlowLevel(level, clock)]));
  }

  /**
   * Begins the request of a caller; it ends with `leave()`.
   * @throws StatusError 429
   */
  enter(caller: UserInfo, info: RequestInfo): Exchange {
    const level = this.#levels.get(priorityLevelOf(caller, info));
    return level === undefined ? EXEMPT_EXCHANGE : level.enter(caller.name);
  }

  gauges(): readonly LevelGauges[] {
    return [...this.#levels.values()].map(({ limits, seats, bodies, watches, rejected }) => ({
      name: limits.name,
      executing: seats.held,
      waiting: seats.waiting + bodies.waiting,
      bodyBytes: bodies.held,
      watches,
      rejected,
    }));
  }
}

interface PriorityLevel {
  readonly name: 'leader-election' | 'system' | 'workload' | 'global-default';
  /** Requests that are processed at a time, after their bodies are received. */
  readonly seats: number;
  /** Bytes of bodies that are being received or processed. */
  readonly bodyBytes: number;
  /** All open requests: receiving, waiting, processing, and with unread responses. */
  readonly open: number;
  readonly watches: number;
}

const ACCOUNT_PREFIX = 'system:serviceaccount:';

/** The level of a request. `exempt` requests are never counted and never wait. */
export function priorityLevelOf(caller: UserInfo, info: RequestInfo): PriorityLevel['name'] | 'exempt' {
  if (caller.groups.includes(MASTERS_GROUP)) return 'exempt';
  const system = isSystem(caller);
  if (!system && !caller.name.startsWith(ACCOUNT_PREFIX)) return 'global-default';
  if (isElection(info)) return 'leader-election';
  return system ? 'system' : 'workload';
}

const AGENT_PREFIX = 'system:open-cluster-management:';
const SYSTEM_USERS = new Set(['system:kube-controller-manager', 'system:kube-scheduler']);
/** Namespaces whose ServiceAccounts run the cluster: of Kubernetes and of OCM (hub and agents). */
const SYSTEM_NAMESPACE = /^system:serviceaccount:(?:kube-system|open-cluster-management(?:-[-a-z0-9]*)?):/;

function isSystem({ name, groups }: UserInfo): boolean {
  if (SYSTEM_USERS.has(name) || SYSTEM_NAMESPACE.test(name)) return true;
  return name.startsWith(AGENT_PREFIX) || groups.includes('system:nodes');
}

const ELECTION_VERBS = new Set(['get', 'create', 'update', 'patch']);

/** Leases: leader election and heartbeats of clusters. */
function isElection(info: RequestInfo): boolean {
  if (info.kind !== 'resource' || info.resource !== 'leases') return false;
  return info.group === 'coordination.k8s.io' && ELECTION_VERBS.has(info.verb);
}

/** Maximum bytes of request bodies of one user at a time: five of the largest. */
const USER_BODY_BYTES = 16 * 1024 * 1024;
const USER_OPEN_REQUESTS = 200;
const USER_WATCHES = 500;
/** How long a request may wait, as in kube-apiserver: a quarter of its time limit of 60 s. */
const WAIT_MS = 15_000;
/** The time limit of the response that the part belongs to. */
const PART_WAIT_MS = 60_000;
const RETRY_AFTER_SECONDS = 1;

/** One priority level: its seats, its room for bodies, and its users. */
class FlowLevel implements ExchangeLevel {
  readonly limits: PriorityLevel;
  readonly seats: FairShare;
  readonly bodies: FairShare;
  readonly parts: FairShare;
  readonly rejected = new Map<RejectReason, number>();
  readonly #users = new Map<string, UserUsage>();
  openRequests = 0;
  watches = 0;

  constructor(limits: PriorityLevel, clock: Clock) {
    const waiting = { waitingPerUser: USER_OPEN_REQUESTS, waitMs: WAIT_MS };
    const ofBodies = { capacity: limits.bodyBytes, perUser: Math.min(USER_BODY_BYTES, limits.bodyBytes) };
    this.limits = limits;
    this.seats = new FairShare({ capacity: limits.seats, perUser: limits.seats / 2, ...waiting }, clock);
    this.bodies = new FairShare({ ...ofBodies, ...waiting }, clock);
    this.parts = new FairShare({ capacity: 1, perUser: 1, ...waiting, waitMs: PART_WAIT_MS }, clock);
  }

  /** @throws StatusError 429 when the user, or the users of the level together, have too many requests open */
  enter(user: string): LimitedExchange {
    const use = this.#users.get(user) ?? new UserUsage(user);
    if (use.openRequests >= USER_OPEN_REQUESTS || this.openRequests >= this.limits.open)
      throw this.reject('open-requests');
    if (use.isOverUnreadLimit(0)) throw this.reject('unread-answers');
    this.#users.set(user, use);
    const exchange = new LimitedExchange(this, use);
    use.openRequests += 1;
    this.openRequests += 1;
    use.exchanges.add(exchange);
    return exchange;
  }

  addWatch(use: UserUsage): void {
    if (use.watches >= USER_WATCHES || this.watches >= this.limits.watches) throw this.reject('watches');
    use.watches += 1;
    this.watches += 1;
  }

  take(share: FairShare, user: string, amount: number): ReleaseFunction | Promise<ReleaseFunction> {
    try {
      const taken = share.take(user, amount);
      return typeof taken === 'function' ? taken : taken.catch((error: unknown) => this.#refuse(error));
    } catch (error) {
      return this.#refuse(error);
    }
  }

  reject(reason: RejectReason): Error {
    this.rejected.set(reason, (this.rejected.get(reason) ?? 0) + 1);
    return tooManyRequests(RETRY_AFTER_SECONDS);
  }

  forget(use: UserUsage): void {
    if (use.exchanges.size === 0 && this.#users.get(use.name) === use) this.#users.delete(use.name);
  }

  #refuse(error: unknown): never {
    throw error instanceof CapacityError ? this.reject(error.reason) : error;
  }
}
