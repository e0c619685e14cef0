import { describe, expect, it } from 'vitest';
import type { DecisionPage, DesiredGroup } from '../../../../src/core/publish/pages/decision-page.ts';
import { type PageAction, planPages } from '../../../../src/core/publish/pages/plan-pages.ts';

const decisions = (names: string) =>
  names
    .split(' ')
    .filter(Boolean)
    .map((clusterName) => ({ clusterName, reason: '' }));
const page = (number: number, names: string, group = { name: '', index: 0 }, owned = true): DecisionPage => ({
  name: `web-decision-${number}`,
  group,
  decisions: decisions(names),
  owned,
});
const group = (names: string, index = 0, name = ''): DesiredGroup => ({
  name,
  index,
  decisions: decisions(names),
});
const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `c${String(from + i).padStart(3, '0')}`).join(' ');

function show(action: PageAction): string {
  const number = action.page.replace('web-decision-', '');
  if (action.kind === 'write')
    return `write ${number}: ${action.decisions.map((d) => d.clusterName).join(' ')}`;
  if (action.kind === 'delete') return `delete ${number}`;
  return `${action.kind} ${number} ${action.group.name}/${action.group.index}`;
}

describe('planPages', () => {
  it.each([
    {
      name: 'first publication',
      current: [],
      desired: [group('a b')],
      want: ['create 1 /0', 'write 1: a b'],
    },
    { name: 'an empty group has an empty page', current: [], desired: [group('')], want: ['create 1 /0'] },
    { name: 'no change, no write', current: [page(1, 'a b')], desired: [group('a b')], want: [] },
    {
      name: 'a swap on one page is one write',
      current: [page(1, 'a b')],
      desired: [group('b c')],
      want: ['write 1: b c'],
    },
    {
      name: 'additions everywhere come before removals anywhere',
      current: [page(1, 'a b'), page(2, 'c d', { name: '', index: 1 })],
      desired: [group('a x'), group('c y', 1)],
      want: ['write 1: a x b', 'write 2: c y d', 'write 1: a x', 'write 2: c y'],
    },
    {
      name: 'what stays keeps its page when an earlier page empties',
      current: [page(1, 'a'), page(2, 'b')],
      desired: [group('b')],
      want: ['delete 1'],
    },
    {
      name: 'a cluster listed twice keeps its first place',
      current: [page(1, 'a b'), page(2, 'b c')],
      desired: [group('a b c')],
      want: ['write 2: c'],
    },
    {
      name: 'a renumbered group changes labels in place',
      current: [page(1, 'a', { name: 'x', index: 0 }), page(2, 'b', { name: 'y', index: 1 })],
      desired: [group('b', 0, 'y')],
      want: ['label 2 y/0', 'delete 1'],
    },
    {
      name: 'two groups change places without a cluster moving',
      current: [page(1, 'a', { name: 'x', index: 0 }), page(2, 'b', { name: 'y', index: 1 })],
      desired: [group('b', 0, 'y'), group('a', 1, 'x')],
      want: ['label 1 x/1', 'label 2 y/0'],
    },
    {
      name: 'a move between groups adds, then removes',
      current: [page(1, 'a b', { name: 'x', index: 0 }), page(2, 'c', { name: 'y', index: 1 })],
      desired: [group('a', 0, 'x'), group('b c', 1, 'y')],
      want: ['write 2: b c', 'write 1: a'],
    },
    {
      name: 'a missing owner reference is added',
      current: [page(1, 'a', { name: '', index: 0 }, false)],
      desired: [group('a')],
      want: ['label 1 /0'],
    },
    {
      name: 'emptied on purpose: the last page stays, empty',
      current: [page(1, 'a'), page(2, 'b')],
      desired: [group('')],
      want: ['write 1: ', 'delete 2'],
    },
  ])('$name', ({ current, desired, want }) => {
    expect(planPages('web', current, desired).actions.map(show)).toEqual(want);
  });

  it('cuts groups into pages of 100 and numbers them over all groups', () => {
    const plan = planPages('web', [], [group(range(1, 150)), group(range(151, 160), 1)]);
    expect(plan.pages.map((p) => [p.name, p.group.index, p.decisions.length])).toEqual([
      ['web-decision-1', 0, 100],
      ['web-decision-2', 0, 50],
      ['web-decision-3', 1, 10],
    ]);
  });

  it('never lists more than 100 on a page, also on the way', () => {
    const plan = planPages('web', [page(1, range(1, 100))], [group(range(51, 250))]);
    for (const action of plan.actions)
      if (action.kind === 'write') expect(action.decisions.length).toBeLessThanOrEqual(100);
    expect(plan.pages.flatMap((p) => p.decisions)).toHaveLength(200);
  });

  it('knows when only scores change', () => {
    const scored = (...scores: number[]) =>
      scores.map((score, i) => ({ clusterName: `c${i}`, reason: '', score }));
    const current = { ...page(1, ''), decisions: scored(3, 2) };
    expect(planPages('web', [current], [{ name: '', index: 0, decisions: scored(5, 2) }]).scoresOnly).toBe(
      true,
    );
    expect(planPages('web', [current], [{ name: '', index: 0, decisions: scored(5, 2, 1) }]).scoresOnly).toBe(
      false,
    );
  });

  it('takes clusters that scores move between groups of one name for a change of scores', () => {
    const group = (index: number, ...names: string[]) => ({
      name: 'g',
      index,
      decisions: names.map((clusterName) => ({ clusterName, reason: '' })),
    });
    const first = planPages('web', [], [group(0, 'c1', 'c2'), group(1, 'c3')]);
    const current = first.pages.map((one) => ({ ...one, owned: true }));
    expect(planPages('web', current, [group(0, 'c3', 'c1'), group(1, 'c2')]).scoresOnly).toBe(true);
    expect(planPages('web', current, [group(0, 'c3', 'c1'), group(1, 'c4')]).scoresOnly).toBe(false);
    const renamed = { ...group(1, 'c2'), name: 'h' };
    expect(planPages('web', current, [group(0, 'c1', 'c3'), renamed]).scoresOnly).toBe(false);
  });
});
