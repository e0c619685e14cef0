import { describe, expect, it } from 'vitest';
import {
  clustersBeforeChange,
  continueChange,
  earlierRemovals,
  endChange,
  endFinishedChange,
  countedRemovals,
} from '../../../../src/core/publish/judge/change-under-way.ts';
import type { ChangeUnderWay, PublishState } from '../../../../src/core/publish/judge/publish-state.ts';

const AT_MS = 1_000_000;
const RELEASE = { token: '0a1b2c3d4e5f' };
const change: ChangeUnderWay = { atMs: AT_MS, added: ['d'], removed: ['a', 'b'] };
const stateOf = (over: Partial<PublishState> = {}): PublishState => ({
  specHash: 'spec',
  publishedAtMs: AT_MS,
  removals: [{ atMs: AT_MS - 1, count: 1 }],
  change,
  ...over,
});
const countOf = (removals: readonly { readonly count: number }[]) =>
  removals.reduce((sum, { count }) => sum + count, 0);

describe('a change that was cut short', () => {
  it.each([
    { name: 'not begun', published: ['a', 'b', 'c'], counts: 1, before: ['a', 'b', 'c'] },
    { name: 'the new one is listed', published: ['a', 'b', 'c', 'd'], counts: 1, before: ['a', 'b', 'c'] },
    { name: 'one went', published: ['b', 'c', 'd'], counts: 2, before: ['a', 'b', 'c'] },
    { name: 'done, and nobody noted it', published: ['c', 'd'], counts: 3, before: ['c', 'd'] },
  ])('$name: $counts removed so far, and from $before', ({ published, counts, before }) => {
    const state = stateOf();
    expect(countOf(countedRemovals(state, published))).toBe(counts);
    expect([...clustersBeforeChange(change, published)].sort()).toEqual(before);
    // The process that goes on makes the rest of the same change.
    const { added, removed } = continueChange(['c', 'd'], {
      state,
      published,
      atMs: AT_MS,
      released: undefined,
    });
    if (before.includes('a')) expect({ added, removed }).toEqual({ added: ['d'], removed: ['a', 'b'] });
    else expect({ added, removed }).toEqual({ added: [], removed: [] });
  });

  it.each([
    { name: 'done: earlier removals count no more', published: ['c', 'd'], counts: 0 },
    { name: 'not done: they count until it is', published: ['b', 'c', 'd'], counts: 1 },
  ])('costs nothing when a release lets it through. $name', ({ published, counts }) => {
    const state = stateOf({ change: { ...change, released: RELEASE } });
    expect(countOf(countedRemovals(state, published))).toBe(counts);
  });

  it.each([
    { name: 'goes on: it is counted once, with the rest', published: ['b', 'c', 'd'], counts: 1 },
    { name: 'was done: it counts besides the next', published: ['c', 'd'], counts: 3 },
    { name: 'was given up: what it took counts', published: ['b', 'c', 'd'], isRestGivenUp: true, counts: 2 },
    { name: 'another spec begins again', published: ['c', 'd'], specHash: 'other', counts: 0 },
    { name: 'a release begins again', published: ['c', 'd'], released: RELEASE, counts: 0 },
  ])('$name', ({ published, counts, specHash = 'spec', released = undefined, isRestGivenUp = false }) => {
    const now = { specHash, released, published, isRestGivenUp };
    expect(countOf(earlierRemovals(stateOf(), now))).toBe(counts);
  });

  it.each([
    { name: 'counts as the removals that it made', released: undefined, counts: 3, spent: undefined },
    {
      name: 'resets the removals where it was released',
      released: RELEASE,
      counts: 0,
      spent: [RELEASE.token],
    },
  ])('that is seen to be done $name', ({ released, counts, spent }) => {
    const before = stateOf({ publishedAtMs: AT_MS - 1, change: { ...change, released } });
    const state = endFinishedChange(before, ['c', 'd']);
    expect(state).toMatchObject({ publishedAtMs: AT_MS, released, spent, change: undefined });
    expect(countOf(state.removals)).toBe(counts);
  });

  it('that is known to be done ends, although a later change brought a cluster back', () => {
    const state = endChange(stateOf(), ['a', 'c', 'd']);
    expect(state).toMatchObject({ publishedAtMs: AT_MS, change: undefined });
    // `b` is gone; one cluster went before.
    expect(countOf(state.removals)).toBe(2);
  });

  it.each([
    { name: 'not all of it is published', state: stateOf(), published: ['b', 'c', 'd'] },
    { name: 'there is none', state: stateOf({ change: undefined }), published: ['c', 'd'] },
  ])('stays as it is where $name', ({ state, published }) => {
    expect(endFinishedChange(state, published)).toBe(state);
  });
});
