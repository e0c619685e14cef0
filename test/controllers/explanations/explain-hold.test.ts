import { expect, it } from 'vitest';
import { explainInSnapshot } from '../../../src/controllers/explanations/explain-offline.ts';
import type { Condition } from '@berth/kube/model/object-meta';
import type { Placement } from '@berth/ocm/kind/placement';
import { cluster, placement, snapshot } from '../../../packages/placement/test/explain/snapshots.ts';
import { withRecordedClusters } from '@berth/placement/explain/snapshot/recorded-decisions';

const REF = { namespace: 'team', name: 'web' };
const GOLD = { requiredClusterSelector: { labelSelector: { matchLabels: { tier: 'gold' } } } };

/** A placement that is published on c1 and selects no cluster any more. */
function hub(held: Partial<Condition> | undefined) {
  const web: Placement = {
    ...placement({ predicates: [GOLD] }),
    status: { conditions: held && [condition(held)] },
  };
  const inputs = snapshot({ placements: [web], clusters: [cluster('c1'), cluster('c2')] });
  return withRecordedClusters(inputs, REF, ['c1']);
}

function condition(given: Partial<Condition>): Condition {
  return { type: 'berth.dev/Held', status: 'True', reason: 'WouldEmpty', message: 'The only one.', ...given };
}

it.each([
  { name: 'whole placement', ask: {}, next: 'Placement team/web: 0 of 2 clusters selected' },
  { name: 'cluster of it', ask: { cluster: 'c1' }, next: 'Placement team/web on cluster c1: not selected' },
])('a hold comes first in the explanation of a $name', ({ ask, next }) => {
  const { lines, explanation } = explainInSnapshot(hub({}), REF, { decides: 'all', ...ask });
  expect(lines.slice(0, 3)).toEqual(['Held (WouldEmpty): published c1; wanted none', '  The only one.', '']);
  expect(lines[3]).toContain(next);
  expect(explanation.held).toMatchObject({ reason: 'WouldEmpty', published: ['c1'], wanted: [] });
});

it.each([
  { name: 'none', held: undefined },
  { name: 'one that ended', held: { status: 'False' as const, reason: 'Published', message: '' } },
])('an explanation says nothing of a hold where there is $name', ({ held }) => {
  const { lines, explanation } = explainInSnapshot(hub(held), REF, { decides: 'all' });
  expect(lines[0]).toContain('Placement team/web: ');
  expect(explanation).not.toHaveProperty('held');
});
