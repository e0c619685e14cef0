import { describe, expect, it } from 'vitest';
import type { SpreadConstraint } from '@berth/ocm/kind/placement';
import { PlacementEngine, scheduleAll } from '../src/engine.ts';
import { PREFER_NO_SELECT_ANNOTATION } from '../src/select/rank.ts';
import type { ScheduleResult } from '../src/result/schedule-result.ts';
import type { ClusterSketch, SnapshotSketch } from './snapshots.ts';
import { BY_SCORE, snapshotOf } from './snapshots.ts';

function decide(sketch: SnapshotSketch): ScheduleResult {
  return scheduleAll(snapshotOf(sketch))[0] as ScheduleResult;
}

/** `eu1:90` is cluster eu1 in region eu with score 90; a name without digits has no region. */
function fleet(text: string): ClusterSketch[] {
  return text.split(' ').map((word) => {
    const [name = '', score] = word.split(':');
    const region = /^([a-z]+)\d/.exec(name)?.[1];
    return { name, labels: region === undefined ? {} : { region }, score: Number(score ?? 0) };
  });
}

const hard = (maxSkew = 1): SpreadConstraint => ({
  topologyKey: 'region',
  topologyKeyType: 'Label',
  maxSkew,
  whenUnsatisfiable: 'DoNotSchedule',
});
const soft = (maxSkew = 1): SpreadConstraint => ({ ...hard(maxSkew), whenUnsatisfiable: 'ScheduleAnyway' });

describe('spread constraints', () => {
  it.each([
    {
      name: 'take turns although one region is better',
      given: 'eu1:90 eu2:80 us1:20 us2:10',
      ask: 2,
      by: [hard()],
      want: 'eu1 us1',
      skew: 0,
    },
    {
      name: 'let the better region be ahead by maxSkew',
      given: 'eu1:90 eu2:80 us1:20 us2:10',
      ask: 3,
      by: [hard()],
      want: 'eu1 eu2 us1',
      skew: 1,
    },
    {
      name: 'allow a larger skew',
      given: 'eu1:90 eu2:80 eu3:70 us1:20',
      ask: 2,
      by: [hard(2)],
      want: 'eu1 eu2',
      skew: 2,
    },
    {
      name: 'stop when the smallest region is used up',
      given: 'eu1:90 eu2:80 eu3:70 us1:20',
      ask: 4,
      by: [hard()],
      want: 'eu1 eu2 us1',
      skew: 1,
    },
    {
      name: 'DoNotSchedule leaves clusters without the key out',
      given: 'lone:99 eu1:1',
      ask: 2,
      by: [hard()],
      want: 'eu1',
      skew: 0,
    },
    {
      name: 'ScheduleAnyway falls back when nothing keeps the skew',
      given: 'eu1:90 eu2:80 eu3:70 us1:20',
      ask: 4,
      by: [soft()],
      want: 'eu1 eu2 eu3 us1',
      skew: 2,
    },
    {
      name: 'ScheduleAnyway prefers what keeps the skew',
      given: 'eu1:90 eu2:80 eu3:70 us1:20',
      ask: 2,
      by: [soft()],
      want: 'eu1 us1',
      skew: 0,
    },
    {
      name: 'ScheduleAnyway takes clusters without the key last',
      given: 'lone:99 eu1:1',
      ask: 1,
      by: [soft()],
      want: 'eu1',
      skew: 1,
    },
    {
      name: 'without a number, all that the skew allows',
      given: 'eu1:1 eu2:2 eu3:3 us1:0',
      ask: undefined,
      by: [hard()],
      want: 'eu3 eu2 us1',
      skew: 1,
    },
    {
      name: 'maxSkew below 1 counts as 1',
      given: 'eu1:2 us1:1',
      ask: 2,
      by: [hard(0)],
      want: 'eu1 us1',
      skew: 0,
    },
  ])('$name', ({ given, ask, by, want, skew }) => {
    const spec = {
      numberOfClusters: ask,
      prioritizerPolicy: BY_SCORE,
      spreadPolicy: { spreadConstraints: by },
    };
    const result = decide({ clusters: fleet(given), spec });
    // One region alone has nothing to be uneven with.
    const regions = new Set(
      fleet(given)
        .map(({ labels }) => labels?.['region'])
        .filter(Boolean),
    );
    expect(result.selected.join(' ')).toBe(want);
    expect(result.spread).toEqual(
      by.map((constraint) => ({ constraint, skew: regions.size === 1 ? 0 : skew })),
    );
  });

  it('apply in listed order: the first ScheduleAnyway constraint counts more', () => {
    const clusters: ClusterSketch[] = [
      { name: 'a', labels: { region: 'eu', cloud: 'x' }, score: 9 },
      { name: 'b', labels: { region: 'us', cloud: 'x' }, score: 5 },
      { name: 'c', labels: { region: 'eu', cloud: 'y' }, score: 7 },
    ];
    const byCloud: SpreadConstraint = { ...soft(), topologyKey: 'cloud' };
    const pick = (by: SpreadConstraint[]) =>
      decide({
        clusters,
        spec: { numberOfClusters: 2, prioritizerPolicy: BY_SCORE, spreadPolicy: { spreadConstraints: by } },
      }).selected;
    expect(pick([soft(), byCloud])).toEqual(['a', 'b']);
    expect(pick([byCloud, soft()])).toEqual(['a', 'c']);
  });

  it('read claims too', () => {
    const clusters: ClusterSketch[] = [
      { name: 'a', claims: { zone: '1' }, score: 3 },
      { name: 'b', claims: { zone: '1' }, score: 2 },
      { name: 'c', claims: { zone: '2' }, score: 1 },
    ];
    const constraint: SpreadConstraint = { ...hard(), topologyKey: 'zone', topologyKeyType: 'Claim' };
    const spec = {
      numberOfClusters: 2,
      prioritizerPolicy: BY_SCORE,
      spreadPolicy: { spreadConstraints: [constraint] },
    };
    expect(decide({ clusters, spec }).selected).toEqual(['a', 'c']);
  });

  it('tell which constraint kept a cluster out', () => {
    const spec = {
      numberOfClusters: 2,
      prioritizerPolicy: BY_SCORE,
      spreadPolicy: { spreadConstraints: [hard()] },
    };
    const engine = new PlacementEngine(snapshotOf({ clusters: fleet('eu1:90 eu2:80 us1:20 us2:10'), spec }));
    engine.scheduleAll();
    const trace = engine.trace('team/web');
    expect(trace?.spreadRefusal('eu2')).toEqual(hard());
    expect(trace?.spreadRefusal('us2')).toBeUndefined();
    expect(trace?.spreadRefusal('eu1')).toBeUndefined();
  });
});

describe('sortBy', () => {
  const clusters = fleet('eu1:10 eu2:30 us1:20 us2:30');
  it('ClusterName and absent write names in order', () => {
    expect(decide({ clusters, spec: { prioritizerPolicy: BY_SCORE } }).groups[0]?.clusters).toEqual([
      'eu1',
      'eu2',
      'us1',
      'us2',
    ]);
  });

  it('Score writes the best first, names among equals, over all groups', () => {
    const decisionStrategy = { groupStrategy: { clustersPerDecisionGroup: 2 } };
    const { groups } = decide({
      clusters,
      spec: { prioritizerPolicy: BY_SCORE, sortBy: 'Score', decisionStrategy },
    });
    expect(groups.map((group) => group.clusters)).toEqual([
      ['eu2', 'us2'],
      ['us1', 'eu1'],
    ]);
  });
});

describe('PreferNoSelect', () => {
  const avoid = [{ key: 'old', effect: 'PreferNoSelect' as const }];
  const clusters: ClusterSketch[] = [
    { name: 'a', taints: avoid },
    { name: 'b' },
    { name: 'c', taints: avoid },
  ];
  const optIn = { [PREFER_NO_SELECT_ANNOTATION]: 'tie-break' };

  it('has no effect unless the placement opts in', () => {
    expect(decide({ clusters }).selected).toEqual(['a', 'b', 'c']);
    expect(decide({ clusters, annotations: { [PREFER_NO_SELECT_ANNOTATION]: 'yes' } }).selected).toEqual([
      'a',
      'b',
      'c',
    ]);
  });

  it('breaks ties before the name', () => {
    expect(decide({ clusters, annotations: optIn }).selected).toEqual(['b', 'a', 'c']);
  });

  it('never outweighs a score', () => {
    const scored = [
      { ...clusters[0], name: 'a', score: 1 },
      { name: 'b', score: 0 },
    ];
    expect(
      decide({ clusters: scored, annotations: optIn, spec: { prioritizerPolicy: BY_SCORE } }).selected,
    ).toEqual(['a', 'b']);
  });

  it('spares tolerated taints', () => {
    const spec = { tolerations: [{ key: 'old', operator: 'Exists' as const }] };
    expect(decide({ clusters, annotations: optIn, spec }).selected).toEqual(['a', 'b', 'c']);
  });
});
