import { describe, expect, it } from 'vitest';
import {
  type PageChange,
  pageEvent,
  scoreEvent,
} from '../../../../src/core/publish/pages/placement-event-content.ts';

const PAGE = { page: 'placement1-decision-1', placement: 'placement1', namespace: 'default' };
const WARNING = {
  code: 'Warning',
  plugin: 'AddOn/usage/cpu',
  message: 'AddOnPlacementScores c1/usage expired',
} as const;

describe('what OCM says on a placement', () => {
  it.each<[PageChange, string, string]>([
    ['create', 'DecisionCreate', 'created'],
    ['write', 'DecisionUpdate', 'updated'],
    ['delete', 'DecisionDelete', 'deleted'],
  ])('when it does %s a page', (change, reason, verb) => {
    expect(pageEvent(change, PAGE, { code: 'Success', plugin: '', message: '' })).toEqual({
      type: 'Normal',
      reason,
      action: `${reason}d`,
      note: `Decision placement1-decision-1 is ${verb} with placement placement1 in namespace default`,
    });
  });

  it('warns of expired scores with an update', () => {
    expect(pageEvent('write', PAGE, WARNING)).toMatchObject({
      type: 'Warning',
      note: 'Decision placement1-decision-1 is updated with placement placement1 in namespace default: AddOnPlacementScores c1/usage expired in plugin AddOn/usage/cpu',
    });
    expect(pageEvent('create', PAGE, WARNING)).toMatchObject({ type: 'Normal' });
    const long = pageEvent('write', PAGE, { ...WARNING, message: 'x'.repeat(5_000) });
    expect(long.note.length).toBe(1_006);
  });

  it('lists the scores of clusters', () => {
    expect(
      scoreEvent([
        ['cluster1', 12],
        ['cluster2', -3],
      ]),
    ).toEqual({
      type: 'Normal',
      reason: 'ScoreUpdate',
      action: 'ScoreUpdated',
      note: 'cluster1:12 cluster2:-3',
    });
  });

  it('cuts the list at whole clusters, within what an API server takes', () => {
    const all = Array.from({ length: 500 }, (_, at): [string, number] => [`cluster${at}`, 100]);
    const { note } = scoreEvent(all);
    expect(note).toMatch(/^cluster0:100 cluster1:100 .*cluster\d+:100 \.{6}$/);
    expect(note.length).toBeLessThanOrEqual(1_006);
  });
});
