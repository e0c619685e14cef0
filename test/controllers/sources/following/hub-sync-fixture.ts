import { systemClock } from '@berth/runtime/clock/system-clock';
import { sha256 } from '@berth/runtime/sha256';
import { HubSync } from '../../../../src/controllers/sources/following/hub-sync.ts';
import type { HubSyncOptions } from '../../../../src/controllers/sources/following/hub-sync-options.ts';

/** A source's way to the hub, as a controller of an embedded hub has it. */
export function hubSyncFor(
  options: Pick<HubSyncOptions, 'api' | 'source' | 'claims'> & Partial<HubSyncOptions>,
): HubSync {
  return new HubSync({
    digest: sha256,
    namespace: 'berth-system',
    budget: { percent: 25, atLeast: 2 },
    deletionWindowMs: 600_000,
    clock: systemClock,
    force: false,
    annotatePlacements: false,
    recordedStatus: false,
    createNamespaces: true,
    concurrency: 4,
    ...options,
  });
}
