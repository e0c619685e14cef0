import { expect, it } from 'vitest';
import type { DecisionPage } from '../../../../src/core/publish/pages/decision-page.ts';
import { listClustersOnce } from '../../../../src/core/publish/record/last-publication.ts';

const page = (number: number, ...clusters: string[]): DecisionPage => ({
  name: `web-decision-${number}`,
  group: { name: '', index: number - 1 },
  decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })),
  owned: true,
});

it.each([
  { name: 'nothing twice', pages: [page(1, 'a'), page(2, 'b')], want: [['a'], ['b']], writes: [] },
  {
    name: 'on two pages',
    pages: [page(2, 'b', 'a', 'c'), page(1, 'a')],
    want: [['a'], ['b', 'c']],
    writes: ['web-decision-2'],
  },
  {
    name: 'on one page, and all of another one',
    pages: [page(1, 'a', 'a'), page(2, 'a')],
    want: [['a'], []],
    writes: ['web-decision-1', 'web-decision-2'],
  },
])('lists each cluster once, on the first page that has it: $name', ({ pages, want, writes }) => {
  const settled = listClustersOnce(pages);
  expect(settled.pages.map(({ decisions }) => decisions.map(({ clusterName }) => clusterName))).toEqual(want);
  expect(settled.actions.map(({ kind, page: name }) => [kind, name])).toEqual(
    writes.map((name) => ['write', name]),
  );
});
