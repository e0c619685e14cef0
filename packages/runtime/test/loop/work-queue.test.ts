import { describe, expect, it } from 'vitest';
import { WorkQueue } from '../../src/loop/work-queue.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';

describe('WorkQueue', () => {
  it('serves each waiting key once, in order', async () => {
    const queue = new WorkQueue(new FakeClock());
    for (const key of ['b', 'a', 'b', 'c', 'a']) queue.add(key);
    expect([await queue.take(), await queue.take(), await queue.take()]).toEqual(['b', 'a', 'c']);
  });

  it('serves a key again when it was added while it was worked on, never twice at once', async () => {
    const queue = new WorkQueue(new FakeClock());
    queue.add('a');
    await queue.take();
    queue.add('a');
    queue.add('a');
    const second = queue.take();
    let served = false;
    void second.then(() => (served = true));
    await Promise.resolve();
    expect(served).toBe(false);
    queue.done('a');
    expect(await second).toBe('a');
    queue.done('a');
    expect(queue.depth).toBe(0);
  });

  it('keeps the earlier of two delays; adding now cancels a delay', async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue(clock);
    queue.addAfter('a', 5_000);
    queue.addAfter('a', 1_000);
    queue.addAfter('a', 3_000);
    queue.addAfter('b', 9_000);
    queue.add('b');
    await clock.advance(1_000);
    expect([await queue.take(), await queue.take()]).toEqual(['b', 'a']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('wakes takers and drops timers when closed', async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue(clock);
    queue.addAfter('a', 1_000);
    const taker = queue.take();
    queue.close();
    expect(await taker).toBeUndefined();
    expect(clock.pendingTimers).toBe(0);
    queue.add('b');
    expect(await queue.take()).toBeUndefined();
  });

  it('tells when it is idle', async () => {
    const queue = new WorkQueue(new FakeClock());
    queue.add('a');
    let idle = false;
    void queue.whenIdle().then(() => (idle = true));
    await queue.take();
    await Promise.resolve();
    expect(idle).toBe(false);
    queue.done('a');
    await Promise.resolve();
    expect(idle).toBe(true);
  });
});
