import { expect, it } from 'vitest';
import { TimeSlices } from '../../src/loop/sleep.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';

it('is over after its length, until the next slice begins', () => {
  const clock = new FakeClock();
  const slices = new TimeSlices(clock, 5);
  clock.jump(4);
  expect(slices.isOver()).toBe(false);
  clock.jump(1);
  expect(slices.isOver()).toBe(true);
  slices.begin();
  expect(slices.isOver()).toBe(false);
});
