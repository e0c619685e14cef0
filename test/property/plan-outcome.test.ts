import { seedsFrom } from '@berth/test-kit/seeded-random';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { beside, commit, NOTHING_BESIDE } from './plan-outcome/commits.ts';
import { History, type HistoryOptions } from './plan-outcome/history.ts';

vi.mock('node:fs/promises', async (original) => {
  const [{ mortalFs }, { synchronousReads }] = await Promise.all([
    import('@berth/test-kit/mortal-disk'),
    import('../fakes/synchronous-reads.ts'),
  ]);
  return mortalFs(synchronousReads(await original()));
});

/*
 * Random commits, each planned on the hub and then merged: every placement lists afterwards what the plan said, the works stand where it
 * said, and what it said would be held is held under the same code; also when the controller is killed on the way. BERTH_PLAN_COMMITS sets
 * the number of commits of each history, BERTH_PLAN_HISTORIES that of histories, BERTH_SEED the first seed. Every other history
 * has an open budget; in every third the repository is followed as two sources; in every fifth the hub is an embedded one, for which
 * Git records status; in every eighth Git is read with the git program, of which a commit starts about sixty, in the others without it.
 * Commits also bring objects that the hub refuses, and other managers own fields that Git sets. Tolerations of a drained cluster end, and
 * then happens what the plan said of later. A second pull request, which changes a text file, has an empty plan at any time.
 */
const COMMITS = Number(process.env['BERTH_PLAN_COMMITS'] ?? 6);
const HISTORIES = Number(process.env['BERTH_PLAN_HISTORIES'] ?? 2);

/** Histories that showed a defect once, as short as they show it. */
const KEPT: readonly { readonly seed: number; readonly commits: number; readonly what: string }[] = [
  { seed: 313, commits: 2, what: 'an approval that is replaced while another change is held because of it' },
  { seed: 3048, commits: 3, what: 'an object that leaves Git in the second commit that cannot be read' },
  { seed: 6032, commits: 9, what: 'a spec that goes back to the one that is published' },
  { seed: 20102, commits: 4, what: 'a process killed while it publishes a release' },
  { seed: 7000, commits: 8, what: 'a process killed while it publishes, and the commit after that' },
];

async function live(
  seed: number,
  commits: number,
  given: Pick<HistoryOptions, 'isDivided' | 'expect'> & { readonly hasOthers: boolean },
): Promise<void> {
  const history = await History.begin({
    seed,
    isOpen: seed % 2 === 0,
    hasAdmission: given.hasOthers,
    isEmbedded: given.hasOthers && seed % 5 === 0,
    hasGitProgram: seed % 8 === 0,
    ...given,
  });
  const besides = given.hasOthers ? fc.sample(beside, { numRuns: commits, seed: seed + 1 }) : [];
  try {
    for (const [number, change] of fc.sample(commit, { numRuns: commits, seed }).entries())
      await history.merge(change, besides[number] ?? NOTHING_BESIDE, number + 1);
  } finally {
    await history.close();
  }
}

describe('what a plan says', () => {
  it.concurrent.for([...seedsFrom(7, HISTORIES)])(
    'is what happens, commit after commit (seed %i)',
    (seed, { expect }) => live(seed, COMMITS, { isDivided: seed % 3 === 0, hasOthers: true, expect }),
  );

  it.each(KEPT)('is what happens: $what (seed $seed)', ({ seed, commits }) =>
    live(seed, commits, { isDivided: false, hasOthers: false, expect }),
  );
});
