import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { HttpKubeApi, type HttpKubeApiOptions } from '@berth/kube/http-kube-api';
import type { ServerOutage } from '@berth/kube/transport/server-outage';
import { KubeLeaseStore } from '@berth/kube/kube-lease-store';
import { SERVE_RIGHTS } from '../../core/rbac/rights-command.ts';
import type { Logger } from '@berth/runtime/logger';
import type { MonotonicClock } from '@berth/runtime/clock/clock';
import type { ObjectKey } from '@berth/kube/model/kube-api';
import { LeaderElector } from '@berth/kube/leader-election/leader-elector';
import { SILENT_LOG } from '@berth/runtime/logger';
import type { WorkElections } from '../../controllers/works/work-shares.ts';
import type { ElectionTiming } from '@berth/kube/leader-election/lease';

export interface ElectionOptions {
  readonly config: HttpKubeApiOptions['config'];
  /** Namespace and name of the Lease. */
  readonly key: ObjectKey;
  readonly timing: ElectionTiming;
  readonly clock: MonotonicClock;
  readonly random: () => number;
  readonly log: Logger;
  /** Notices whether the hub responds, for both clients. */
  readonly outage: ServerOutage;
}

export interface Election {
  readonly elector: LeaderElector;
  /** The client for everything except the lease. The fence of the elector guards its writes. */
  readonly api: HttpKubeApi;
  /** The client for the lease, which nothing guards. */
  readonly unguarded: HttpKubeApi;
  /** Elections for shares of the works, between the same processes. */
  readonly works: WorkElections;
  /** Releases the lease and closes both connections. */
  close(): Promise<void>;
}

/** An elector that is not started yet, with a connection of its own, and the client whose writes it guards. */
export function electLeader(options: ElectionOptions): Election {
  const { config, key, timing, clock, random, log, outage } = options;
  // A renewal without a response must leave time for another attempt.
  const requestTimeoutMs = Math.max(500, timing.renewDeadlineMs / 2);
  const client = { config, clock, rightsCommand: SERVE_RIGHTS, outage };
  const leases = new HttpKubeApi({ ...client, requestTimeoutMs });
  // As in client-go: the host name for users, and a random part, since two processes may have the
  // same host name.
  const identity = `${hostname()}_${randomUUID()}`;
  const shared = { identity, timing, clock, random };
  const elector = new LeaderElector({ ...shared, log, store: new KubeLeaseStore(leases, key) });
  const api = new HttpKubeApi({ ...client, fence: elector.fence });
  return {
    elector,
    api,
    unguarded: leases,
    works: {
      ...{ key, timing, clock, identity, hub: leases },
      elect: (name, mayTake) => {
        const store = new KubeLeaseStore(leases, { ...key, name });
        // The leases of all shares are kept at the same server, so one of them speaks for all.
        const share = new LeaderElector({ ...shared, store, mayTake, log: SILENT_LOG });
        return { elector: share, connect: () => new HttpKubeApi({ ...client, fence: share.fence }) };
      },
    },
    close: async () => {
      await elector.close();
      leases.close();
      api.close();
    },
  };
}
