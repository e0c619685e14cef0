import { beforeEach, describe, expect, it } from 'vitest';
import { AwaitedMoves } from '../../../../src/controllers/sources/progress/awaited-moves.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';

describe('AwaitedMoves', () => {
  let clock: FakeClock;
  let moves: AwaitedMoves;
  let free: string[];
  beforeEach(() => {
    [clock, free] = [new FakeClock(), []];
    moves = new AwaitedMoves(clock, [
      { name: 'fleet', ref: 'main' },
      { name: 'apps', ref: 'main' },
      { name: 'other', ref: 'next' },
      { name: 'folder' },
      { name: 'folder2' },
    ]);
    moves.onFree((source) => void free.push(source));
    for (const source of ['fleet', 'apps', 'other']) moves.claimed(source, 'a');
  });

  it('waits for a source of the same ref that has not read the commit', () => {
    expect(moves.mustWait('fleet', 'apps')).toBe(false);
    moves.claimed('fleet', 'b');
    expect(moves.mustWait('fleet', 'apps')).toBe(true);
    expect(moves.mustWait('fleet', 'other')).toBe(false);
    expect(free).toEqual([]);
    moves.claimed('apps', 'b');
    expect(free).toEqual(['fleet']);
    expect(moves.mustWait('fleet', 'apps')).toBe(false);
    moves.claimed('apps', 'b');
    expect(free).toEqual(['fleet']);
  });

  it('waits for the next commit where the other source is ahead', () => {
    moves.claimed('apps', 'c');
    expect(moves.mustWait('fleet', 'apps')).toBe(true);
    moves.claimed('fleet', 'c');
    expect(moves.mustWait('fleet', 'apps')).toBe(false);
    expect(free).toEqual([]);
  });

  it('does not wait for a source that cannot be read, until it can', () => {
    moves.claimed('fleet', 'b');
    expect(moves.mustWait('fleet', 'apps')).toBe(true);
    moves.failed('apps');
    expect(free).toEqual(['fleet']);
    expect(moves.mustWait('fleet', 'apps')).toBe(false);
    moves.claimed('apps', 'a');
    expect(moves.mustWait('fleet', 'apps')).toBe(true);
  });

  it('waits half a minute at most', async () => {
    moves.claimed('fleet', 'b');
    expect(moves.mustWait('fleet', 'apps')).toBe(true);
    await clock.advance(29_999);
    expect(moves.mustWait('fleet', 'apps')).toBe(true);
    await clock.advance(1);
    expect(moves.mustWait('fleet', 'apps')).toBe(false);
    // Another commit is another wait.
    moves.claimed('fleet', 'c');
    expect(moves.mustWait('fleet', 'apps')).toBe(true);
  });

  it('does not wait without a commit, or for a source that it does not know', () => {
    expect(moves.mustWait('folder', 'folder2')).toBe(false);
    moves.claimed('folder', undefined);
    moves.claimed('nobody', 'b');
    moves.failed('nobody');
    expect(moves.mustWait('folder', 'apps')).toBe(false);
    expect(moves.mustWait('fleet', 'nobody')).toBe(false);
    expect(moves.mustWait('nobody', 'fleet')).toBe(false);
  });
});
