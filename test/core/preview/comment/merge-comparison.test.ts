import { describe, expect, it } from 'vitest';
import { compareMerge } from '../../../../src/core/preview/comment/merge-comparison.ts';
import { mergeCause, type MergeFacts } from '../../../../src/core/preview/comment/merge-cause.ts';
import type { LaterChange } from '../../../../src/core/preview/plan.ts';

const CODE = 'a'.repeat(12);
const web = { placement: 'team-a/web', before: ['c1', 'c2'], after: ['c2', 'c3'] };
const NOW_MS = Date.parse('2026-03-01T12:00:00Z');
const HOUR_MS = 3_600_000;
const hold = (token: string | undefined) => ({ reason: 'WouldEmpty', message: 'It is held.', token });
const leaving: LaterChange = {
  ...{ namespace: 'team-a', name: 'web', by: 'tolerationSeconds' },
  ...{ added: [], removed: ['c2'], kept: [] },
};

describe('what a merge led to', () => {
  it.each<
    [
      string,
      {
        heldToken?: string;
        clusters: readonly string[] | undefined;
        held?: string | null;
        later?: readonly LaterChange[];
        after?: readonly string[];
      },
      'as planned' | 'differs' | 'held' | 'held otherwise',
    ]
  >([
    ['the planned clusters, in any order', { clusters: ['c3', 'c2'] }, 'as planned'],
    ['another cluster of the same number', { clusters: ['c2', 'c4'] }, 'differs'],
    ['all other clusters', { clusters: ['c4', 'c5'] }, 'differs'],
    ['one cluster more', { clusters: ['c2', 'c3', 'c4'] }, 'differs'],
    ['one cluster less', { clusters: ['c2'] }, 'differs'],
    ['no placement', { clusters: undefined }, 'differs'],
    [
      'the planned clusters, and a later change is held',
      { clusters: ['c2', 'c3'], held: CODE },
      'as planned',
    ],
    ['a planned hold', { heldToken: CODE, clusters: ['c1', 'c2'], held: CODE }, 'held'],
    ['a hold of another change', { heldToken: CODE, clusters: ['c1', 'c2'], held: 'b' }, 'held otherwise'],
    ['a hold that nobody planned', { clusters: ['c1', 'c2'], held: CODE }, 'held otherwise'],
    ['a hold that nobody can approve', { clusters: ['c1', 'c2'], held: null }, 'held otherwise'],
    [
      'a hold where nothing was to move',
      { after: ['c1', 'c2'], clusters: ['c1', 'c2'], held: CODE },
      'held otherwise',
    ],
    ['a move that was planned to be held', { heldToken: CODE, clusters: ['c1', 'c4'] }, 'differs'],
    ['a planned hold that was released', { heldToken: CODE, clusters: ['c2', 'c3'] }, 'as planned'],
    [
      'a later change that is due',
      { clusters: ['c3'], later: [{ ...leaving, afterMs: HOUR_MS }] },
      'as planned',
    ],
    [
      'a later change that is not due yet',
      { clusters: ['c3'], later: [{ ...leaving, at: '2026-03-01T13:00:00Z' }] },
      'differs',
    ],
    [
      'a later change that did not come',
      { clusters: ['c2', 'c3'], later: [{ ...leaving, afterMs: HOUR_MS }] },
      'as planned',
    ],
    [
      'a later change after one of an agent that answered again',
      {
        clusters: ['c3'],
        later: [
          { ...leaving, at: '2026-03-01T11:10:00Z', removed: ['c3'], added: ['c5'], ifSilent: ['c3'] },
          { ...leaving, at: '2026-03-01T11:20:00Z' },
        ],
      },
      'as planned',
    ],
    [
      'a later change after one that depends on no agent, and was left out',
      {
        clusters: ['c3'],
        later: [
          { ...leaving, at: '2026-03-01T11:10:00Z', removed: ['c3'], added: ['c5'] },
          { ...leaving, at: '2026-03-01T11:20:00Z' },
        ],
      },
      'differs',
    ],
    [
      'a later change that was to be held',
      { clusters: ['c3'], later: [{ ...leaving, afterMs: HOUR_MS, held: 'WouldEmpty' }] },
      'differs',
    ],
  ])('%s', (_name, { heldToken, clusters, held, later = [], after = web.after }, want) => {
    const plan = {
      ...{ expected: [{ ...web, after, heldToken }], later },
      followedAtMs: NOW_MS - HOUR_MS,
    };
    const published = clusters && {
      clusters,
      hold: held === undefined ? undefined : hold(held ?? undefined),
    };
    const found = compareMerge(plan, () => published, NOW_MS);
    const [only] = found.held;
    const got =
      only !== undefined
        ? only.isPlanned
          ? 'held'
          : 'held otherwise'
        : found.differences.length > 0
          ? 'differs'
          : 'as planned';
    expect(got).toBe(want);
  });
});

const [MERGE, LATER] = ['e'.repeat(40), 'f'.repeat(40)];
const publication = (
  minute: number,
  commit: string,
  added: readonly string[],
  removed: readonly string[] = [],
) => ({
  publishedAt: `2026-03-01T12:0${minute}:00Z`,
  commit: { id: commit },
  added: { count: added.length, names: added },
  removed: { count: removed.length, names: removed },
});
const first = publication(0, 'd'.repeat(40), ['c1', 'c2']);
const asPlanned = publication(2, MERGE, ['c3'], ['c1']);
const difference = {
  placement: 'team-a/web',
  before: web.before,
  expected: web.after,
  published: ['c2', 'c4'],
};
const FACTS: MergeFacts = {
  ...{ commit: MERGE, seenAtMs: Date.parse('2026-03-01T12:02:00Z'), publications: [first] },
  ...{ earlier: [], later: [], baseMoved: false, fleetChanged: false },
};
const other = (number: number, placement = 'team-a/web') => ({ number, placements: [placement] });

describe('a difference has the cause', () => {
  it.each<[string, Partial<MergeFacts>, object | undefined]>([
    ['nothing that is known', {}, undefined],
    [
      'another pull request that was merged right behind',
      { later: [other(8, 'team-a/db'), other(9)] },
      { kind: 'later-merge', number: 9 },
    ],
    [
      'a commit that the hub followed together with the merge',
      { publications: [first, publication(3, LATER, ['c4'], ['c1'])] },
      { kind: 'later-commit', commit: LATER },
    ],
    [
      'a commit after the merge had done what the plan said',
      { publications: [first, asPlanned, publication(3, LATER, ['c4'], ['c3'])] },
      { kind: 'later-commit', commit: LATER },
    ],
    [
      'the hub or the clock, after the merge had done what the plan said',
      { publications: [first, asPlanned, publication(3, MERGE, ['c4'], ['c3'])] },
      { kind: 'hub-since', at: '2026-03-01T12:03:00Z' },
    ],
    [
      'another pull request that was merged between plan and merge',
      { earlier: [other(5)], baseMoved: true },
      { kind: 'earlier-merge', number: 5 },
    ],
    [
      'other commits between plan and merge',
      { earlier: [other(5, 'team-a/db')], baseMoved: true },
      { kind: 'earlier-commits' },
    ],
    [
      'a decision that had changed before the merge',
      { publications: [first, publication(1, 'd'.repeat(40), ['c4'], ['c1']), publication(2, MERGE, [])] },
      { kind: 'hub-before' },
    ],
    ['a fleet that had changed before the merge', { fleetChanged: true }, { kind: 'hub-before' }],
    [
      'nothing that is known, where the merge itself did it',
      { publications: [first, publication(2, MERGE, ['c4'], ['c1'])] },
      undefined,
    ],
    [
      'nothing that is known, where records name only some clusters',
      { publications: [first, { ...publication(2, MERGE, ['c4'], []), removed: { count: 30, names: [] } }] },
      undefined,
    ],
  ])('%s', (_name, facts, want) => {
    expect(mergeCause(difference, { ...FACTS, ...facts })).toEqual(want);
  });
});
