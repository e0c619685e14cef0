import { describe, expect, it } from 'vitest';
import { judgeSources, type ReadFleets } from '../../../src/controllers/previews/judge-deletions.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { mergeSources } from '../../../src/core/preview/sides/merge-sources.ts';

const GROUP = 'cluster.open-cluster-management.io';
const object = (kind: string, version: string, name: string, more = {}): KubeObject => ({
  apiVersion: `${GROUP}/${version}`,
  kind,
  metadata: { name },
  ...more,
});
const inTeam = (name: string) => ({ metadata: { name, namespace: 'team-a' } });
const CLUSTERS = ['c1', 'c2', 'c3'];
const placement = object('Placement', 'v1beta1', 'api', {
  ...inTeam('api'),
  spec: { clusterSets: ['blue'] },
});
const bindings = ['blue', 'green', 'red'].map((set) =>
  object('ManagedClusterSetBinding', 'v1beta2', set, { ...inTeam(set), spec: { clusterSet: set } }),
);
const decisions = {
  ...object('PlacementDecision', 'v1beta1', 'api-decision-1', {
    status: { decisions: CLUSTERS.map((clusterName) => ({ clusterName, reason: '' })) },
  }),
  metadata: {
    name: 'api-decision-1',
    namespace: 'team-a',
    labels: { [`${GROUP}/placement`]: 'api' },
  },
};
const fleet = [
  object('ManagedClusterSet', 'v1beta2', 'blue', { spec: {} }),
  ...CLUSTERS.map((name) => ({
    ...object('ManagedCluster', 'v1', name),
    metadata: { name, labels: { [`${GROUP}/clusterset`]: 'blue' } },
  })),
  ...bindings,
];

function source(
  name: string,
  rank: number,
  objects: readonly KubeObject[],
  allowEmpty = false,
): ReadFleets[number] {
  return {
    ...{
      name,
      rank,
      budget: undefined,
      deletionWindowMs: undefined,
      allowEmpty,
      applies: true,
      kinds: ['*'],
    },
    ...{ complete: true, problems: [], files: 1, textOf: () => Promise.resolve(undefined) },
    objects: objects.map((one) => ({
      object: one,
      location: { file: `${name}.yaml`, line: 1, column: 1 },
      place: { document: 0, within: [] },
    })),
  };
}

const judge = async (apps: readonly KubeObject[]): Promise<readonly (string | undefined)[]> => {
  const other = object('Placement', 'v1beta1', 'idle', { ...inTeam('idle'), spec: {} });
  const bases = [source('fleet', 0, [...fleet, decisions]), source('apps', 1, [placement, other], true)];
  const withoutBlue = [...fleet, decisions].filter((one) => one !== bindings[0]);
  const heads = [
    source('fleet', 0, withoutBlue),
    { ...source('apps', 1, [...apps, other], true), budget: { percent: 100, atLeast: 0 } },
  ];
  const { ownerOf } = mergeSources(bases);
  const judged = await judgeSources({}, [bases, heads], { ownerOf, now: '2026-01-01T00:00:00Z' });
  return judged.map(({ held }) => held?.message.split('; ')[0]);
};

describe('deletions of several sources in one merge', () => {
  it('are held for what they take from a placement that stays', async () => {
    expect(await judge([placement])).toEqual([
      expect.stringContaining('takes away 3 of 3 clusters of Placement team-a/api'),
      undefined,
    ]);
  });

  it('take nothing from a placement that another source deletes', async () => {
    expect(await judge([])).toEqual([undefined, undefined]);
  });
});
