import { describe, expect, it } from 'vitest';
import { isEarlierTerm, termOf } from '../../src/leader-election/lease.ts';

describe('the terms of a lease', () => {
  const term = (transitions: number, acquiredAtMs: number) =>
    termOf({ holder: 'a', durationMs: 1, transitions, acquiredAtMs, renewedAtMs: 0 });

  it.each([
    { name: 'the term before', of: term(4, 1_000), than: term(5, 2_000), want: true },
    { name: 'the same term', of: term(5, 2_000), than: term(5, 2_000), want: false },
    { name: 'a later term', of: term(6, 3_000), than: term(5, 2_000), want: false },
    {
      name: 'the first term of a lease that was made again',
      of: term(0, 3_000),
      than: term(5, 2_000),
      want: false,
    },
    { name: 'a term by a clock that is behind', of: term(6, 1_000), than: term(5, 2_000), want: false },
    { name: 'what is no term', of: '', than: term(5, 2_000), want: false },
  ])('are in order: $name', ({ of, than, want }) => expect(isEarlierTerm(of, than)).toBe(want));
});
