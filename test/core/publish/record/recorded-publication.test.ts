import { describe, expect, it } from 'vitest';
import type { Placement } from '@berth/ocm/kind/placement';
import { type DecisionPage, listedClusters } from '../../../../src/core/publish/pages/decision-page.ts';
import type { ChangeUnderWay, PublishState } from '../../../../src/core/publish/judge/publish-state.ts';
import { planToRestore } from '../../../../src/core/publish/record/last-publication.ts';
import { recordedPublication as recorded } from '../../../../src/core/publish/record/recorded-publication.ts';
import { decisionRecord } from '../../../fakes/decision-record.ts';

const page = (number: number, ...clusters: string[]): DecisionPage => ({
  name: `web-decision-${number}`,
  group: { name: '', index: number - 1 },
  decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })),
  owned: true,
});
const record = decisionRecord({
  hash: 'r1',
  clusters: 3,
  decided: JSON.stringify({
    selected: ['a', 'b', 'c'],
    selectedScores: [3, 2, 1],
    groups: [
      { name: '', index: 0, clusters: ['a', 'b'] },
      { name: '', index: 1, clusters: ['c'] },
    ],
  }),
});
const placement = (count: number | undefined, spec: Placement['spec'] = {}): Placement => ({
  apiVersion: 'v',
  kind: 'Placement',
  metadata: { name: 'web', namespace: 'a' },
  spec,
  status: {
    numberOfSelectedClusters: count,
    decisionGroups: [
      { decisionGroupIndex: 0, decisionGroupName: '', decisions: ['web-decision-1'], clusterCount: 2 },
      { decisionGroupIndex: 1, decisionGroupName: '', decisions: ['web-decision-2'], clusterCount: 1 },
    ],
  },
});
const change = (added: string[], removed: string[]): ChangeUnderWay => ({ atMs: 1, added, removed });
const state = (over: Partial<PublishState> = {}): PublishState => ({
  specHash: '',
  publishedAtMs: 0,
  removals: [],
  record: 'r1',
  ...over,
});

const recordedPublication = (input: Omit<Parameters<typeof recorded>[0], 'pagesSince' | 'seen'>) =>
  recorded({ ...input, pagesSince: undefined, seen: [] });

describe('what the controller before published, by its last record', () => {
  it.each([
    { name: 'a page is gone', pages: [page(2, 'c')], missing: { 'web-decision-1': 'a b' } },
    {
      name: 'a cluster is gone from a page that is there',
      pages: [page(1, 'b'), page(2, 'c')],
      missing: { 'web-decision-1': 'a' },
    },
    {
      name: 'and a change was under way',
      pages: [page(2, 'x')],
      change: change(['x'], ['c']),
      missing: { 'web-decision-1': 'a b', 'web-decision-2': 'c' },
      leaving: ['c'],
    },
  ])('is known: $name', ({ pages, missing, change: underWay, leaving = [] }) => {
    const known = recordedPublication({
      record,
      state: state({ change: underWay }),
      placement: placement(3),
      pages,
    });
    const listed = known?.pages.map(({ name, decisions }) => [
      name,
      decisions.map(({ clusterName }) => clusterName).join(' '),
    ]);
    expect(listed?.slice(pages.length)).toEqual(Object.entries(missing));
    expect(known?.pages.slice(0, pages.length)).toMatchObject(
      pages.map(({ name, decisions }) => ({ name, decisions })),
    );
    expect(known?.leaving).toEqual(leaving);
  });

  it.each([
    { name: 'nothing is gone', pages: [page(1, 'a', 'b'), page(2, 'c')] },
    { name: 'there is no record', record: undefined },
    { name: 'the record is not the last one', state: state({ record: 'r2' }) },
    { name: 'the state is lost', state: undefined },
    { name: 'the placement was made anew: it counts nothing', placement: placement(undefined) },
    { name: 'another number was published after it', placement: placement(2) },
    { name: 'another cluster was published after it', pages: [page(1, 'a', 'x')] },
  ])('is what the pages say where $name', (over) => {
    const input = { record, state: state(), placement: placement(3), pages: [page(1, 'a')], ...over };
    expect(recordedPublication(input)).toBeUndefined();
  });

  it.each([
    { name: 'more clusters', pages: [page(1, 'x', 'a'), page(2, 'y')], status: 5 },
    { name: 'fewer clusters', pages: [page(1, 'b')], status: 1 },
    { name: 'the same clusters', pages: [page(1, 'a', 'b'), page(2, 'c')], status: 3 },
    { name: 'no pages', pages: [], status: undefined },
  ])('is what the record says on a hub that was restored from a backup with $name', ({ pages, status }) => {
    const input = { record, state: state(), placement: placement(status), pages };
    const known = recorded({ ...input, pagesSince: new Set(), seen: [] });
    expect([...listedClusters(known?.pages ?? [])].sort()).toEqual(['a', 'b', 'c']);
    expect(known?.leaving).toBeUndefined();
  });

  it.each([
    { name: 'a page that was written after it lists', pagesSince: ['web-decision-1'], want: 'a b c x' },
    { name: 'the process saw before the restore', seen: [page(1, 'a', 'z')], want: 'a b c z' },
  ])('is what the record says on a restored hub, and what $name', ({ pagesSince, seen = [], want }) => {
    const pages = [page(1, 'a', 'x'), page(2, 'c', 'y')];
    const from = { record, state: state(), placement: placement(5), pages, pagesSince: new Set(pagesSince) };
    const known = recorded({ ...from, seen: seen.map(({ group, ...rest }) => ({ ...rest, group: group! })) });
    expect([...listedClusters(known?.pages ?? [])].sort().join(' ')).toBe(want);
  });

  it('is not known on a hub that was restored while a change was under way', () => {
    const pages = [page(1, 'a', 'x')];
    const input = { record, placement: placement(5), pages, pagesSince: new Set<string>(), seen: [] };
    expect(recorded({ ...input, state: state({ change: change(['x'], ['c']) }) })).toBeUndefined();
  });

  it('has scores where the placement asks for them, and what stood there in the middle of a handover', () => {
    const scored = recordedPublication({
      record,
      state: state(),
      placement: placement(3, { sortBy: 'Score' }),
      pages: [page(2, 'c')],
    });
    expect(scored?.pages[1]?.decisions).toEqual([
      { clusterName: 'a', reason: '', score: 3 },
      { clusterName: 'b', reason: '', score: 2 },
    ]);
    const groups = [page(1, 'a', 'old'), page(2, 'c')].map(({ group, decisions }) => ({
      ...group!,
      decisions,
    }));
    const moving = recordedPublication({
      record: { ...record, published: groups },
      state: state(),
      placement: placement(3),
      pages: [page(2, 'c')],
    });
    expect(moving?.pages.slice(1)).toEqual([
      { name: 'web-decision-1', group: { name: '', index: 0 }, decisions: groups[0]?.decisions },
    ]);
  });

  it.each([
    { name: 'a page is gone', pages: [page(2, 'c')] },
    { name: 'a cluster is gone', pages: [page(1, 'b'), page(2, 'c')] },
    { name: 'a page was made again, and its controller killed', pages: [page(1), page(2, 'c')] },
    { name: 'the hub is empty', pages: [] },
  ])('is put back on the pages that it was on: $name', ({ pages }) => {
    const known = recordedPublication({ record, state: state(), placement: placement(3), pages });
    const stay = planToRestore('web', pages, known, () => false);
    const listed = stay.pages.map(({ name, decisions }) => [
      name,
      decisions
        .map(({ clusterName }) => clusterName)
        .sort()
        .join(' '),
    ]);
    expect(listed).toEqual([
      ['web-decision-1', 'a b'],
      ['web-decision-2', 'c'],
    ]);
  });
});
