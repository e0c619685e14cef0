import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { DeletionLoss } from '../../../src/core/sync/deletion-loss.ts';
import { judgeLosses } from '../../../src/core/sync/judge-losses.ts';
import {
  type EarlierLoss,
  lossEntries,
  sumEarlierLosses,
  noteLosses,
  parseLosses,
} from '../../../src/core/sync/loss-window.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const loss = (name: string, count: number, of: number): DeletionLoss => ({
  holder: `Placement team-a/${name}`,
  identity: name,
  by: ['ManagedCluster c1'],
  what: 'clusters',
  count,
  of,
  clusters: ['c1'],
  budget: undefined,
  heldFor: undefined,
});
const markOf = (name: string) => lossEntries([loss(name, 1, 1)], 0, digest)[0]?.holder ?? '';

describe('what deletions took away before', () => {
  const text = (losses: readonly EarlierLoss[], nowMs = 10_000) =>
    noteLosses(losses, nowMs)['berth.dev/recent-losses'] ?? '';
  const read = (written: string) => parseLosses({ 'berth.dev/recent-losses': written });

  it('is written and read again, oldest first; what cannot be understood is left out', () => {
    const losses = [
      ...lossEntries([loss('b', 3, 8)], 2_000, digest),
      ...lossEntries([loss('a', 1, 8)], 1_000, digest),
    ];
    expect(text(losses)).toBe(`1000:${markOf('a')}:1;2000:${markOf('b')}:3`);
    expect(read(text(losses))).toEqual([losses[1], losses[0]]);
    expect(read(`;x;1:zz:1;1000:${markOf('a')}:1:1;5:${markOf('a')}:4`)).toEqual([
      { atMs: 5, holder: markOf('a'), count: 4 },
    ]);
    expect(text([])).toBe('');
  });

  it('is of the present where the clock jumped back', () => {
    expect(read(text(lossEntries([loss('a', 1, 8)], 99_000, digest)))[0]?.atMs).toBe(10_000);
  });

  it('counts for every other holder where there are too many of them, and never for less', () => {
    const many = Array.from({ length: 900 }, (_, at) => loss(`p${at}`, at < 400 ? 2 : 1, 8));
    const known = read(text(lossEntries(many, 1_000, digest)));
    expect(known.length).toBe(501);
    const lost = many.map(
      ({ holder }, at) => sumEarlierLosses(known, markOf(`p${at}`)) >= (holder === '' ? 0 : 1),
    );
    expect(lost.every(Boolean)).toBe(true);
    expect(sumEarlierLosses(known, markOf('p0'))).toBe(2);
    expect(sumEarlierLosses(known, markOf('never lost anything'))).toBe(2);
    // Once more: what counts for all stays, and becomes no more by itself.
    expect(read(text(known))).toEqual(known);
  });

  it.each([
    { name: 'nothing before', before: [], want: undefined },
    { name: 'as many as the budget still allows', before: [['web', 1]], want: undefined },
    { name: 'one too many', before: [['web', 2]], want: '(budget 2, after 2 in the 10 minutes before)' },
    { name: 'those of another holder', before: [['api', 9]], want: undefined },
    // Of 16, a quarter may go.
    { name: 'a share of what there was before', before: [['web', 4]], of: 12, want: '(budget 4, after 4 in' },
    { name: 'a share of what there was before, not yet used', before: [['web', 3]], of: 13, want: undefined },
  ] as { name: string; before: [string, number][]; of?: number; want: string | undefined }[])(
    'is added to what goes: $name',
    ({ before, of = 8, want }) => {
      const losses = before.flatMap(([name, count]) => lossEntries([loss(name, count, 8)], 1_000, digest));
      const rules = {
        budget: { percent: 25, atLeast: 2 },
        digest,
        earlierLosses: { losses, windowMs: 600_000 },
      };
      const held = judgeLosses([loss('web', 1, of)], rules)?.text;
      if (want === undefined) expect(held).toBeUndefined();
      else expect(held).toContain(want);
    },
  );
});
