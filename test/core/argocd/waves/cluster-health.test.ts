import { describe, expect, it } from 'vitest';
import { applicationsByCluster, clusterHealth } from '../../../../src/core/argocd/waves/cluster-health.ts';
import type { Application } from '../../../../src/core/argocd/argocd-kinds.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';

const SOURCE = { repoURL: 'https://git.example.org/apps.git', targetRevision: 'v1', path: 'web' };
const AT = '2026-08-01T12:00:00Z';
const application = (status: Application['status'], over: Partial<Application> = {}): Application => ({
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'Application',
  metadata: { name: 'web-c1', namespace: 'argocd' },
  spec: { source: SOURCE, destination: { name: 'c1' } },
  status,
  ...over,
});
const GOOD: NonNullable<Application['status']> = {
  health: { status: 'Healthy', lastTransitionTime: AT },
  sync: { status: 'Synced', comparedTo: { source: SOURCE } },
  operationState: { phase: 'Succeeded', finishedAt: '2026-08-01T12:05:00Z' },
};

describe('an Application is healthy', () => {
  it.each([
    { name: 'since its last operation', status: GOOD, since: '2026-08-01T12:05:00Z' },
    { name: 'since it became so', status: { ...GOOD, operationState: undefined }, since: AT },
    { name: 'since an unknown time', status: { ...GOOD, health: { status: 'Healthy' } }, since: undefined },
    {
      name: 'as the pull model reports it',
      status: { health: { status: 'Healthy' }, sync: { status: 'Synced' } },
      since: undefined,
    },
    {
      name: 'of several sources',
      status: { ...GOOD, sync: { status: 'Synced', comparedTo: { source: {}, sources: [SOURCE] } } },
      spec: { sources: [SOURCE], destination: { name: 'c1' } },
      since: '2026-08-01T12:05:00Z',
    },
  ])('$name', ({ status, since, spec }) => {
    const sinceMs = since === undefined ? undefined : Date.parse(since);
    expect(clusterHealth([application(status, spec && { spec })])).toEqual({ kind: 'healthy', sinceMs });
  });

  it.each([
    { name: 'without a status', status: undefined, kind: 'progressing', why: 'has no status yet' },
    {
      name: 'without a sync status',
      status: { health: { status: 'Healthy' } },
      kind: 'progressing',
      why: 'has no status yet',
    },
    {
      name: 'degraded',
      status: { ...GOOD, health: { status: 'Degraded' } },
      kind: 'failing',
      why: 'is Degraded',
    },
    {
      name: 'progressing',
      status: { ...GOOD, health: { status: 'Progressing' } },
      kind: 'progressing',
      why: 'is Progressing',
    },
    {
      name: 'suspended',
      status: { ...GOOD, health: { status: 'Suspended' } },
      kind: 'failing',
      why: 'is Suspended',
    },
    {
      name: 'of unknown health',
      status: { ...GOOD, health: { status: 'Unknown' } },
      kind: 'failing',
      why: 'is Unknown',
    },
    {
      name: 'out of sync',
      status: { ...GOOD, sync: { status: 'OutOfSync' } },
      kind: 'progressing',
      why: 'is OutOfSync',
    },
    {
      name: 'of unknown sync',
      status: { ...GOOD, sync: { status: 'Unknown' } },
      kind: 'failing',
      why: 'is Unknown',
    },
    {
      name: 'being synced',
      status: { ...GOOD, operationState: { phase: 'Running' } },
      kind: 'progressing',
      why: 'is being synced',
    },
    {
      name: 'failed to sync',
      status: { ...GOOD, operationState: { phase: 'Failed', message: 'hook failed' } },
      kind: 'failing',
      why: 'failed to sync: hook failed',
    },
    {
      name: 'compared with an earlier source',
      status: {
        ...GOOD,
        sync: { status: 'Synced', comparedTo: { source: { ...SOURCE, targetRevision: 'v0' } } },
      },
      kind: 'progressing',
      why: 'was not compared with its new source yet',
    },
  ])('not when it is $name', ({ status, kind, why }) => {
    expect(clusterHealth([application(status)])).toEqual({ kind, why: `Application web-c1 ${why}` });
  });

  it('not when it is being deleted', () => {
    const metadata = { name: 'web-c1', deletionTimestamp: AT };
    expect(clusterHealth([application(GOOD, { metadata })])).toMatchObject({ kind: 'progressing' });
  });

  it('together with the others of its cluster: the worst, and the last time', () => {
    const later = { ...GOOD, health: { status: 'Healthy', lastTransitionTime: '2026-08-01T13:00:00Z' } };
    expect(clusterHealth([application(GOOD), application(later)])).toEqual({
      kind: 'healthy',
      sinceMs: Date.parse('2026-08-01T13:00:00Z'),
    });
    const [slow, bad] = ['Progressing', 'Degraded'].map((status) =>
      application({ ...GOOD, health: { status } }),
    );
    expect(clusterHealth([application(GOOD), slow as Application, bad as Application])).toMatchObject({
      kind: 'failing',
    });
  });
});

const cluster = (name: string, ...urls: readonly string[]): ManagedCluster => ({
  apiVersion: 'cluster.open-cluster-management.io/v1',
  kind: 'ManagedCluster',
  metadata: { name },
  spec: { managedClusterClientConfigs: urls.map((url) => ({ url })) },
});

describe('the cluster of an Application', () => {
  const clusters = [
    cluster('c1', 'https://c1:6443/', 'https://shared'),
    cluster('c2', 'https://c2', 'https://shared'),
  ];
  const pulled = {
    name: 'web-c1',
    labels: { 'apps.open-cluster-management.io/pull-to-ocm-managed-cluster': 'true' },
    annotations: { 'apps.open-cluster-management.io/ocm-managed-cluster': 'c9' },
  };
  it.each([
    { name: 'is named by its destination', over: { spec: { destination: { name: 'c1' } } }, want: 'c1' },
    { name: 'has its address', over: { spec: { destination: { server: 'https://c1:6443' } } }, want: 'c1' },
    { name: 'pulls it', over: { metadata: pulled }, want: 'c9' },
    {
      name: 'is not known by an address of nobody',
      over: { spec: { destination: { server: 'https://x' } } },
      want: undefined,
    },
    {
      name: 'is not known by an address of two',
      over: { spec: { destination: { server: 'https://shared' } } },
      want: undefined,
    },
    { name: 'is not known without a destination', over: { spec: {} }, want: undefined },
  ])('$name', ({ over, want }) => {
    const found = applicationsByCluster([application(GOOD, over)], () => clusters);
    expect([...found.byCluster.keys()]).toEqual(want === undefined ? [] : [want]);
    expect(found.unassigned).toEqual(want === undefined ? ['web-c1'] : []);
  });
});
