import type { Clock } from '@berth/runtime/clock/clock';
import type { RequestInfo } from '../wire/request-info.ts';
import type { UserInfo } from '../wire/user-info.ts';
import type { Exchange, RejectReason } from './exchange.ts';
import { EXEMPT_EXCHANGE } from './exchange.ts';
import { FlowLevel } from './flow-level.ts';
import type { PriorityLevel } from './priority-levels.ts';
import { PRIORITY_LEVELS, priorityLevelOf } from './priority-levels.ts';

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
