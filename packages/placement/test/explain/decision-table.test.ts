import type { PlacementSpec } from '@berth/ocm/kind/placement';
import { describe, expect, it } from 'vitest';
import { decisionTable, type DecisionTable } from '../../src/explain/text/decision-table.ts';
import { decisionChanges } from '../../src/explain/decision-changes.ts';
import { explainPlacement } from '../../src/explain/explain-placement.ts';
import { applySnapshotChanges } from '../../src/explain/snapshot/apply-snapshot-change.ts';
import { CauseTrials } from '../../src/explain/verdict/resumable-decider.ts';
import { decideFirstPlacement, decideInSnapshot } from '../../src/explain/verdict/decide-in-snapshot.ts';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';
import { binding, cluster, clusterSet, placement, score, snapshot } from './snapshots.ts';

function tableOf(given: Snapshot, before?: readonly string[]): DecisionTable {
  const decision = decideInSnapshot(given, { namespace: 'team', name: 'web' });
  if (decision === undefined) throw new Error('no placement');
  const changes =
    before && decisionChanges({ ...decision, before, snapshotBefore: undefined, trials: new CauseTrials() });
  return decisionTable(explainPlacement(decision.snapshot, decision.decided, changes));
}

const byScore = (numberOfClusters: number | undefined, more: PlacementSpec = {}): PlacementSpec => ({
  ...(numberOfClusters !== undefined && { numberOfClusters }),
  prioritizerPolicy: {
    mode: 'Exact',
    configurations: [
      {
        scoreCoordinate: { type: 'AddOn', addOn: { resourceName: 'usage', scoreName: 'cpu' } },
        weight: 2,
      },
    ],
  },
  ...more,
});

/** Clusters a, b, c … with these scores; undefined: none is reported. */
function scored(spec: PlacementSpec, ...scores: readonly (number | undefined)[]): Snapshot {
  const names = scores.map((_, at) => String.fromCharCode(97 + at));
  return snapshot({
    placements: [placement(spec)],
    clusters: names.map((name) => cluster(name)),
    scores: scores.flatMap((cpu, at) => (cpu === undefined ? [] : [score(names[at] ?? '', { cpu })])),
  });
}

const shown = ({ selected, next }: DecisionTable) =>
  [...selected, ...next].map(({ cluster: name, total, flipsIf }) => `${name} ${total} ${flipsIf}`.trim());

describe('the table of a decision', () => {
  it('says how far each cluster is from the cut', () => {
    const table = tableOf(scored(byScore(2), 30, 10, 20, 25));
    expect(table.cut).toEqual({ kind: 'score', cluster: 'd', total: 50 });
    expect(shown(table)).toEqual([
      'a 60 it loses 21 points',
      'd 50 it loses 10 points',
      'c 40 it gains 10 points, or numberOfClusters is 3',
      'b 20 it gains 30 points, or numberOfClusters is 4',
    ]);
  });

  it('decides equal points by name', () => {
    expect(shown(tableOf(scored(byScore(1), 10, 10)))).toEqual([
      'a 20 it loses 1 point',
      'b 20 it gains 1 point, or numberOfClusters is 2',
    ]);
  });

  it.each([-40, -3, 0, 7, 60])('is right about the points that cluster c needs: %d', (cpu) => {
    const given = scored(byScore(1), 20, -10, cpu);
    const row = tableOf(given).next.find((one) => one.cluster === 'c');
    const gains = Number(/gains (\d+)/.exec(row?.flipsIf ?? '')?.[1] ?? Number.NaN);
    if (cpu > 20) return expect(row).toBeUndefined();
    const selectedWith = (value: number): readonly string[] | undefined =>
      decideFirstPlacement(
        applySnapshotChanges(given, [
          { kind: 'set-score', cluster: 'c', resourceName: 'usage', scoreName: 'cpu', value },
        ]),
      )?.result.selected;
    // The weight is 2, so a score gives two points.
    const needed = cpu + Math.ceil(gains / 2);
    expect(selectedWith(needed)).toEqual(['c']);
    expect(selectedWith(needed - 1)).toEqual(['a']);
  });

  it.each<{ name: string; given: Snapshot; want: DecisionTable['cut'] }>([
    { name: 'every cluster is wanted', given: scored(byScore(undefined), 1, 2), want: { kind: 'none' } },
    { name: 'places stay free', given: scored(byScore(5), 1, 2), want: { kind: 'free', places: 3 } },
    { name: 'all places are taken', given: scored(byScore(2), 1, 2), want: { kind: 'none' } },
    {
      name: 'the spread decides',
      given: {
        ...scored(
          byScore(2, {
            spreadPolicy: {
              spreadConstraints: [
                {
                  topologyKey: 'region',
                  topologyKeyType: 'Label',
                  maxSkew: 1,
                  whenUnsatisfiable: 'DoNotSchedule',
                },
              ],
            },
          }),
          30,
          20,
          10,
        ),
        clusters: ['a', 'b', 'c'].map((name) => cluster(name, { region: name === 'c' ? 'us' : 'eu' })),
      },
      want: { kind: 'spread' },
    },
  ])('has no cut by points where $name', ({ given, want }) => {
    const table = tableOf(given);
    expect(table.cut).toEqual(want);
    expect(table.selected.map(({ flipsIf }) => flipsIf)).not.toContain('it loses 1 point');
    if (want.kind === 'spread') expect(shown(table)).toContain('b 40 the spread over region allows it');
  });

  it('marks scores that are missing', () => {
    const { selected, prioritizers } = tableOf(scored(byScore(undefined), 5, undefined));
    expect(prioritizers).toEqual([{ name: 'AddOn/usage/cpu', weight: 2 }]);
    expect(selected.map(({ points }) => points)).toEqual([
      [{ score: 5, points: 10, state: 'valid' }],
      [{ score: 0, points: 0, state: 'missing' }],
    ]);
  });

  it('counts refused clusters by the first filter, and says what would select one', () => {
    const table = tableOf(
      snapshot({
        placements: [
          placement({
            predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { tier: 'gold' } } } }],
          }),
        ],
        clusters: [
          cluster('a', { tier: 'gold' }),
          cluster('b', { tier: 'gold' }, { taints: [{ key: 'maintenance', effect: 'NoSelect' }] }),
          cluster('c', {}, { taints: [{ key: 'maintenance', effect: 'NoSelect' }] }),
          cluster('d'),
          cluster('e', { tier: 'gold' }, { set: 'dev' }),
        ],
        clusterSets: [clusterSet('prod'), clusterSet('dev')],
        bindings: [binding('prod')],
      }),
      ['a', 'd'],
    );
    expect(table.refused.map(({ gate, count }) => `${count} ${gate}`)).toEqual([
      '1 cluster sets',
      '2 predicates',
      '1 taints',
    ]);
    // The cluster that the placement loses comes first.
    expect(table.refused[1]?.reasons).toEqual([
      {
        text: 'lack label tier=gold',
        count: 2,
        clusters: ['d', 'c'],
        leaving: ['d'],
        flipsIf: 'set label tier=gold on cluster d',
      },
    ]);
  });

  it('has few rows for many clusters, and counts the others', () => {
    const table = tableOf(scored(byScore(20), ...Array.from({ length: 26 }, (_, at) => -at)), [
      ...'abcdefghi',
      'z',
    ]);
    expect(table.selected).toHaveLength(4 + 5 + 6);
    const omitted = table.selected.reduce((sum, row) => sum + row.omittedBefore, 0);
    expect(table.selected.length + omitted).toBe(table.selectedCount);
    expect(table.selected.filter(({ change }) => change === 'joins')).toHaveLength(5 + 6);
    expect(table.next).toHaveLength(5);
    expect(table.moreNext).toBe(1);
  });
});
