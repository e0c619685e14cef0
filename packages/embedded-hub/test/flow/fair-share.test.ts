import { describe, expect, it } from 'vitest';
import type { CapacityError, ReleaseFunction, ShareLimits } from '../../src/flow/fair-share.ts';
import { FairShare } from '../../src/flow/fair-share.ts';
import { FakeClock, settle } from '@berth/test-kit/fake-clock';

const LIMITS: ShareLimits = { capacity: 4, perUser: 4, waitingPerUser: 10, waitMs: 1_000 };

/** Takes for each word `user` or `user*amount`; says who holds what, in the order in which it was given. */
function ask(share: FairShare) {
  const given: { readonly user: string; readonly release: ReleaseFunction }[] = [];
  const refused: string[] = [];
  const take = (word: string): void => {
    const [user = '', amount = '1'] = word.split('*');
    const got = (release: ReleaseFunction): void => void given.push({ user, release });
    try {
      const taken = share.take(user, Number(amount));
      if (typeof taken === 'function') got(taken);
      else taken.then(got, (error: CapacityError) => refused.push(`${user} ${error.reason}`));
    } catch (error) {
      refused.push(`${user} ${(error as CapacityError).reason}`);
    }
  };
  const release = async (user: string): Promise<void> => {
    const at = given.findIndex((one) => one.user === user);
    given.splice(at, 1)[0]?.release();
    await settle();
  };
  return { take, release, refused, holders: () => given.map((one) => one.user).join(' ') };
}

const share = (over: Partial<ShareLimits> = {}, clock = new FakeClock()) =>
  new FairShare({ ...LIMITS, ...over }, clock);

describe('a share', () => {
  it.each([
    { name: 'gives at once while there is room', asks: 'a b c d', want: 'a b c d' },
    { name: 'gives one user all that nobody else wants', asks: 'a a a a a', want: 'a a a a' },
    { name: 'holds a user to its own limit', limits: { perUser: 2 }, asks: 'a a a b b b', want: 'a a b b' },
    {
      name: 'gives to one user while another waits for its own limit',
      limits: { perUser: 2 },
      asks: 'a a a b',
      want: 'a a b',
    },
    { name: 'counts amounts', limits: { capacity: 10, perUser: 6 }, asks: 'a*6 a*1 b*4 b*1', want: 'a b' },
    { name: 'lets nothing small pass what is large and waits', asks: 'a*3 b*2 c*1', want: 'a' },
  ])('$name', async ({ limits, asks, want }) => {
    const one = ask(share(limits));
    for (const word of asks.split(' ')) one.take(word);
    await settle();
    expect(one.holders()).toBe(want);
  });

  it.each([
    {
      name: 'gives what is free to the user who holds the least',
      asks: 'a a a a a a b b',
      released: 'a a a',
      want: 'a b b a',
    },
    {
      name: 'serves users who hold the same in turns',
      asks: 'x x x x a a a b b b',
      released: 'x x x x',
      want: 'a b a b',
    },
    {
      name: 'serves the requests of one user in their order',
      limits: { capacity: 1 },
      asks: 'x a b a',
      released: 'x a',
      want: 'b',
    },
    {
      name: 'gives to those behind a large one once that is served',
      asks: 'a*3 b*2 c*1',
      released: 'a',
      want: 'b c',
    },
  ])('$name', async ({ limits, asks, released, want }) => {
    const one = ask(share(limits));
    for (const word of asks.split(' ')) one.take(word);
    for (const user of released.split(' ')) await one.release(user);
    expect(one.holders()).toBe(want);
  });

  it('refuses what waits too long, and those behind it get their turn', async () => {
    const clock = new FakeClock();
    const limited = share({}, clock);
    const one = ask(limited);
    for (const word of ['a*3', 'b*2']) one.take(word);
    await clock.advance(600);
    one.take('c*1');
    await clock.advance(600);
    expect([one.holders(), one.refused]).toEqual(['a c', ['b time-out']]);
    expect(limited.waiting).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('refuses more than may wait, for the user who has them alone', async () => {
    const limited = share({ capacity: 1, waitingPerUser: 2 });
    const one = ask(limited);
    for (const user of ['a', 'a', 'a', 'a', 'b']) one.take(user);
    await settle();
    expect(one.refused).toEqual(['a queue-full']);
    expect(limited.waiting).toBe(3);
  });

  it('takes back only once', () => {
    const limited = share();
    const release = limited.take('a', 3) as ReleaseFunction;
    void limited.take('a', 1);
    release();
    release();
    expect(limited.held).toBe(1);
  });

  it('never gives more than there is, whatever the order', async () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const limited = share({ capacity: 20, perUser: 9, waitingPerUser: 1_000 });
    const held = new Map<string, { readonly amount: number; readonly release: ReleaseFunction }[]>();
    let asked = 0;
    let served = 0;
    for (let step = 0; step < 4_000; step += 1) {
      const user = `u${String(random(6))}`;
      const mine = held.get(user) ?? [];
      held.set(user, mine);
      if (random(3) > 0 && step < 3_000) {
        const amount = 1 + random(9);
        asked += 1;
        const taken = limited.take(user, amount);
        const got = (release: ReleaseFunction): void => {
          served += 1;
          mine.push({ amount, release });
        };
        if (typeof taken === 'function') got(taken);
        else taken.then(got, () => undefined);
      } else mine.shift()?.release();
      if (step % 10 === 0) await settle();
      expect(limited.held).toBeLessThanOrEqual(20);
    }
    for (let round = 0; round < 5_000 && served < asked; round += 1) {
      for (const mine of held.values()) for (const one of mine.splice(0)) one.release();
      await settle();
    }
    expect(served).toBe(asked);
  });
});
