import { describe, expect, it } from 'vitest';
import { listedOnce } from '../../../src/core/publish/listed-once.ts';
import { planPages } from '../../../src/core/publish/plan-pages.ts';
import type { DecisionPage } from '../../../src/core/publish/decision-page.ts';

const page = (number: number, group: string, ...clusters: string[]): DecisionPage => ({
  name: `web-decision-${number}`,
  group: { name: group, index: group === 'a' ? 0 : 1 },
  decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })),
  owned: true,
});

describe('listedOnce', () => {
  it('is nothing to do when every cluster is on one page', () => {
    expect(listedOnce([])).toBeUndefined();
    expect(listedOnce([page(1, 'a', 'c1'), page(2, 'b', 'c2')])).toBeUndefined();
  });

  it('leaves a cluster that is on two pages on the first of them', () => {
    const pages = [page(2, 'b', 'c1', 'c3'), page(1, 'a', 'c1', 'c2'), page(3, 'a', 'c2', 'c4')];
    const groups = listedOnce(pages) ?? [];
    expect(groups.map(({ name, decisions }) => [name, ...decisions.map((d) => d.clusterName)])).toEqual([
      ['a', 'c1', 'c2', 'c4'],
      ['b', 'c3'],
    ]);
    const plan = planPages('web', pages, groups);
    expect(plan.actions.map(({ kind, page: name }) => `${kind} ${name}`)).toEqual([
      'write web-decision-2',
      'write web-decision-3',
    ]);
  });
});
