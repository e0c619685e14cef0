import { decideInSnapshot } from '@berth/placement/explain/verdict/decide-in-snapshot';
import { describePair } from '@berth/placement/explain/text/describe-pair';
import { explainPair } from '@berth/placement/explain/explain-pair';
import { scheduleAll } from '@berth/placement/schedule-all';
import type { TestEngine } from './run-placement-test.ts';

/**
 * Placement tests run on the engine of the controller, and report failures like `berth explain`.
 */
export const TEST_ENGINE: TestEngine = {
  schedule: scheduleAll,
  explain: (snapshot, placement, cluster) => {
    const decision = decideInSnapshot(snapshot, placement);
    if (decision === undefined) return 'there is no such placement';
    const pair = explainPair({ ...decision, cluster });
    const [, first = 'no reason found'] = describePair({ ...pair, suggestions: [] });
    return first.trim();
  },
};
