import { describe, expect, it } from 'vitest';
import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import type { Placement } from '@berth/ocm/kind/placement';
import { NextScoreExpiry } from '../../src/prioritize/score-expiry.ts';

const NOW = '2026-03-01T12:00:00.000Z';

const score = (cluster: string, name: string, validUntil?: string | null): AddOnPlacementScore => ({
  apiVersion: 'cluster.open-cluster-management.io/v1alpha1',
  kind: 'AddOnPlacementScore',
  metadata: { namespace: cluster, name },
  status: { validUntil, scores: [{ name: 'free', value: 1 }] },
});

const placement = (resourceName: string, weight = 1): Placement => ({
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'Placement',
  metadata: { namespace: 'team', name: resourceName },
  spec: {
    prioritizerPolicy: {
      configurations: [
        { weight, scoreCoordinate: { type: 'AddOn', addOn: { resourceName, scoreName: 'free' } } },
      ],
    },
  },
});

const msAt = (time: string): number => Date.parse(`2026-03-01T${time}Z`);

describe('the next end of a score', () => {
  it.each([
    { name: 'is that of the first one that expires', scores: ['12:05:00', '12:01:00'], want: '12:01:00.001' },
    { name: 'is never one that has passed', scores: ['11:59:59', '12:02:00'], want: '12:02:00.001' },
    { name: 'may be now: a score counts at its last instant', scores: ['12:00:00'], want: '12:00:00.001' },
    { name: 'is the next millisecond after a fraction', scores: ['12:00:00.0305'], want: '12:00:00.031' },
    { name: 'does not exist without scores', scores: [], want: undefined },
  ])('$name', ({ scores, want }) => {
    const objects = scores.map((time, at) => score(`c${at}`, 'usage', `2026-03-01T${time}Z`));
    const next = new NextScoreExpiry().after({ now: NOW, placements: [placement('usage')], scores: objects });
    expect(next).toBe(want === undefined ? undefined : msAt(want));
  });

  it.each([
    { name: 'nobody reads', placements: [placement('other')] },
    { name: 'has the weight 0', placements: [placement('usage', 0)] },
    { name: 'no placement reads', placements: [] },
  ])('is not that of a score that $name', ({ placements }) => {
    const scores = [score('c1', 'usage', '2026-03-01T12:01:00Z')];
    expect(new NextScoreExpiry().after({ now: NOW, placements, scores })).toBeUndefined();
  });

  it.each([null, undefined, '', 'soon'])('is not that of a score that says validUntil %j', (validUntil) => {
    const scores = [score('c1', 'usage', validUntil)];
    expect(
      new NextScoreExpiry().after({ now: NOW, placements: [placement('usage')], scores }),
    ).toBeUndefined();
  });

  it('moves on as time passes, and back when the clock is set back', () => {
    const ends = new NextScoreExpiry();
    const placements = [placement('usage')];
    const scores = ['12:01:00', '12:03:00'].map((time, at) =>
      score(`c${at}`, 'usage', `2026-03-01T${time}Z`),
    );
    const at = (time: string) => ends.after({ now: `2026-03-01T${time}Z`, placements, scores });
    expect(at('12:00:00.000')).toBe(msAt('12:01:00.001'));
    expect(at('12:01:00.000')).toBe(msAt('12:01:00.001'));
    expect(at('12:01:00.001')).toBe(msAt('12:03:00.001'));
    expect(at('12:03:00.001')).toBeUndefined();
    expect(at('12:00:30.000')).toBe(msAt('12:01:00.001'));
  });

  it('follows a score that is written again', () => {
    const ends = new NextScoreExpiry();
    const placements = [placement('usage')];
    const at = (validUntil: string) =>
      ends.after({ now: NOW, placements, scores: [score('c1', 'usage', validUntil)] });
    expect(at('2026-03-01T12:01:00Z')).toBe(msAt('12:01:00.001'));
    expect(at('2026-03-01T12:06:00Z')).toBe(msAt('12:06:00.001'));
  });
});
