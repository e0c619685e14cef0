import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  countedDeletions,
  type Deletion,
  deletionHash,
  countGoneMembers,
  noteDeletions,
  parseDeletions,
} from '../../../src/core/sync/earlier-deletions.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const hashOf = (identity: string) => deletionHash(digest, identity);
const deletion = (atMs: number, ...identities: string[]): Deletion => ({
  atMs,
  hashes: identities.map(hashOf),
  unnamed: 0,
});
const NAME = 'berth.dev/recent-deletions';

describe('what a source deleted before', () => {
  it('is read as it was written', () => {
    const deletions = [deletion(1_000, 'a', 'b'), deletion(2_000, 'c')];
    const note = noteDeletions(deletions, 5_000);
    expect(note).toEqual({ [NAME]: `1000:${hashOf('a')}${hashOf('b')};2000:${hashOf('c')}` });
    expect(parseDeletions(note)).toEqual(deletions);
    expect(noteDeletions([], 5_000)).toEqual({ [NAME]: '' });
    expect(noteDeletions([deletion(1_000)], 5_000)).toEqual({ [NAME]: '' });
    expect(parseDeletions({})).toEqual([]);
  });

  it.each(['x', '12', '12:', '12:xyz', ':0123456789', '12*', '12*x', '1e3:0123456789'])(
    'says nothing where somebody wrote %s',
    (text) => expect(parseDeletions({ [NAME]: text })).toEqual([]),
  );

  it('is only a number where it is too much for an annotation: the newest keep their names', () => {
    const many = (atMs: number, count: number): Deletion => ({
      atMs,
      hashes: Array.from({ length: count }, (_, at) => hashOf(`${atMs} ${at}`)),
      unnamed: 0,
    });
    const note = noteDeletions([many(1_000, 600), many(2_000, 700), many(3_000, 400)], 5_000);
    expect(note[NAME]?.length).toBeLessThan(30_000);
    const read = parseDeletions(note);
    expect(read).toEqual([{ atMs: 2_000, hashes: [], unnamed: 1_300 }, many(3_000, 400)]);
    expect(countGoneMembers({ deletions: read, elsewhere: [] }, [], digest)).toEqual({
      gone: 1_700,
      of: 1_700,
    });
    expect(parseDeletions(noteDeletions(read, 5_000))).toEqual(read);
    expect(parseDeletions(noteDeletions([many(4_000, 1_001)], 5_000))).toEqual([
      { atMs: 4_000, hashes: [], unnamed: 1_001 },
    ]);
  });

  it('counts for the time of the window, longer while something is held, and not forever when a clock was wrong', () => {
    const deletions = [deletion(1_000, 'a'), deletion(2_000, 'b'), deletion(9_000, 'c')];
    const now = { nowMs: 3_000, windowMs: 1_500, isHeld: false };
    expect(countedDeletions(deletions, now)).toEqual(deletions.slice(1));
    expect(countedDeletions(deletions, { ...now, isHeld: true })).toEqual(deletions);
    for (const isHeld of [false, true])
      expect(countedDeletions(deletions, { ...now, windowMs: 0, isHeld })).toEqual([]);
    expect(parseDeletions(noteDeletions(deletions.slice(2), 3_000))).toEqual([deletion(3_000, 'c')]);
  });

  const there = (...identities: string[]) => identities.map((identity) => ({ identity, isLeaving: false }));
  it.each([
    { name: 'gone', members: there('x', 'y'), want: { gone: 3, of: 5 } },
    { name: 'there again', members: there('x', 'a', 'b'), want: { gone: 1, of: 4 } },
    { name: 'still being deleted', members: [{ identity: 'a', isLeaving: true }], want: { gone: 3, of: 3 } },
    { name: 'another source’s by now', members: there('x'), elsewhere: ['b', 'z'], want: { gone: 2, of: 3 } },
  ])('counts each object once, and not what is not gone: $name', ({ members, elsewhere = [], want }) => {
    const deletions = [deletion(1_000, 'a', 'b'), deletion(2_000, 'a', 'c')];
    expect(countGoneMembers({ deletions, elsewhere }, members, digest)).toEqual(want);
  });
});
