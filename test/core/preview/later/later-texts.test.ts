import { describe, expect, it } from 'vitest';
import { laterAhead } from '../../../../src/core/preview/later/later-texts.ts';
import type { LaterChange } from '../../../../src/core/preview/plan.ts';

const MERGED_MS = Date.parse('2026-03-01T12:00:00Z');
const MINUTE_MS = 60_000;

const leaving: LaterChange = {
  ...{ namespace: 'shop', name: 'metrics', afterMs: 60 * MINUTE_MS, by: 'tolerationSeconds' },
  ...{ added: [], removed: ['c1'], kept: [] },
};
const silenced: LaterChange = {
  ...{ namespace: 'shop', name: 'db', at: '2026-03-01T12:02:00Z', by: 'lease' },
  ...{ added: ['c2'], removed: ['c1'], kept: [], ifSilent: ['c1'] },
};
const rollout = { text: 'the rollout', endsAfterMs: 30 * MINUTE_MS };

describe('what is still ahead after a merge', () => {
  const said = { later: [leaving, silenced], laterRollouts: [rollout] };
  const DB =
    'shop/db leaves c1 and joins c2 at 2026-03-01 12:02:00 UTC, when an overdue lease runs out (leaseDurationSeconds), if the agent of c1 stays silent';
  const METRICS =
    'shop/metrics leaves c1 one hour after the merge, when its toleration of a taint ends (tolerationSeconds)';

  it.each([
    { minutes: 1, want: [METRICS, DB, 'the rollout'] },
    { minutes: 5, want: [METRICS, 'the rollout'] },
    { minutes: 30, want: [METRICS] },
    { minutes: 60, want: [] },
  ])('after $minutes minutes', ({ minutes, want }) => {
    expect(laterAhead(said, MERGED_MS, MERGED_MS + minutes * MINUTE_MS)).toEqual(want);
  });

  it('is nothing where an earlier version remembered nothing', () => {
    expect(laterAhead({}, MERGED_MS, MERGED_MS)).toEqual([]);
  });
});
