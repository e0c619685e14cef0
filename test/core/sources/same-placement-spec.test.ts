import { describe, expect, it } from 'vitest';
import { samePlacementSpec } from '../../../src/core/preview/plan-judge.ts';

const inGit = {
  numberOfClusters: 2,
  prioritizerPolicy: { configurations: [{ scoreCoordinate: { builtIn: 'Steady' as const } }] },
};

describe('samePlacementSpec', () => {
  it('does not count what a hub fills in', () => {
    const onHub = {
      numberOfClusters: 2,
      sortBy: 'ClusterName' as const,
      prioritizerPolicy: {
        mode: 'Additive' as const,
        configurations: [
          { weight: 1, scoreCoordinate: { type: 'BuiltIn' as const, builtIn: 'Steady' as const } },
        ],
      },
    };
    expect(samePlacementSpec(inGit, onHub)).toBe(true);
  });

  it.each([
    { ...inGit, numberOfClusters: 3 },
    {
      ...inGit,
      prioritizerPolicy: { configurations: [{ weight: 2, scoreCoordinate: { builtIn: 'Steady' as const } }] },
    },
    { ...inGit, sortBy: 'Score' as const },
    undefined,
  ])('counts everything else: %j', (other) => {
    expect(samePlacementSpec(inGit, other)).toBe(false);
  });
});
