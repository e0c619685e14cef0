import { expect, it } from 'vitest';
import { DisturbedPlacements } from '../../../../src/app/serve/publish/disturbed-placements.ts';
import type { ScheduleResult } from '../../../../src/core/placement/schedule-result.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

const WEB = 'team-a/web';
const result = {} as ScheduleResult;

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

it('lets what was decided count where others changed nothing', () => {
  const { isOfRemains, again } = disturbed();
  expect([isOfRemains(), again]).toEqual([false, []]);
});

it('waits for a decision that knows what was published, and looks at none after it', () => {
  const { placements, isOfRemains, known, again } = disturbed();
  placements.saw(WEB);
  expect([isOfRemains(), again]).toEqual([true, [WEB]]);
  known.is = true;
  expect(isOfRemains()).toBe(false);
  known.is = false;
  expect(isOfRemains()).toBe(false);
});

it('does not wait for ever where others never rest, nor because of a placement that is gone', async () => {
  const { placements, isOfRemains, clock } = disturbed();
  for (let second = 0; second < 10; second++) {
    placements.saw(WEB);
    expect(isOfRemains()).toBe(true);
    await clock.advance(1_000);
  }
  expect(isOfRemains()).toBe(false);
  await clock.advance(10_000);
  placements.saw(WEB);
  // That was long ago: this is another one.
  expect(isOfRemains()).toBe(true);
  placements.forget(WEB);
  expect(isOfRemains()).toBe(false);
});
