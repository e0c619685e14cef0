import { describe, expect, it } from 'vitest';
import type { DecisionPage } from '../../../../src/core/publish/pages/decision-page.ts';
import {
  type LastPublication,
  planToRestore,
  publishedPages,
  wereChangedByOthers,
} from '../../../../src/core/publish/record/last-publication.ts';

const decisions = (names: string) =>
  names
    .split(' ')
    .filter(Boolean)
    .map((clusterName) => ({ clusterName, reason: '' }));
const page = (number: number, names: string, index: number | undefined = number - 1): DecisionPage => ({
  name: `web-decision-${number}`,
  group: { name: '', index },
  decisions: decisions(names),
  owned: true,
});
const unlabelled = (number: number, names: string): DecisionPage => ({
  ...page(number, names),
  group: undefined,
});
const last = (leaving: string | undefined, ...names: string[]): LastPublication => ({
  pages: names.map((list, at) => ({
    name: `web-decision-${at + 1}`,
    group: { name: '', index: at },
    decisions: decisions(list),
  })),
  leaving: leaving?.split(' ').filter(Boolean),
});
const nobody = () => false;
const clusters = (pages: ReturnType<typeof publishedPages>) =>
  pages.flatMap((one) => one.decisions.map(({ clusterName }) => clusterName)).join(' ');

describe('what is published, and how it is put back', () => {
  it.each([
    {
      name: 'nobody remembers: the clusters of the pages, each cluster once',
      pages: [page(1, 'a b'), page(2, 'b c')],
      remembered: undefined,
      published: 'a b c',
      writes: ['write 2: c'],
    },
    {
      name: 'nobody remembers: labels that say nothing stay',
      pages: [unlabelled(1, 'a b')],
      remembered: undefined,
      published: 'a b',
      writes: [],
    },
    {
      name: 'as it was published: no write',
      pages: [page(2, 'c'), page(1, 'b a')],
      remembered: last(undefined, 'b a', 'c'),
      published: 'b a c',
      writes: [],
    },
    {
      name: 'a page is gone',
      pages: [page(2, 'c')],
      remembered: last(undefined, 'a b', 'c'),
      published: 'a b c',
      writes: ['create 1 /0', 'write 1: a b'],
    },
    {
      name: 'all of it is gone',
      pages: [],
      remembered: last(undefined, 'a b', 'c'),
      published: 'a b c',
      writes: ['create 1 /0', 'create 2 /1', 'write 1: a b', 'write 2: c'],
    },
    {
      name: 'an empty decision is one, too',
      pages: [],
      remembered: last(undefined, ''),
      published: '',
      writes: ['create 1 /0'],
    },
    {
      name: 'clusters taken out and put in: what stays is never absent meanwhile',
      pages: [page(1, 'x b'), page(2, '')],
      remembered: last(undefined, 'a b', 'c'),
      published: 'a b c',
      writes: ['write 1: a b x', 'write 2: c', 'write 1: a b'],
    },
    {
      name: 'two clusters changed places: they stay where they are',
      pages: [page(1, 'b', 0), page(2, 'a', 0)],
      remembered: {
        pages: [page(1, 'a', 0), page(2, 'b', 0)].map((one) => ({ ...one, group: { name: '', index: 0 } })),
        leaving: undefined,
      },
      published: 'a b',
      writes: [],
    },
    {
      name: 'labels and owner taken away',
      pages: [{ ...unlabelled(1, 'a'), owned: false }],
      remembered: last(undefined, 'a'),
      published: 'a',
      writes: ['label 1 /0'],
    },
    {
      name: 'a change was cut short: what it may have taken away is not put back',
      pages: [page(1, 'a')],
      remembered: last('b', 'a b', ''),
      published: 'a',
      writes: [],
    },
    {
      name: 'a change was cut short, and somebody took what it was to keep',
      pages: [page(2, 'd')],
      remembered: last('b', 'a b', 'c'),
      published: 'd a c',
      writes: ['create 1 /0', 'write 2: d c', 'write 1: a'],
    },
  ])('$name', ({ pages, remembered, published, writes }) => {
    expect(clusters(publishedPages(pages, remembered))).toBe(published);
    const plan = planToRestore('web', pages, remembered, nobody);
    const shown = plan.actions.map((action) => {
      const number = action.page.replace('web-decision-', '');
      if (action.kind === 'write')
        return `write ${number}: ${action.decisions.map((d) => d.clusterName).join(' ')}`;
      return action.kind === 'delete'
        ? `delete ${number}`
        : `${action.kind} ${number} ${action.group.name}/${action.group.index}`;
    });
    expect(shown.toSorted()).toEqual(writes.toSorted());
    expect(clusters(plan.pages).split(' ').toSorted().join(' ')).toBe(
      published.split(' ').toSorted().join(' '),
    );
  });

  it('takes another name where the page’s own one is an object of others by now', () => {
    const plan = planToRestore('web', [], last(undefined, 'a'), (name) => name === 'web-decision-1');
    expect(plan.pages.map(({ name }) => name)).toEqual(['web-decision-2']);
  });

  it('gives each of many pages back what it had, in the order of pages', () => {
    const names = (from: number) => Array.from({ length: 100 }, (_, i) => `c${from + i}`).join(' ');
    const group = { name: '', index: 0 };
    const all = [page(1, names(100)), page(2, names(200)), page(3, 'c300')].map((one) => ({ ...one, group }));
    const { pages, actions } = planToRestore('web', all.slice(1), { pages: all, leaving: undefined }, nobody);
    expect(pages).toEqual(all.map(({ name, decisions: listed }) => ({ name, group, decisions: listed })));
    expect(actions.map(({ kind, page: name }) => `${kind} ${name}`)).toEqual([
      'create web-decision-1',
      'write web-decision-1',
    ]);
  });
});

it.each([
  { name: 'nobody remembers', pages: [page(1, 'b')], remembered: undefined, want: false },
  { name: 'as it was published', pages: [page(1, 'a b')], remembered: last(undefined, 'a b'), want: false },
  {
    name: 'only the labels are gone',
    pages: [unlabelled(1, 'a b')],
    remembered: last(undefined, 'a b'),
    want: false,
  },
  { name: 'a page is gone', pages: [], remembered: last(undefined, 'a b'), want: true },
  {
    name: 'a page more',
    pages: [page(1, 'a b'), page(2, '')],
    remembered: last(undefined, 'a b'),
    want: true,
  },
  { name: 'a cluster is gone', pages: [page(1, 'b')], remembered: last(undefined, 'a b'), want: true },
  { name: 'another cluster', pages: [page(1, 'a c')], remembered: last(undefined, 'a b'), want: true },
  {
    name: 'it was to go, in a change that was cut short',
    pages: [page(1, 'b')],
    remembered: last('a', 'a b'),
    want: false,
  },
  {
    name: 'it was to stay, in a change that was cut short',
    pages: [page(1, 'a')],
    remembered: last('a', 'a b'),
    want: true,
  },
])('did others change what the pages list? $name', ({ pages, remembered, want }) => {
  expect(wereChangedByOthers(pages, remembered)).toBe(want);
});
