import { beforeEach, describe, expect, it } from 'vitest';
import { DeletionOrder } from '../../../../src/controllers/sources/progress/deletion-order.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';

describe('the order of deletions', () => {
  let clock: FakeClock;
  let order: DeletionOrder;
  /** Sources that may try again, since the last look. */
  let free: Set<string>;
  beforeEach(() => {
    clock = new FakeClock();
    order = new DeletionOrder(clock);
    free = new Set();
    order.onFree((source) => free.add(source));
  });
  /** A sync of the source: whether it must wait for the others. */
  const judge = (source: string, ...others: string[]): boolean => {
    free.delete(source);
    order.begins(source);
    const waits = order.mustWait(source, new Set(others));
    if (!waits) order.ends(source);
    return waits;
  };

  it('lets a source judge at once when nothing of another one is open', () => {
    expect(judge('fleet')).toBe(false);
    expect(judge('fleet', 'apps')).toBe(false);
    expect(free).toEqual(new Set());
  });

  it('lets the source go first that deletes what would lose something', () => {
    order.begins('apps');
    expect(judge('fleet', 'apps')).toBe(true);
    expect(free).toEqual(new Set());
    order.ends('apps');
    expect(free).toEqual(new Set(['fleet']));
    expect(judge('fleet')).toBe(false);
  });

  it('lets a source read its losses again that another one may have changed meanwhile', () => {
    order.begins('apps');
    order.begins('fleet');
    order.ends('apps');
    expect(order.mustWait('fleet', new Set(['apps']))).toBe(true);
    expect(free).toEqual(new Set(['fleet']));
    expect(judge('fleet', 'apps')).toBe(false);
  });

  it('follows a chain', () => {
    order.begins('c');
    order.begins('b');
    expect(judge('a', 'b')).toBe(true);
    expect(order.mustWait('b', new Set(['c']))).toBe(true);
    expect(free).toEqual(new Set());
    order.ends('c');
    expect(free).toEqual(new Set(['a', 'b']));
    // The first one in the chain looks too early, and waits once more.
    order.begins('b');
    expect(judge('a', 'b')).toBe(true);
    order.ends('b');
    expect(free).toContain('a');
    expect(judge('a')).toBe(false);
  });

  it('ends when sources wait for each other: each keeps what it has', () => {
    order.begins('a');
    order.begins('b');
    expect(order.mustWait('a', new Set(['b']))).toBe(true);
    expect(order.mustWait('b', new Set(['a']))).toBe(false);
    order.ends('b');
    expect(free).toEqual(new Set(['a']));
    expect(judge('a', 'b')).toBe(false);
  });

  it('waits half a minute at most', async () => {
    order.begins('apps');
    expect(judge('fleet', 'apps')).toBe(true);
    await clock.advance(29_000);
    expect(judge('fleet', 'apps')).toBe(true);
    await clock.advance(1_000);
    expect(judge('fleet', 'apps')).toBe(false);
  });
});
