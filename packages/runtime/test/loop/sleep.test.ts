import { describe, expect, it } from 'vitest';
import { WakeUp } from '../../src/loop/sleep.ts';

describe('waiting for a call', () => {
  const never = new AbortController().signal;

  it('ends with a call', async () => {
    const wakeUp = new WakeUp();
    const waiting = wakeUp.wait(never);
    wakeUp.call();
    await waiting;
  });

  it('ends at once after a call that nobody waited for, and only once', async () => {
    const wakeUp = new WakeUp();
    wakeUp.call();
    wakeUp.call();
    await wakeUp.wait(never);
    let over = false;
    const second = wakeUp.wait(never).then(() => (over = true));
    await new Promise(setImmediate);
    expect(over).toBe(false);
    wakeUp.call();
    await second;
  });

  it('ends when its signal aborts, before or meanwhile', async () => {
    const wakeUp = new WakeUp();
    await wakeUp.wait(AbortSignal.abort());
    const stop = new AbortController();
    const waiting = wakeUp.wait(stop.signal);
    stop.abort();
    await waiting;
  });
});
