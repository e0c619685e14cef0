import { describe, expect, it } from 'vitest';
import type { StoredLease } from '../../src/leader-election/lease.ts';
import { viewLease } from '../../src/leader-election/lease-view.ts';
import { planElection } from '../../src/leader-election/plan-election.ts';

const lease = (over: Partial<StoredLease> = {}): StoredLease => ({
  holder: 'other',
  durationMs: 15_000,
  transitions: 3,
  acquiredAtMs: 50,
  renewedAtMs: 60,
  version: '7',
  ...over,
});

describe('viewLease', () => {
  const at = (nowMs: number, graceMs = 0) => ({ nowMs, defaultDurationMs: 9_000, graceMs });

  it.each([
    { name: 'none, seen first', before: undefined, seen: undefined, want: 1_000 },
    { name: 'held, seen first, for its whole duration', before: undefined, seen: lease(), want: 16_000 },
    {
      name: 'held, whatever time it says',
      before: undefined,
      seen: lease({ renewedAtMs: -1e12 }),
      want: 16_000,
    },
    { name: 'held, without a duration', before: undefined, seen: lease({ durationMs: 0 }), want: 10_000 },
    { name: 'released', before: undefined, seen: lease({ holder: '' }), want: 1_000 },
    { name: 'unchanged', before: { lease: lease(), freeAtMs: 7_000 }, seen: lease(), want: 7_000 },
    { name: 'unchanged for too long', before: { lease: lease(), freeAtMs: 5 }, seen: lease(), want: 1_000 },
    { name: 'renewed', before: { lease: lease({ version: '6' }), freeAtMs: 5 }, seen: lease(), want: 16_000 },
    { name: 'gone', before: { lease: lease(), freeAtMs: 12_000 }, seen: undefined, want: 12_000 },
    {
      name: 'gone, and made again',
      before: { lease: undefined, freeAtMs: 12_000 },
      seen: lease(),
      want: 16_000,
    },
  ])('$name: free at $want', ({ before, seen, want }) => {
    expect(viewLease(before, seen, at(1_000))).toEqual({ lease: seen, freeAtMs: want });
  });

  it('leaves a lease to its holder for a while when nobody could look, unless it was released', () => {
    const before = { lease: lease(), freeAtMs: 5 };
    expect(viewLease(before, lease(), at(1_000, 4_000)).freeAtMs).toBe(5_000);
    expect(viewLease({ ...before, freeAtMs: 9_000 }, lease(), at(1_000, 4_000)).freeAtMs).toBe(9_000);
    const released = lease({ holder: '' });
    expect(viewLease({ lease: released, freeAtMs: 5 }, released, at(1_000, 4_000)).freeAtMs).toBe(5);
  });
});

describe('planElection', () => {
  const state = {
    identity: 'me',
    leaseDurationMs: 15_000,
    isLeading: false,
    isHeld: false,
    nowMs: 10_000,
    wallMs: 99,
  };
  const mine = {
    holder: 'me',
    durationMs: 15_000,
    acquiredAtMs: 99,
    renewedAtMs: 99,
  };

  it.each([
    {
      name: 'waits while another holds it',
      given: { view: { lease: lease(), freeAtMs: 12_500 } },
      want: { kind: 'wait', forMs: 2_500 },
    },
    {
      name: 'takes it when it ran out',
      given: { view: { lease: lease(), freeAtMs: 10_000 } },
      want: { kind: 'write', lease: { ...mine, transitions: 4 } },
    },
    {
      name: 'takes it when it was released',
      given: { view: { lease: lease({ holder: '' }), freeAtMs: 10_000 } },
      want: { kind: 'write', lease: { ...mine, transitions: 4 } },
    },
    {
      name: 'makes it where there is none',
      given: { view: { lease: undefined, freeAtMs: 0 } },
      want: { kind: 'write', lease: { ...mine, transitions: 0 } },
    },
    {
      name: 'waits where one vanished that another held',
      given: { view: { lease: undefined, freeAtMs: 11_000 } },
      want: { kind: 'wait', forMs: 1_000 },
    },
    {
      name: 'goes on with the one that it took when the answer was lost',
      given: { view: { lease: lease({ holder: 'me' }), freeAtMs: 99_000 } },
      want: { kind: 'write', lease: { ...mine, acquiredAtMs: 50, transitions: 3 } },
    },
    {
      name: 'renews its own',
      given: { isLeading: true, isHeld: true, view: { lease: lease({ holder: 'me' }), freeAtMs: 99_000 } },
      want: { kind: 'write', lease: { ...mine, acquiredAtMs: 50, transitions: 3 } },
    },
    {
      name: 'renews its own also when it had lapsed: nobody else took it',
      given: { isLeading: true, view: { lease: lease({ holder: 'me' }), freeAtMs: 0 } },
      want: { kind: 'write', lease: { ...mine, acquiredAtMs: 50, transitions: 3 } },
    },
    {
      name: 'renews so that something changes, also when the clock was set back by just so much',
      given: { isLeading: true, view: { lease: lease({ holder: 'me', renewedAtMs: 99 }), freeAtMs: 0 } },
      want: { kind: 'write', lease: { ...mine, acquiredAtMs: 50, renewedAtMs: 100, transitions: 3 } },
    },
    {
      name: 'has lost it to another',
      given: { isLeading: true, isHeld: true, view: { lease: lease(), freeAtMs: 0 } },
      want: { kind: 'lost', holder: 'other' },
    },
    {
      name: 'has lost it to one that led meanwhile and released it',
      given: { isLeading: true, view: { lease: lease({ holder: '' }), freeAtMs: 0 } },
      want: { kind: 'lost', holder: '' },
    },
    {
      name: 'makes its own again when somebody deleted it',
      given: { isLeading: true, isHeld: true, view: { lease: undefined, freeAtMs: 0 } },
      want: { kind: 'write', lease: { ...mine, transitions: 0 } },
    },
    {
      name: 'cannot know who led when its own is gone after it had lapsed',
      given: { isLeading: true, view: { lease: undefined, freeAtMs: 0 } },
      want: { kind: 'lost', holder: '' },
    },
  ])('$name', ({ given, want }) => {
    expect(planElection({ ...state, ...given })).toEqual(want);
  });
});
