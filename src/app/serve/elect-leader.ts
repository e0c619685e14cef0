import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { HttpKubeApi, type HttpKubeApiOptions } from '../../adapters/kube/http-kube-api.ts';
import { KubeLeaseStore } from '../../adapters/kube/kube-lease-store.ts';
import type { Logger, MonotonicClock, ObjectKey } from '../../core/ports.ts';
import type { ElectionTiming } from '../../runtime/leader-election/election-timing.ts';
import { LeaderElector } from '../../runtime/leader-election/leader-elector.ts';

export interface ElectionOptions {
  readonly config: HttpKubeApiOptions['config'];
  /** Of the Lease. */
  readonly key: ObjectKey;
  readonly timing: ElectionTiming;
  readonly clock: MonotonicClock;
  readonly random: () => number;
  readonly log: Logger;
}

export interface Election {
  readonly elector: LeaderElector;
  /** The hub, for everything else: a write is refused at the last moment when this process does not hold the lease any more. */
  readonly api: HttpKubeApi;
  /** Releases the lease and ends both connections. */
  close(): Promise<void>;
}

/** An elector with a connection of its own, that has not begun yet, and the client whose writes it guards. */
export function electLeader(options: ElectionOptions): Election {
  const { config, key, timing, clock, random, log } = options;
  // A renewal that gets no answer leaves time for another one.
  const requestTimeoutMs = Math.max(500, timing.renewDeadlineMs / 2);
  const leases = new HttpKubeApi({ config, clock, requestTimeoutMs });
  const elector = new LeaderElector({
    store: new KubeLeaseStore(leases, key),
    // As client-go has it: where, for people, and which process, since names of hosts come again.
    identity: `${hostname()}_${randomUUID()}`,
    timing,
    clock,
    random,
    log,
  });
  const api = new HttpKubeApi({ config, clock, beforeWrite: elector.requireHeld });
  return {
    elector,
    api,
    close: async () => {
      await elector.close();
      leases.close();
      api.close();
    },
  };
}
