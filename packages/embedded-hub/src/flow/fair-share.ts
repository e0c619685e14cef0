import type { Clock } from '@berth/runtime/clock/clock';

export interface ShareLimits {
  /** What all users together may hold at a time. */
  readonly capacity: number;
  /** What one user may hold at a time. */
  readonly perUser: number;
  /** Requests of one user that may wait. */
  readonly waitingPerUser: number;
  /** How long one may wait (ms). */
  readonly waitMs: number;
}

/** Releases what was taken; calls after the first do nothing. */
export type ReleaseFunction = () => void;

/** Thrown when the capacity is used up and the queue is full. */
export class CapacityError extends Error {
  readonly reason: 'queue-full' | 'time-out';

  constructor(reason: CapacityError['reason']) {
    super(`no capacity: ${reason}`);
    this.reason = reason;
  }
}

interface Waiter {
  readonly amount: number;
  readonly resolve: (release: ReleaseFunction) => void;
  readonly reject: (error: CapacityError) => void;
  cancelTimer: () => void;
}

interface Flow {
  held: number;
  readonly waiting: Waiter[];
}

/**
 * A bounded amount of something (seats, bytes) that users share. While capacity is free, a request
 * gets it immediately. Otherwise it waits in a queue of its user, and released capacity goes to the
 * user who holds the least; users who hold the same take turns. So a user with a thousand requests
 * slows down only its own. Rejected: queues that users share by a hash, as in kube-apiserver, which
 * save memory for millions of users, but let users collide.
 */
export class FairShare {
  readonly #limits: ShareLimits;
  readonly #clock: Clock;
  /** Users who hold something or wait, the one served least recently first. */
  readonly #flows = new Map<string, Flow>();
  #held = 0;
  #waiting = 0;

  constructor(limits: ShareLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  get held(): number {
    return this.#held;
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * @param amount at most `perUser`
   * @returns immediately when capacity is free, a promise when the request has to wait. Throws or rejects with CapacityError.
   */
  take(user: string, amount: number): ReleaseFunction | Promise<ReleaseFunction> {
    const { capacity, perUser, waitingPerUser } = this.#limits;
    const flow = this.#flows.get(user);
    const held = flow?.held ?? 0;
    if (this.#waiting === 0 && held + amount <= perUser && this.#held + amount <= capacity)
      return this.#give(user, flow ?? this.#newFlow(user), amount);
    if ((flow?.waiting.length ?? 0) >= waitingPerUser) throw new CapacityError('queue-full');
    return this.#wait(user, flow ?? this.#newFlow(user), amount);
  }

  #newFlow(user: string): Flow {
    const flow = { held: 0, waiting: [] };
    this.#flows.set(user, flow);
    return flow;
  }

  #give(user: string, flow: Flow, amount: number): ReleaseFunction {
    flow.held += amount;
    this.#held += amount;
    let given = true;
    return () => {
      if (!given) return;
      given = false;
      flow.held -= amount;
      this.#held -= amount;
      if (this.#waiting > 0) this.#dispatch();
      this.#forget(user, flow);
    };
  }

  #wait(user: string, flow: Flow, amount: number): Promise<ReleaseFunction> {
    const waiting = new Promise<ReleaseFunction>((resolve, reject) => {
      const waiter: Waiter = { amount, resolve, reject, cancelTimer: () => undefined };
      waiter.cancelTimer = this.#clock.schedule(this.#limits.waitMs, () => this.#expire(user, flow, waiter));
      flow.waiting.push(waiter);
      this.#waiting += 1;
    });
    // Others may wait only because of their own limit; then capacity is free anyway.
    this.#dispatch();
    return waiting;
  }

  #expire(user: string, flow: Flow, waiter: Waiter): void {
    const at = flow.waiting.indexOf(waiter);
    if (at < 0) return;
    flow.waiting.splice(at, 1);
    this.#waiting -= 1;
    waiter.reject(new CapacityError('time-out'));
    // The removed request may have been the one that blocked all others.
    this.#dispatch();
    this.#forget(user, flow);
  }

  #dispatch(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const { user, flow } = next;
      const waiter = flow.waiting.shift() as Waiter;
      this.#waiting -= 1;
      waiter.cancelTimer();
      // A served user moves behind all others who hold as much.
      this.#flows.delete(user);
      this.#flows.set(user, flow);
      waiter.resolve(this.#give(user, flow, waiter.amount));
    }
  }

  /** Grants what is free. A large request is not skipped in favour of smaller ones, or it would wait forever. */
  #next(): { readonly user: string; readonly flow: Flow } | undefined {
    const { capacity, perUser } = this.#limits;
    let best: { readonly user: string; readonly flow: Flow } | undefined;
    for (const [user, flow] of this.#flows) {
      const first = flow.waiting[0];
      if (first === undefined || flow.held + first.amount > perUser) continue;
      if (best === undefined || flow.held < best.flow.held) best = { user, flow };
    }
    const wanted = best?.flow.waiting[0]?.amount ?? 0;
    return this.#held + wanted <= capacity ? best : undefined;
  }

  #forget(user: string, flow: Flow): void {
    if (flow.held === 0 && flow.waiting.length === 0 && this.#flows.get(user) === flow)
      this.#flows.delete(user);
  }
}
