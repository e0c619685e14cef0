import { describe, expect, it } from 'vitest';
import { explainPair } from '../../src/explain/explain-pair.ts';
import { explainPlacement } from '../../src/explain/explain-placement.ts';
import { describePair } from '../../src/explain/text/describe-pair.ts';
import { describePlacement } from '../../src/explain/text/describe-placement.ts';
import { decideInSnapshot } from '../../src/explain/verdict/decide-in-snapshot.ts';
import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';
import { cluster, placement, score, snapshot } from '../explain/snapshots.ts';

const WEB = { namespace: 'team', name: 'web' };
const until = (object: AddOnPlacementScore, validUntil: string): AddOnPlacementScore => ({
  ...object,
  status: { ...object.status, validUntil },
});

/** `fresh` and `forever` have valid scores, `late` an expired one, `other` one of another name, `silent` none. */
function fleetWith(rule: string | undefined): Snapshot {
  const web = placement({
    prioritizerPolicy: {
      mode: 'Exact',
      configurations: [
        { scoreCoordinate: { type: 'AddOn', addOn: { resourceName: 'usage', scoreName: 'cpu' } }, weight: 1 },
      ],
    },
  });
  const annotations = rule === undefined ? {} : { 'berth.dev/missing-scores': rule };
  return snapshot({
    placements: [{ ...web, metadata: { ...web.metadata, annotations } }],
    clusters: ['forever', 'fresh', 'late', 'other', 'silent'].map((name) => cluster(name)),
    scores: [
      score('forever', { cpu: 5 }),
      until(score('fresh', { cpu: -20 }), '2026-03-01T12:05:00Z'),
      until(score('late', { cpu: 80 }), '2026-03-01T11:55:00Z'),
      score('other', { memory: 1 }),
    ],
  });
}

const decidedWith = (rule: string | undefined) => {
  const decision = decideInSnapshot(fleetWith(rule), WEB);
  if (decision === undefined) throw new Error('no placement');
  return decision;
};

const scoreLine = (rule: string | undefined, name: string): string | undefined =>
  describePair(explainPair({ ...decidedWith(rule), cluster: name }))
    .find((line) => line.includes('AddOn/'))
    ?.trim()
    .replaceAll(/ {2,}/g, ' ');

describe('which score counted, and why', () => {
  it.each([
    [undefined, 'forever', '5 × 1 = 5'],
    [undefined, 'fresh', '-20 × 1 = -20 valid until 2026-03-01T12:05:00Z'],
    [
      undefined,
      'late',
      '0 × 1 = 0 expired 2026-03-01T11:55:00Z: the neutral value counts, not the 80 it reported',
    ],
    [undefined, 'silent', '0 × 1 = 0 the cluster has no such AddOnPlacementScore: the neutral value counts'],
    [undefined, 'other', '0 × 1 = 0 its AddOnPlacementScore has no such score: the neutral value counts'],
    [
      'worst',
      'late',
      '-100 × 1 = -100 expired 2026-03-01T11:55:00Z: the worst value counts, not the 80 it reported',
    ],
    [
      'worst',
      'silent',
      '-100 × 1 = -100 the cluster has no such AddOnPlacementScore: the worst value counts',
    ],
    ['last', 'late', '80 × 1 = 80 expired 2026-03-01T11:55:00Z: the last value counts'],
    [
      'last',
      'silent',
      '0 × 1 = 0 the cluster has no such AddOnPlacementScore: there is no last value, the neutral one counts',
    ],
  ])('with the rule %s, cluster %s', (rule, name, want) => {
    expect(scoreLine(rule, name)).toBe(`AddOn/usage/cpu ${want}`);
  });

  it.each([
    [undefined, ['forever', 'late', 'other', 'silent', 'fresh']],
    ['worst', ['forever', 'fresh', 'late', 'other', 'silent']],
    ['last', ['late', 'forever', 'other', 'silent', 'fresh']],
  ])('ranks by the rule %s', (rule, want) => {
    expect(decidedWith(rule).decided.result.selected).toEqual(want);
  });

  it('marks them in the table of a placement, and names a rule that does not exist', () => {
    const { decided } = decidedWith('wurst');
    const text = describePlacement(explainPlacement(fleetWith('wurst'), decided)).join('\n');
    expect(text).toContain('AddOn/usage/cpu 5×1\n');
    expect(text).toContain('AddOn/usage/cpu 0×1 (expired)');
    expect(text).toContain('AddOn/usage/cpu 0×1 (missing)');
    expect(text).toContain(
      'hint: berth.dev/missing-scores is neutral, worst, last, not "wurst", and counts as neutral, did you mean worst?',
    );
    expect(decided.result.status.code).toBe('Warning');
  });
});
