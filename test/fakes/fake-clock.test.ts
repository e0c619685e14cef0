import { expect, it } from 'vitest';
import { FakeClock } from '@berth/test-kit/fake-clock';

it('a timer that always sets itself again without a delay fails the test instead of keeping it running', async () => {
  const clock = new FakeClock();
  const repeat = (): void => void clock.schedule(0, repeat);
  repeat();
  await expect(clock.advance(1)).rejects.toThrow('something repeats itself without a pause');
});

it('as many timers as one likes may fire one after the other', async () => {
  const clock = new FakeClock();
  let left = 20_000;
  const repeat = (): void => void (left-- > 0 && clock.schedule(1, repeat));
  repeat();
  await clock.advance(20_000);
  expect(left).toBe(-1);
});
