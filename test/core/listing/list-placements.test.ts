import { expect, it } from 'vitest';
import { listPlacements } from '../../../src/core/listing/list-placements.ts';
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
  {
    name: 'which changes are held',
    placements: [placement('web', [CHECKED, SATISFIED, HELD]), placement('api', [CHECKED, SATISFIED])],
    want: [
      [...COLUMNS, 'HELD'],
      ['web', 'True', 'AllDecisionsScheduled', '[]', 'WouldEmpty'],
      ['api', 'True', 'AllDecisionsScheduled', '[]', ''],
    ],
  },
])('berth get placements shows $name', ({ placements, want }) => {
  const { header, rows } = listPlacements(placements, []);
  expect([header, ...rows]).toEqual(want);
});
