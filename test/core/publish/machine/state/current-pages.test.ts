import { describe, expect, it } from 'vitest';
import {
  newestPageVersion,
  pagesSinceRecord,
} from '../../../../../src/core/publish/machine/state/own-writes.ts';
import { pageOf } from '../machine-fixture.ts';

const PAGES = [pageOf('9', ['c1'], { name: 'a' }), pageOf('12', ['c2'], { name: 'b' })];

describe('the newest version of pages', () => {
  it.each([
    { name: 'is compared as a number', pages: PAGES, want: '12' },
    { name: 'is 0 where there are none', pages: [], want: '0' },
  ])('$name', ({ pages, want }) => {
    expect(newestPageVersion(pages)).toBe(want);
  });
});

describe('the pages that were written after the last record', () => {
  it.each([
    { name: 'are not asked for on a hub that was never restored', restoredTo: [], want: undefined },
    { name: 'nor where it was restored before the record', restoredTo: ['10'], restores: 1, want: undefined },
    {
      name: 'are those of later versions than its pages had',
      restoredTo: ['12'],
      pagesVersion: '9',
      want: ['b'],
    },
    { name: 'are none where the backup is older', restoredTo: ['12'], pagesVersion: '50', want: [] },
    { name: 'are those written since the restore', restoredTo: ['10'], pagesVersion: '50', want: ['b'] },
    {
      name: 'are those written since the oldest of several backups',
      restoredTo: ['10', '8', '12'],
      restores: 1,
      pagesVersion: '50',
      want: ['a', 'b'],
    },
    { name: 'are those beyond the backup where the state has no version', restoredTo: ['10'], want: ['b'] },
  ])('$name', ({ restoredTo, want, ...state }) => {
    const since = pagesSinceRecord(PAGES, state, { restoredTo });
    expect(since && [...since]).toEqual(want);
  });
});
