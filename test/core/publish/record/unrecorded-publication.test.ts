import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { DecisionPage } from '../../../../src/core/publish/pages/decision-page.ts';
import type { DecisionRecord } from '../../../../src/core/publish/record/decision-record.ts';
import type { PublishState } from '../../../../src/core/publish/judge/publish-state.ts';
import { groupsOfPages, pagesDigest } from '../../../../src/core/publish/record/last-publication.ts';
import { unrecordedPublication } from '../../../../src/core/publish/record/recorded-publication.ts';
import { decisionRecord } from '../../../fakes/decision-record.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const page = (name: string, index: number, ...clusters: string[]): DecisionPage => ({
  name,
  group: { name: '', index },
  decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })),
  owned: true,
});
const PAGES = [page('web-decision-1', 0, 'b', 'a'), page('web-decision-2', 0, 'c')];
const decided = (...clusters: string[]) => JSON.stringify({ groups: [{ index: 0, name: '', clusters }] });
const TIME = '2026-01-01T00:00:00Z';

function found(
  newest: DecisionRecord | undefined,
  pages: readonly DecisionPage[],
  past: { readonly state?: PublishState; readonly oldestAtMs?: number } = {},
) {
  const { state, oldestAtMs = -Infinity } = past;
  return unrecordedPublication(pages, { newest, oldestAtMs, state, digest });
}

describe('what the pages list and no record says', () => {
  it.each([
    { name: 'the same, on other pages', record: decisionRecord({ decided: decided('a', 'b', 'c') }) },
    {
      name: 'the same, half of a handover',
      record: decisionRecord({ decided: decided('a'), published: groupsOfPages(PAGES) }),
    },
    { name: 'nothing, and never was anything', record: undefined, pages: [page('web-decision-1', 0)] },
  ])('is nothing: $name', ({ record, pages = PAGES }) => {
    expect(found(record, pages)).toBeUndefined();
  });

  it('is the difference from the newest record of the placement', () => {
    const record = decisionRecord({ decided: decided('a', 'x') });
    expect(found(record, PAGES)).toMatchObject({ added: ['b', 'c'], removed: ['x'] });
  });

  it('is all of it where there is no record', () => {
    expect(found(undefined, PAGES)).toMatchObject({ added: ['a', 'b', 'c'], removed: [] });
  });

  it.each([
    { name: 'is what was announced and made', removed: ['x'], want: { added: ['c'], removed: ['x'] } },
    {
      name: 'is all of it where only a part was made',
      removed: ['a', 'x'],
      want: { added: ['a', 'b', 'c'], removed: [] },
    },
  ])('$name, where the last record is lost', ({ removed, want }) => {
    const state = {
      specHash: '',
      publishedAtMs: 3,
      removals: [],
      change: { atMs: 5, added: ['c'], removed },
    };
    expect(found(undefined, PAGES, { state })).toMatchObject(want);
  });

  it.each([
    { name: 'the records on the hub', state: { recalled: true as const }, isFound: true },
    { name: 'the state on the disk', state: { record: '1' }, isFound: true },
    { name: 'nothing', state: {}, isFound: false },
  ])(
    'is that others emptied the pages, where $name tells of a publication: $isFound',
    ({ state, isFound }) => {
      const empty = [page('web-decision-1', 0)];
      const past = { state: { specHash: '', publishedAtMs: 3, removals: [], ...state } };
      expect(found(undefined, empty, past)?.groups.map(({ decisions }) => decisions)).toEqual(
        isFound ? [[]] : undefined,
      );
    },
  );

  it('is another group of the same clusters', () => {
    const record = decisionRecord({ decided: decided('a', 'b', 'c') });
    const other = [page('web-decision-1', 1, 'a', 'b', 'c')];
    expect(found(record, other)).toMatchObject({ added: [], removed: [] });
  });

  it.each([
    { publishedAt: -1, pages: PAGES, isFound: false },
    { publishedAt: 1, pages: PAGES, isFound: true },
    { publishedAt: -1, pages: PAGES.slice(0, 1), isFound: true },
  ])('is not what was dropped with old records: $isFound', ({ publishedAt, pages, isFound }) => {
    const oldestAtMs = Date.parse(TIME);
    const stood = pagesDigest(digest, groupsOfPages(PAGES));
    const publishedAtMs = oldestAtMs + publishedAt;
    const state = { specHash: '', publishedAtMs, removals: [], record: '1', pages: stood };
    expect(found(undefined, pages, { state, oldestAtMs }) !== undefined).toBe(isFound);
  });

  describe('and what is known of it', () => {
    const record = decisionRecord({ decided: decided('a', 'b', 'c', 'x') });
    const pages = pagesDigest(digest, groupsOfPages(PAGES));
    const done: PublishState = { specHash: '', publishedAtMs: 7, removals: [{ atMs: 7, count: 1 }], pages };
    const noted: PublishState = { specHash: '', publishedAtMs: 3, removals: [] };
    const change = { atMs: 5, added: [], removed: ['x'] };
    const release = { token: 'abc', by: 'Ada' };

    it.each([
      { name: 'nothing, where nothing was noted', state: noted, made: undefined },
      { name: 'nothing, where other pages were', state: { ...done, pages: 'other' }, made: undefined },
      {
        name: 'the change that was noted before it was made',
        state: { ...noted, change },
        made: { atMs: 5, released: undefined, counts: true },
      },
      {
        name: 'that only a part of the change was made',
        state: { ...noted, change: { ...change, removed: ['x', 'a'] } },
        made: { atMs: 5, released: undefined, counts: false },
      },
      {
        name: 'that a release is not used by a part of its change',
        state: { ...noted, change: { ...change, removed: ['x', 'a'], released: release } },
        made: { atMs: 5, released: undefined, counts: false },
      },
      {
        name: 'the release of the change',
        state: { ...noted, change: { ...change, released: release } },
        made: { atMs: 5, released: release, counts: false },
      },
      { name: 'that it was done', state: done, made: { atMs: 7, released: undefined, counts: true } },
      {
        name: 'that it was done with a release',
        state: { ...done, removals: [], released: release },
        made: { atMs: 7, released: release, counts: false },
      },
    ])('is $name', ({ state, made }) => {
      expect(found(record, PAGES, { state })?.made).toEqual(made);
    });
  });
});
