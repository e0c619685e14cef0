import type { KubeApi } from '@berth/kube/model/kube-api';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { sha256 } from '@berth/runtime/sha256';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { serveCache } from '../../../src/app/serve/serve-cache.ts';
import { startAddOnManager } from '../../../src/controllers/addons/start-addon-manager.ts';
import type { AddOnDuty, AddOnEvent } from '../../../src/core/addon/addon-duties.ts';
import {
  DEFAULT_REMOVAL_BUDGET,
  type Removal,
  type RemovalBudget,
} from '../../../src/core/publish/judge/removal-budget.ts';
import { PublishedPlacements } from '../../../src/core/publish/pages/published-placements.ts';

/** What outlives a process, and its budget. */
export interface AddOnMemory {
  readonly events?: AddOnEvent[];
  readonly removals?: Map<string, readonly Removal[]>;
  /** Default: that of `berth serve`. */
  readonly budget?: RemovalBudget;
}

/** The manager of add-ons on a hub, with the cache that `berth serve` gives it. */
export function runAddOns(api: KubeApi, duties: readonly AddOnDuty[], memory: AddOnMemory = {}) {
  const { events = [], removals = new Map<string, readonly Removal[]>() } = memory;
  const { budget = DEFAULT_REMOVAL_BUDGET } = memory;
  const shared = { clock: systemClock, random: Math.random, log: new SilentLogger() };
  const addons = { duties, clock: systemClock };
  const served = { ...shared, api, addons, sources: [], dataDir: '', engineVersion: '', env: {} };
  const history = { check: () => Promise.resolve(0), reportBreak: () => Promise.resolve() };
  const cache = serveCache(served, () => undefined, history);
  const supervisor = new Supervisor(shared);
  const running = startAddOnManager(
    {
      ...{ ...shared, hub: api, cache, decides: 'own', budget, digest: sha256 },
      published: new PublishedPlacements(),
      isFollowing: () => false,
      removals: {
        read: (group) => Promise.resolve(removals.get(group) ?? []),
        persist: (group, list) => Promise.resolve(void removals.set(group, list)),
      },
      onEvent: (event) => void events.push(event),
    },
    duties,
  );
  cache.start(supervisor);
  return {
    events,
    warnings: () => running.warnings(),
    close: async (): Promise<void> => {
      await Promise.all([running.close(), supervisor.close()]);
    },
  };
}
