import { expect, it } from 'vitest';
import type { Condition } from '@berth/kube/model/object-meta';
import { placementGate } from '../../../../src/core/publish/judge/placement-gate.ts';

const condition = (type: string, status: 'True' | 'False', reason: string): Condition => ({
  ...{ type, status, reason },
  message: `about ${reason}`,
});
const SATISFIED = condition('PlacementSatisfied', 'True', 'AllDecisionsScheduled');
const HELD = condition('berth.dev/Held', 'True', 'WouldEmpty');

it.each<{
  name: string;
  conditions?: readonly Condition[];
  unknown?: string;
  deletionTimestamp?: string;
  closed: readonly string[];
}>([
  { name: 'a placement with all its clusters', conditions: [SATISFIED], closed: [] },
  { name: 'one that was held', conditions: [SATISFIED, { ...HELD, status: 'False' }], closed: [] },
  { name: 'one that is held', conditions: [SATISFIED, HELD], closed: ['WouldEmpty'] },
  {
    name: 'one without enough clusters',
    conditions: [condition('PlacementSatisfied', 'False', 'NotAllDecisionsScheduled')],
    closed: ['NotAllDecisionsScheduled'],
  },
  { name: 'one without a decision', conditions: [], closed: ['NotDecided'] },
  { name: 'one without a status', closed: ['NotDecided'] },
  {
    name: 'one on a hub that is away',
    conditions: [SATISFIED],
    unknown: 'no answer',
    closed: ['HubUnknown'],
  },
  {
    name: 'one that is being deleted',
    conditions: [SATISFIED],
    deletionTimestamp: '2026-01-01T00:00:00Z',
    closed: ['Deleting'],
  },
  {
    name: 'one with several reasons, the least known first',
    conditions: [HELD, condition('PlacementSatisfied', 'False', 'NoManagedClusterMatched')],
    unknown: 'no answer',
    closed: ['HubUnknown', 'WouldEmpty', 'NoManagedClusterMatched'],
  },
])('the gate of $name says $closed', ({ conditions, unknown, deletionTimestamp, closed }) => {
  const status = conditions && { conditions };
  const gate = placementGate({ metadata: { name: 'web', deletionTimestamp }, status }, unknown);
  expect(gate.reasons.map(({ reason }) => reason)).toEqual(closed);
  expect(gate.open).toBe(closed.length === 0);
  for (const { message } of gate.reasons) expect(message).not.toBe('');
});
