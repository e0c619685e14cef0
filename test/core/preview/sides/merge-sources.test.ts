import { describe, expect, it } from 'vitest';
import {
  contestedObjects,
  mergeSources,
  type SourceDeclaration,
} from '../../../../src/core/preview/sides/merge-sources.ts';

const placement = (name: string, commit: string) => ({
  object: {
    apiVersion: 'cluster.open-cluster-management.io/v1beta1',
    kind: 'Placement',
    metadata: { namespace: 'team-a', name },
  },
  location: { file: `${name}.yaml`, line: 1, column: 1, commit },
});
const source = (name: string, rank: number, ...placements: readonly string[]): SourceDeclaration => ({
  name,
  rank,
  objects: placements.map((one) => placement(one, name)),
  budget: { percent: 10 * rank, atLeast: 0 },
  deletionWindowMs: undefined,
  allowEmpty: false,
  applies: true,
});
const WEB = JSON.stringify(['cluster.open-cluster-management.io', 'Placement', 'team-a', 'web']);

describe('what several sources declare', () => {
  const [apps, fleet] = [source('apps', 2, 'web', 'api'), source('fleet', 1, 'web')];

  it.each<{ readonly name: string; readonly owner: string | undefined; readonly taken: string }>([
    { name: 'the first one in the settings, where nobody owns it', owner: undefined, taken: 'fleet' },
    { name: 'its owner', owner: 'apps', taken: 'apps' },
    { name: 'the first one, where its owner declares it no longer', owner: 'gone', taken: 'fleet' },
  ])('belongs to $name', ({ owner, taken }) => {
    const merged = mergeSources([apps, fleet], (identity) => (identity === WEB ? owner : undefined));
    expect(merged.objects.map(({ location }) => location.commit).sort()).toEqual(['apps', taken].sort());
    expect(merged.ownerOf(WEB)).toBe(taken);
    expect(merged.budgetOf('team-a/web')).toEqual((taken === 'apps' ? apps : fleet).budget);
    expect(merged.budgetOf('team-a/other')).toBeUndefined();
  });

  it('is contested where more than one declares it', () => {
    expect(contestedObjects([apps, fleet]).map(({ metadata }) => metadata.name)).toEqual(['web']);
    expect(contestedObjects([apps])).toEqual([]);
  });
});
