import { expect, it } from 'vitest';
import { DisturbedPlacements } from '../../../../src/app/serve/publish/disturbed-placements.ts';
import type { ScheduleResult } from '../../../../src/core/placement/schedule-result.ts';
import type { DecisionPage } from '../../../../src/core/publish/decision-page.ts';
import type { LastPublication } from '../../../../src/core/publish/last-publication.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

const WEB = 'team-a/web';
const result = {} as ScheduleResult;
const group = { name: '', index: 0 };
const page = (...clusters: string[]): DecisionPage => ({
  name: 'web-decision-1',
  group,
  decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })),
  owned: true,
});
const last = (leaving?: readonly string[]): LastPublication => ({
  pages: [{ ...page('a', 'b'), group }],
  leaving,
});

function disturbed() {
  const clock = new FakeClock();
  const again: string[] = [];
  const known = { is: false };
  const placements = new DisturbedPlacements({
    clock,
    wasDecidedKnowing: () => known.is,
    decideAgain: (key) => void again.push(key),
  });
  return {
    clock,
    again,
    known,
    placements,
    isOfRemains: () => placements.isOfRemains(WEB, result, ['a', 'b']),
  };
}

it.each([
  { name: 'nobody remembers', pages: [page('b')], remembered: undefined, want: false },
  { name: 'as it was published', pages: [page('a', 'b')], remembered: last(), want: false },
  { name: 'a page is gone', pages: [], remembered: last(), want: true },
  { name: 'a page more', pages: [page('a', 'b'), page()], remembered: last(), want: true },
  { name: 'a cluster is gone', pages: [page('b')], remembered: last(), want: true },
  { name: 'another cluster', pages: [page('a', 'c')], remembered: last(), want: true },
  {
    name: 'it was to go, in a change that was cut short',
    pages: [page('b')],
    remembered: last(['a']),
    want: false,
  },
  {
    name: 'it was to stay, in a change that was cut short',
    pages: [page('a')],
    remembered: last(['a']),
    want: true,
  },
])('what was decided counts where others did not change the pages: $name', ({ pages, remembered, want }) => {
  const { placements, isOfRemains, again } = disturbed();
  placements.look(WEB, pages, remembered);
  expect(isOfRemains()).toBe(want);
  expect(again).toEqual(want ? [WEB] : []);
});

it('waits for a decision that knows what was published, and looks at none after it', () => {
  const { placements, isOfRemains, known } = disturbed();
  placements.look(WEB, [], last());
  placements.look(WEB, [page('a', 'b')], last());
  expect(isOfRemains()).toBe(true);
  known.is = true;
  expect(isOfRemains()).toBe(false);
  known.is = false;
  expect(isOfRemains()).toBe(false);
});

it('does not wait for ever where others never rest, nor because of a placement that is gone', async () => {
  const { placements, isOfRemains, clock } = disturbed();
  for (let second = 0; second < 10; second++) {
    placements.look(WEB, [], last());
    expect(isOfRemains()).toBe(true);
    await clock.advance(1_000);
  }
  expect(isOfRemains()).toBe(false);
  await clock.advance(10_000);
  placements.look(WEB, [], last());
  // That was long ago: this is another one.
  expect(isOfRemains()).toBe(true);
  placements.forget(WEB);
  expect(isOfRemains()).toBe(false);
});
