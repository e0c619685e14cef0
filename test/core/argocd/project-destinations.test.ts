import { expect, it } from 'vitest';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { mayDeployTo } from '../../../src/core/argocd/project-destinations.ts';

const cluster = (name: string): ManagedCluster => ({
  ...{ apiVersion: 'cluster.open-cluster-management.io/v1', kind: 'ManagedCluster', metadata: { name } },
  spec: { managedClusterClientConfigs: [{ url: `https://${name}.example:6443` }] },
});
const CLUSTERS = ['prod-1', 'prod-2', 'test-1'].map(cluster);
const ALL = 'prod-1 prod-2 test-1';

it.each([
  ['no destination', [], ''],
  ['a name', [{ name: 'prod-2' }], 'prod-2'],
  ['a pattern', [{ name: 'prod-*' }], 'prod-1 prod-2'],
  ['one sign', [{ name: 'test-?' }], 'test-1'],
  ['everything', [{ server: '*', namespace: 'team-a' }], ALL],
  ['a server', [{ server: 'https://test-1.example:6443' }], 'test-1'],
  ['a server whose dots are dots', [{ server: 'https://test-1xexample:6443' }], ''],
  ['several', [{ name: 'test-1' }, { server: 'https://prod-1.*' }], 'prod-1 test-1'],
  ['all but one', [{ name: '*' }, { name: '!prod-1' }], 'prod-2 test-1'],
  ['all but a server', [{ server: '*' }, { server: '!https://prod-*' }], 'test-1'],
  ['a denial alone', [{ name: '!prod-1' }], 'prod-2 test-1'],
  ['a pattern that is not read', [{ name: 'prod-{1,2}' }], ''],
  ['a denial that is not read', [{ name: '*' }, { name: '!prod-[12]' }], ''],
])('%s', (_name, destinations, want) => {
  const project = {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'AppProject',
    metadata: { name: 'p' },
    spec: { destinations },
  };
  const found = CLUSTERS.filter(mayDeployTo(project)).map(({ metadata }) => metadata.name);
  expect(found.join(' ')).toBe(want);
});

it('knows no cluster without a project, or where Secrets decide', () => {
  const spec = { destinations: [{ name: '*' }], permitOnlyProjectScopedClusters: true };
  const project = { apiVersion: 'argoproj.io/v1alpha1', kind: 'AppProject', metadata: { name: 'p' }, spec };
  for (const one of [undefined, project]) expect(CLUSTERS.filter(mayDeployTo(one))).toEqual([]);
});
