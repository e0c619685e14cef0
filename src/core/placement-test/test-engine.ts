import { decideInSnapshot } from '../explain/verdict/decide-in-snapshot.ts';
import { describePair } from '../explain/text/describe-pair.ts';
import { explainPair } from '../explain/explain-pair.ts';
import { scheduleAll } from '../placement/schedule-all.ts';
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
