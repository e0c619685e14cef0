import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RequestSlots } from '../../src/transport/request-slots.ts';
import { PLACEMENT } from '../../src/model/kinds.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { sendJson, startScripted } from '../scripted-server.ts';

const GET = { method: 'GET', path: '/x' };
const KEY = { namespace: 'team-a', name: 'web' };

describe('request slots', () => {
  it('run so many at once and the others in order', async () => {
    const slots = new RequestSlots(2, 1_000, new FakeClock());
    const started: number[] = [];
    const ends: (() => void)[] = [];
    const runs = [0, 1, 2, 3].map((index) =>
      slots.run(GET, () => {
        started.push(index);
        return new Promise<void>((resolve) => ends.push(resolve));
      }),
    );
    await Promise.resolve();
    expect(started).toEqual([0, 1]);
    for (let done = 0; done < runs.length; done++) {
      ends[done]?.();
      await runs[done];
      await Promise.resolve();
    }
    expect(started).toEqual([0, 1, 2, 3]);
  });

  it('send the request that waited before the one that was answered goes on', async () => {
    const slots = new RequestSlots(1, 1_000, new FakeClock());
    const order: string[] = [];
    const first = slots
      .run(GET, () => nextTurn().then(() => order.push('first answered')))
      .then(() => order.push('first goes on'));
    const second = slots.run(GET, async () => {
      order.push('second begun');
      // Whatever a session does before the end of the turn.
      for (let step = 0; step < 50; step++) await Promise.resolve();
      order.push('second sent');
    });
    await Promise.all([first, second]);
    expect(order).toEqual(['first answered', 'second begun', 'second sent', 'first goes on']);
  });

  it('make nobody wait for a turn where no request waits', async () => {
    const slots = new RequestSlots(2, 1_000, new FakeClock());
    let isNextTurn = false;
    setImmediate(() => (isNextTurn = true));
    await slots.run(GET, () => Promise.resolve());
    expect(isNextTurn).toBe(false);
  });

  it('give a slot back when a request fails', async () => {
    const slots = new RequestSlots(1, 1_000, new FakeClock());
    await expect(slots.run(GET, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(slots.run(GET, () => Promise.resolve('yes'))).resolves.toBe('yes');
  });

  it('a request that waits too long is never sent, and takes no slot', async () => {
    const clock = new FakeClock();
    const slots = new RequestSlots(1, 1_000, clock);
    let end = (): void => undefined;
    const first = slots.run(GET, () => new Promise<void>((resolve) => (end = resolve)));
    let sent = false;
    const late = slots.run(GET, () => Promise.resolve((sent = true))).catch((error: unknown) => error);
    await clock.advance(1_000);
    await expect(late).resolves.toMatchObject({ name: 'TransientError', code: 'kube.busy' });
    end();
    await first;
    expect(sent).toBe(false);
    await expect(slots.run(GET, () => Promise.resolve(1))).resolves.toBe(1);
  });
});

describe.each(['http', 'h2'] as const)('a request over %s that waits for its turn', (protocol) => {
  const stops: (() => Promise<void>)[] = [];
  // Time passes when the tests say so, however fast the machine is.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(async () => {
    vi.useRealTimers();
    for (const stop of stops.splice(0)) await stop();
  });
  const slow = async (options: object) => {
    const server = await startScripted(
      (_request, response) => setTimeout(() => sendJson(response, 200, { metadata: { name: 'web' } }), 150),
      { protocol, maxRequests: 1, ...options },
    );
    stops.push(server.close);
    return server;
  };

  it('has its whole time-out from the moment it is sent', async () => {
    const { api, seen } = await slow({ requestTimeoutMs: 400 });
    const answers = Promise.all(Array.from({ length: 6 }, () => api.get(PLACEMENT, KEY)));
    for (let sent = 1; sent <= 6; sent++) {
      await expect.poll(() => seen.length).toBe(sent);
      await vi.advanceTimersByTimeAsync(150);
    }
    expect(await answers).toHaveLength(6);
  });

  it('does not wait forever', async () => {
    const { api, seen } = await slow({ queueTimeoutMs: 50 });
    const answers = Promise.allSettled([api.get(PLACEMENT, KEY), api.get(PLACEMENT, KEY)]);
    await expect.poll(() => seen.length).toBe(1);
    await vi.advanceTimersByTimeAsync(150);
    const settled = await answers;
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(settled[1]).toMatchObject({ reason: { code: 'kube.busy' } });
    expect(seen).toHaveLength(1);
  });
});
