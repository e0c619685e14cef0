import { describe, expect, it } from 'vitest';
import { SCHEDULING_DISABLE_ANNOTATION } from '@berth/ocm/kind/placement';
import {
  INITIAL_STATE,
  type PassFacts,
  type PlacementState,
} from '../../../../src/core/publish/machine/state/placement-state.ts';
import { factsOf, NOW, pageOf, resultOf, webPlacement, wholePass } from './machine-fixture.ts';

const MARKED = webPlacement({ annotations: { [SCHEDULING_DISABLE_ANNOTATION]: 'true' } });
const THEIRS = pageOf('20', ['c2']);

/** Berth published c1; others wrote c2 in so many rounds, the last one `agoMs` ago. */
const after = (rounds: number, agoMs = 0): PlacementState => ({
  ...INITIAL_STATE,
  isCompared: true,
  last: {
    uid: 'u1',
    pages: [
      {
        name: 'web-decision-1',
        group: { index: 0, name: '' },
        decisions: [{ clusterName: 'c1', reason: '' }],
      },
    ],
    leaving: undefined,
  },
  rivalRoundsAtMs: Array.from({ length: rounds }, () => NOW - agoMs),
});

const look = (state: PlacementState, over: Parameters<typeof factsOf>[0] = {}) => {
  const facts: PassFacts = factsOf({ clusters: ['c1'], pages: [THEIRS], placement: MARKED, ...over });
  return wholePass({ kind: 'reconcile', facts }, state, NOW);
};

describe('pages that others write', () => {
  it.each([
    {
      name: 'are restored, after the placement is marked',
      state: after(1),
      placement: webPlacement(),
      want: ['annotate-placement', 'write web-decision-1 c1'],
    },
    { name: 'are restored at once', state: after(1), want: ['write web-decision-1 c1'] },
    { name: 'are restored a second later', state: after(2), want: ['end, again after 1000'] },
    { name: 'are restored when that is over', state: after(3, 1_000), want: ['write web-decision-1 c1'] },
    {
      name: 'are left alone after three rounds, and what was published stays',
      state: after(4),
      want: ['patch-status', 'held SecondWriter', 'final-pages c1', 'end, again after 600000'],
    },
    { name: 'are restored ten minutes later', state: after(4, 600_000), want: ['write web-decision-1 c1'] },
    {
      name: 'are restored when the mark was refused',
      state: { ...after(1), wasAnnotated: true },
      placement: webPlacement(),
      want: ['write web-decision-1 c1'],
    },
  ])('$name', ({ state, placement = MARKED, want }) => {
    expect(look(state, { placement }).lines.slice(0, want.length)).toEqual(want);
  });

  it('tells once', () => {
    const first = look(after(4));
    const patch = first.actions.find((action) => action.kind === 'patch-status');
    expect(patch?.status.conditions).toMatchObject([
      { type: 'berth.dev/Held', status: 'True', reason: 'SecondWriter' },
    ]);
    const placement = { ...MARKED, status: patch?.status ?? {} };
    const again = look({ ...first.state, status: undefined }, { placement });
    expect(again.lines).toEqual(['final-pages c1', 'end, again after 600000']);
  });
});

describe('a placement that nobody marked, on a hub with other schedulers', () => {
  const skipped = (isOfSource: boolean, placement = webPlacement()) =>
    look(INITIAL_STATE, { isOfSource, placement, result: resultOf(placement, [], 'skipped') }).lines;

  it.each([
    {
      name: 'is marked where a source declares it',
      lines: skipped(true),
      want: ['annotate-placement', 'end done'],
    },
    { name: 'is left alone elsewhere', lines: skipped(false), want: ['final-pages c2', 'end done'] },
    {
      name: 'is left alone where its owner says so',
      lines: skipped(true, MARKED),
      want: ['final-pages c2', 'end done'],
    },
  ])('$name', ({ lines, want }) =>
    expect(lines.filter((line) => !line.startsWith('end, again'))).toEqual(want),
  );
});
