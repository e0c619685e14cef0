import { systemClock } from '@berth/runtime/clock/system-clock';
import { sha256 } from '@berth/runtime/sha256';
import { HubSync } from '../../../../src/controllers/sources/following/hub-sync.ts';
import type { HubSyncOptions } from '../../../../src/controllers/sources/following/hub-sync-options.ts';
import { syncTogether } from '../../../../src/controllers/sources/following/sync-together.ts';
import type {
  SyncInput,
  SyncOptions,
  SyncOutcome,
} from '../../../../src/controllers/sources/members/sync-problem.ts';

/** A source that is alone in its repository. */
export interface OnlySource extends HubSync {
  /** Makes a whole round. */
  readonly sync: (input: SyncInput, options?: SyncOptions) => Promise<SyncOutcome>;
}

/** A source's way to the hub, as a controller of an embedded hub has it. */
export function hubSyncFor(
  options: Pick<HubSyncOptions, 'api' | 'source' | 'declarations'> & Partial<HubSyncOptions>,
): OnlySource {
  const hubSync = new HubSync({
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
  const sync: OnlySource['sync'] = async (input, how) => {
    const [end] = [...(await syncTogether([await hubSync.begin(input, how)])).values()];
    if (end === undefined) throw new Error('the round did not end');
    if ('error' in end) throw end.error;
    return end.outcome;
  };
  return Object.assign(hubSync, { sync });
}
