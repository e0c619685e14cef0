import { describe, expect, it } from 'vitest';
import type { CountedConnection } from '../../src/flow/connection-limits.ts';
import { ConnectionLimits } from '../../src/flow/connection-limits.ts';

/** Connections named by their order, and which of them were dropped. */
function house(options = { total: 10_000, perAddress: 8_000 }) {
  const limits = new ConnectionLimits(options);
  const dropped: string[] = [];
  const open = (name: string, address = '10.0.0.1'): CountedConnection | undefined => {
    const one = { address, drop: () => void dropped.push(name) };
    return limits.open(one) ? one : undefined;
  };
  const known = (name: string, user: string | undefined, address?: string): CountedConnection | undefined => {
    const one = open(name, address);
    if (one !== undefined && !limits.identify(one, user)) return undefined;
    return one;
  };
  return { limits, dropped, open, known };
}

describe('connections of nobody', () => {
  it('drop the oldest of their address, never the newest', () => {
    const { limits, dropped, open } = house();
    for (let index = 0; index < 2_003; index += 1) open(String(index));
    expect(dropped).toEqual(['0', '1', '2']);
    open('elsewhere', '10.0.0.2');
    expect([dropped.length, limits.unidentified]).toEqual([3, 2_001]);
  });

  it('drop the oldest of all when many addresses send them', () => {
    const { limits, dropped, open } = house();
    for (let index = 0; index < 4_500; index += 1) open(String(index), `10.0.0.${String(index % 50)}`);
    expect(limits.unidentified).toBe(4_000);
    expect(dropped.slice(0, 2)).toEqual(['0', '1']);
  });

  it('make place for a newcomer where the address is full', () => {
    const { dropped, open, known } = house({ total: 100, perAddress: 3 });
    known('a', 'alice');
    open('b');
    known('c', 'carol');
    expect(open('d')).toBeDefined();
    expect(dropped).toEqual(['b']);
  });
});

describe('connections of known users', () => {
  it('are not dropped for those of nobody', () => {
    const { dropped, open, known } = house();
    known('agent', 'agent');
    for (let index = 0; index < 2_001; index += 1) open(String(index));
    expect(dropped).toEqual(['0']);
  });

  it('make place, of the user who has the most, where everything is full', () => {
    const { dropped, known } = house({ total: 5, perAddress: 5 });
    for (const [name, user] of [
      ['a1', 'alice'],
      ['m1', 'mallory'],
      ['m2', 'mallory'],
      ['m3', 'mallory'],
      ['b1', 'bob'],
    ])
      known(name as string, user);
    expect(known('admin', undefined)).toBeDefined();
    expect(dropped).toEqual(['m1']);
  });

  it('refuse a newcomer where nobody has more than one', () => {
    const { dropped, known, open, limits } = house({ total: 2, perAddress: 2 });
    known('a', 'alice');
    known('b', 'bob');
    expect([open('c'), dropped, limits.refused]).toEqual([undefined, [], 1]);
  });

  it('are at most a thousand for a user, without end for an administrator', () => {
    const { known } = house();
    const opened = (user?: string) =>
      Array.from({ length: 1_010 }, (_, index) => known(`${user ?? ''}${String(index)}`, user)).filter(
        (one) => one !== undefined,
      ).length;
    expect([opened('mallory'), opened(undefined)]).toEqual([1_000, 1_010]);
  });

  it('count for the user who was recognised last', () => {
    const { limits, known } = house();
    const shared = known('shared', 'alice') as CountedConnection;
    expect(limits.identify(shared, 'bob')).toBe(true);
    limits.close(shared);
    limits.close(shared);
    expect([limits.count, limits.unidentified]).toEqual([0, 0]);
  });
});
