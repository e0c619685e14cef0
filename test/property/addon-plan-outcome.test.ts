import { seedsFrom } from '@berth/test-kit/seeded-random';
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { commit } from './addon-plan-outcome/add-on-commits.ts';
import { AddOnHistory } from './addon-plan-outcome/add-on-history.ts';

/*
 * Random commits that move placements which install add-ons, and change and delete ClusterManagementAddOns: each is planned on the hub and
 * then merged. Every add-on is afterwards on the clusters that the plan said, and is held under the code that it said; its codes release
 * exactly that. A pull request that changes a text file has an empty plan meanwhile. BERTH_PLAN_COMMITS sets the number of commits of each
 * history, BERTH_PLAN_HISTORIES that of histories, BERTH_SEED the first seed.
 */
const COMMITS = Number(process.env['BERTH_PLAN_COMMITS'] ?? 4);
const HISTORIES = Number(process.env['BERTH_PLAN_HISTORIES'] ?? 2);

describe('what a plan says of add-ons', () => {
  it.concurrent.for([...seedsFrom(11, HISTORIES)])(
    'is what happens, commit after commit (seed %i)',
    async (seed, { expect }) => {
      const history = await AddOnHistory.begin({ seed, budget: 1 + (seed % 3), expect });
      try {
        for (const [number, change] of fc.sample(commit, { numRuns: COMMITS, seed }).entries())
          await history.merge(change, number + 1);
      } finally {
        await history.close();
      }
    },
  );
});
