import { describe, expect, it } from 'vitest';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { overlaySnapshot } from '../../../../src/core/preview/sides/overlay-snapshot.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';

const empty: Snapshot = {
  now: '2026-03-01T12:00:00Z',
  placements: [],
  clusters: [],
  clusterSets: [],
  bindings: [],
  decisions: [],
  scores: [],
};
const cluster = (over: { metadata?: object; spec?: object; status?: object } = {}): ManagedCluster =>
  ({
    metadata: { name: 'c1', ...over.metadata },
    spec: { ...over.spec },
    ...(over.status && { status: over.status }),
  }) as ManagedCluster;
const snapshotOf = (...clusters: ManagedCluster[]): Snapshot => ({ ...empty, clusters });
const drain = { key: 'drain', effect: 'NoSelect' };
const lost = {
  key: 'cluster.open-cluster-management.io/unreachable',
  effect: 'NoSelect',
  timeAdded: '2026-01-01T00:00:00Z',
};

const CLUSTER_SET = 'cluster.open-cluster-management.io/clusterset';

describe('overlaySnapshot', () => {
  it('writes the same object again where the same is written, and another one where it differs', () => {
    const hub = snapshotOf(cluster({ metadata: { labels: { tier: 'gold' } } }));
    const git = (taints: readonly object[]): Snapshot => snapshotOf(cluster({ spec: { taints } }));
    const write = (from: Snapshot): ManagedCluster | undefined =>
      overlaySnapshot(hub, from, undefined).clusters[0];
    const first = git([drain]);
    const written = write(first);
    expect(written?.spec?.taints).toEqual([drain]);
    expect(write(first)).toBe(written);
    // Git was read again.
    expect(write(git([drain]))).toBe(written);
    expect(write(git([lost]))?.spec?.taints).toEqual([lost]);
    expect(write(first)).toEqual(written);
  });

  it('puts clusters that it writes without a set into the default set, where the hub has one', () => {
    const defaultSet = { metadata: { name: 'default' } } as Snapshot['clusterSets'][number];
    const hub = { ...empty, clusterSets: [defaultSet], clusters: [cluster({ metadata: { name: 'old' } })] };
    const git = snapshotOf(
      cluster({ metadata: { name: 'new' } }),
      cluster({ metadata: { name: 'own', labels: { [CLUSTER_SET]: 'prod' } } }),
    );
    const setsOf = (of: Snapshot): unknown =>
      overlaySnapshot(of, git, undefined).clusters.map(({ metadata }) => [
        metadata.name,
        metadata.labels?.[CLUSTER_SET],
      ]);
    expect(setsOf(hub)).toEqual([
      ['new', 'default'],
      ['old', undefined],
      ['own', 'prod'],
    ]);
    expect(setsOf(empty)).toEqual([
      ['new', undefined],
      ['own', 'prod'],
    ]);
  });

  it.each([
    {
      name: 'keeps the status that the hub knows',
      hub: cluster({ status: { version: { kubernetes: 'v1.33' } } }),
      git: cluster({ metadata: { labels: { zone: 'a' } }, status: { version: { kubernetes: 'recorded' } } }),
      want: { metadata: { labels: { zone: 'a' } }, status: { version: { kubernetes: 'v1.33' } } },
    },
    {
      name: 'writes the status that Git records to a hub without agents, and keeps the rest of it',
      hub: cluster({ status: { version: { kubernetes: 'v1.33' }, capacity: { cpu: '4' } } }),
      git: cluster({ status: { version: { kubernetes: 'recorded' } } }),
      writes: { status: true },
      want: { status: { version: { kubernetes: 'recorded' }, capacity: { cpu: '4' } } },
    },
    {
      name: 'leaves labels and taints of others alone, and takes away what left Git',
      hub: cluster({ metadata: { labels: { zone: 'a', found: 'here' } }, spec: { taints: [drain, lost] } }),
      before: cluster({ metadata: { labels: { zone: 'a' } }, spec: { taints: [drain] } }),
      git: cluster({ metadata: { labels: { ring: 'r1' } } }),
      want: { metadata: { labels: { found: 'here', ring: 'r1' } }, spec: { taints: [lost] } },
    },
    {
      name: 'keeps the time of a taint that the hub has already',
      hub: cluster({ spec: { taints: [{ ...drain, timeAdded: '2026-01-01T00:00:00Z' }] } }),
      git: cluster({ spec: { taints: [{ ...drain, timeAdded: empty.now }] } }),
      want: { spec: { taints: [{ ...drain, timeAdded: '2026-01-01T00:00:00Z' }] } },
    },
    {
      name: 'keeps what only the hub says of a cluster',
      hub: cluster({ spec: { hubAcceptsClient: true, leaseDurationSeconds: 60 } }),
      git: cluster({ spec: {} }),
      want: { spec: { hubAcceptsClient: true, leaseDurationSeconds: 60 } },
    },
  ])('$name', ({ hub, git, before, writes, want }) => {
    const earlier = before && snapshotOf(before);
    const { clusters } = overlaySnapshot(snapshotOf(hub), snapshotOf(git), earlier, writes);
    expect(clusters).toHaveLength(1);
    expect(clusters[0]).toMatchObject(want);
    if ('labels' in (want.metadata ?? {}))
      expect(clusters[0]?.metadata.labels).toEqual(want.metadata?.labels);
  });

  it('counts the status of a new cluster only where it is written', () => {
    const git = snapshotOf(cluster({ status: { version: { kubernetes: 'recorded' } } }));
    const [created] = overlaySnapshot(empty, git, undefined).clusters;
    expect(created).not.toHaveProperty('status');
    expect(overlaySnapshot(empty, git, undefined, { status: true }).clusters).toEqual(git.clusters);
  });

  it('adds what is new, drops what left Git, and keeps what never was in it', () => {
    const named = (name: string) => cluster({ metadata: { name } });
    const names = (snapshot: Snapshot) => snapshot.clusters.map(({ metadata }) => metadata.name);
    const hub = snapshotOf(named('theirs'), named('gone'), named('stays'));
    const before = snapshotOf(named('gone'), named('stays'));
    expect(names(overlaySnapshot(hub, snapshotOf(named('stays'), named('fresh')), before))).toEqual([
      'fresh',
      'stays',
      'theirs',
    ]);
    expect(names(overlaySnapshot(hub, snapshotOf(named('fresh')), undefined))).toEqual([
      'fresh',
      'gone',
      'stays',
      'theirs',
    ]);
  });
});
