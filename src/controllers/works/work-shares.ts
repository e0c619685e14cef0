import type { LeaderElector } from '@berth/kube/leader-election/leader-elector';
import type { ElectionTiming } from '@berth/kube/leader-election/lease';
import type { KubeApi, ObjectKey } from '@berth/kube/model/kube-api';
import type { MonotonicClock } from '@berth/runtime/clock/clock';
import { errorText } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import { sleep } from '@berth/runtime/loop/sleep';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { sha256 } from '@berth/runtime/sha256';
import {
  sharesOfOne,
  processesLease,
  shareLease,
  shareOf,
  WORK_SHARES,
} from '../../core/work/replica-set/work-shares.ts';
import { SharingProcesses } from './sharing-processes.ts';
import type { WorkControllers } from './start-work-controllers.ts';

/** What elects the writers of shares of the works. */
export interface WorkElections {
  /** The Lease of the leader. The names of the others begin with its name. */
  readonly key: ObjectKey;
  readonly timing: ElectionTiming;
  readonly clock: MonotonicClock;
  readonly identity: string;
  /** Nothing guards its writes. */
  readonly hub: KubeApi;
  /**
   * An election that is not started yet.
   * @param lease the name of its Lease, in the namespace of the leader's
   * @param mayTake whether this process takes the Lease when it is free
   */
  elect(lease: string, mayTake: () => boolean): WorkElection;
}

interface WorkElection {
  readonly elector: LeaderElector;
  /** A client whose writes the Lease guards. */
  connect(): KubeApi & { close(): void };
}

/** The controllers for works of a share, while this process has it. */
type RunShare = (
  hub: KubeApi,
  mayWrite: (signal: AbortSignal) => Promise<void>,
  owns: (namespace: string) => boolean,
) => WorkControllers;

export interface WorkSharesOptions {
  readonly elections: WorkElections;
  readonly run: RunShare;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
}

/** Which shares of the works a process writes. */
export interface WorkSharesStatus {
  /** The numbers of the shares that this process writes, from 0. */
  readonly held: readonly number[];
  /** How many there are. */
  readonly shares: number;
  /** How many processes share the works, as far as this one knows. */
  readonly processes: number;
}

interface HeldShare extends Pick<WorkControllers, 'warnings' | 'whenIdle'> {
  readonly hub: { close(): void };
  /** Hands the share to others. */
  giveUp(): void;
}

/**
 * Shares the works between all processes of an election, by namespace. Each share has a Lease. The process
 * that has it runs the controllers for works of these namespaces, with a client that the Lease guards. A process takes what is free
 * up to its fair share, and gives up what it has beyond that, when others come.
 */
export class WorkShares {
  readonly #options: WorkSharesOptions;
  readonly #supervisor: Supervisor;
  readonly #processes: SharingProcesses;
  readonly #held = new Map<number, HeldShare>();
  /** Shares for which a request may be under way. */
  readonly #taking = new Set<number>();
  readonly #electors = new Map<number, LeaderElector>();
  #living = 1;
  #failure: unknown;
  #logged = '';

  constructor(options: WorkSharesOptions) {
    this.#options = options;
    const { random, log, elections } = options;
    const { clock, hub, identity, timing, key } = elections;
    this.#supervisor = new Supervisor({ clock, random, log });
    this.#processes = new SharingProcesses({
      ...{ hub, identity, clock, lifetimeMs: timing.leaseDurationMs },
      key: { ...key, name: processesLease(key.name) },
    });
  }

  /** Until `close`. */
  start(): void {
    this.#supervisor.start('processes that share the works', (signal) => this.#look(signal));
    for (let share = 0; share < WORK_SHARES; share++)
      this.#supervisor.start(`works of share ${share}`, (signal) => this.#follow(share, signal));
  }

  shares(): WorkSharesStatus {
    const held = [...this.#held.keys()].sort((a, b) => a - b);
    return { held, shares: WORK_SHARES, processes: this.#living };
  }

  /** Resolves when the first pass over each share that this process has now is complete. */
  async whenIdle(): Promise<void> {
    await Promise.all([...this.#held.values()].map((share) => share.whenIdle()));
  }

  /** What fails at the moment, as text for users. */
  warnings(): readonly string[] {
    const problem =
      this.#failure === undefined
        ? [...this.#electors.values()].map((elector) => elector.status().problem).find(Boolean)
        : errorText(this.#failure);
    return [
      ...(problem === undefined ? [] : [`works: their shares cannot be divided: ${problem}`]),
      ...[...this.#held.values()].flatMap((share) => share.warnings()),
    ];
  }

  /** Hands all shares to others. */
  async close(): Promise<void> {
    await this.#supervisor.close();
    await this.#processes.leave().catch(() => undefined);
  }

  /** Ends requests that `close` waits for. */
  cutOff(): void {
    for (const { hub } of this.#held.values()) hub.close();
  }

  /** Says that this process lives, and gives up what it has beyond its fair share. */
  async #look(signal: AbortSignal): Promise<void> {
    const { clock, timing } = this.#options.elections;
    while (!signal.aborted) {
      try {
        this.#living = await this.#processes.renew();
        this.#failure = undefined;
      } catch (error) {
        // Meanwhile each process keeps what it has. An outage of the hub is logged once for the whole process.
        this.#failure = error;
      }
      this.#taking.clear();
      const beyond = [...this.#held.values()].slice(sharesOfOne(this.#living));
      for (const share of beyond) share.giveUp();
      this.#log();
      await sleep(clock, timing.retryPeriodMs, signal);
    }
  }

  #log(): void {
    const status = this.shares();
    const text = JSON.stringify(status);
    if (text === this.#logged) return;
    this.#logged = text;
    this.#options.log.info('works are shared', { ...status });
  }

  /** Takes the share whenever it is free and this process may have more, and runs its controllers until it is given up or lost. */
  async #follow(share: number, signal: AbortSignal): Promise<void> {
    const { elections, run } = this.#options;
    const name = shareLease(elections.key.name, share);
    while (!signal.aborted) {
      const election = elections.elect(name, () => this.#mayTake(share));
      const { elector } = election;
      this.#electors.set(share, elector);
      elector.start();
      await elector.whenHeld(signal);
      if (!signal.aborted) {
        const hub = election.connect();
        const end = new AbortController();
        const owns = (namespace: string): boolean => shareOf(sha256, namespace) === share;
        const works = run(hub, (stop) => elector.whenHeld(stop), owns);
        this.#held.set(share, { ...works, hub, giveUp: () => end.abort() });
        await elector.whenLost(AbortSignal.any([signal, end.signal]));
        await works.close();
        this.#held.delete(share);
        hub.close();
      }
      await elector.close();
    }
  }

  #mayTake(share: number): boolean {
    if (this.#held.size + this.#taking.size >= sharesOfOne(this.#living)) return false;
    this.#taking.add(share);
    return true;
  }
}
