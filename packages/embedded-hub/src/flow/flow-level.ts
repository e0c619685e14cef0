import type { Clock } from '@berth/runtime/clock/clock';
import { tooManyRequests } from '../wire/status-errors.ts';
import type { ExchangeLevel, RejectReason } from './exchange.ts';
import { LimitedExchange, UserUsage } from './exchange.ts';
import type { ReleaseFunction } from './fair-share.ts';
import { FairShare, CapacityError } from './fair-share.ts';
import type { PriorityLevel } from './priority-levels.ts';

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
export class FlowLevel implements ExchangeLevel {
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
