import { expect, it } from 'vitest';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { listPlacements, listPlacementsOfClusteradm } from '../../../src/core/listing/list-placements.ts';
import type { Placement } from '@berth/ocm/kind/placement';

const CHECKED = { type: 'PlacementMisconfigured', status: 'False', reason: 'Succeedconfigured', message: '' };
const SATISFIED = {
  type: 'PlacementSatisfied',
  status: 'True',
  reason: 'AllDecisionsScheduled',
  message: '',
};
const NONE = { type: 'PlacementSatisfied', status: 'False', reason: 'NoManagedClusterMatched', message: '' };
const HELD = { type: 'berth.dev/Held', status: 'True', reason: 'WouldEmpty', message: 'The only cluster …' };
const PUBLISHED = { ...HELD, status: 'False', reason: 'Published' };
const COLUMNS = ['NAME', 'STATUS', 'REASON', 'SELETEDCLUSTERS'];

const placement = (name: string, conditions: readonly object[]) =>
  ({ metadata: { name, namespace: 'shop' }, spec: {}, status: { conditions } }) as unknown as Placement;

it.each([
  {
    name: 'whether a placement is satisfied, not whether it is misconfigured',
    placements: [placement('web', [CHECKED, SATISFIED]), placement('none', [CHECKED, NONE, PUBLISHED])],
    want: [
      COLUMNS,
      ['web', 'True', 'AllDecisionsScheduled', '[]'],
      ['none', 'False', 'NoManagedClusterMatched', '[]'],
    ],
  },
  {
    name: 'the first condition while there is no other',
    placements: [placement('web', [CHECKED]), placement('new', [])],
    want: [COLUMNS, ['web', 'False', 'Succeedconfigured', '[]'], ['new', '', '', '[]']],
  },
])('the table of clusteradm shows $name', ({ placements, want }) => {
  const { header, rows } = listPlacementsOfClusteradm(placements, []);
  expect([header, ...rows]).toEqual(want);
});

it('shows people how many clusters of how many are ready, what is held, and what is wrong', () => {
  const wrong = {
    type: 'PlacementMisconfigured',
    status: 'True',
    reason: 'Misconfigured',
    message: 'bad key',
  };
  const made = (name: string, numberOfClusters: number | undefined, ...conditions: readonly object[]) => ({
    ...placement(name, conditions),
    spec: { numberOfClusters },
    metadata: { name, namespace: 'shop', creationTimestamp: '2026-01-01T00:00:00Z' },
  });
  const clusters = ['e', 'd', 'c', 'b', 'a'].map((clusterName) => ({ clusterName, reason: '' }));
  const page = {
    metadata: {
      name: 'web-decision-0',
      namespace: 'shop',
      labels: { 'cluster.open-cluster-management.io/placement': 'web' },
    },
    status: { decisions: clusters },
  } as unknown as PlacementDecision;
  const few = { ...NONE, reason: 'NotAllDecisionsScheduled', message: '1 cluster decisions unscheduled' };
  const { header, rows } = listPlacements(
    [
      made('web', 6, CHECKED, few, HELD),
      made('all', undefined, CHECKED, SATISFIED),
      made('bad', 2, wrong),
      made('new', 1),
    ],
    [page],
    Date.parse('2026-01-01T00:01:00Z'),
  );
  expect([header, ...rows].map((row) => row.join(' | '))).toEqual([
    'NAMESPACE | NAME | READY | CLUSTERS | HELD | AGE | REASON',
    'shop | web | 5/6 | a,b,c,+2 | WouldEmpty | 60s | NotAllDecisionsScheduled: 1 cluster decisions unscheduled',
    'shop | all | 0/all |  |  | 60s | ',
    'shop | bad | 0/2 |  |  | 60s | Misconfigured: bad key',
    'shop | new | 0/1 |  |  | 60s | not decided yet',
  ]);
});
