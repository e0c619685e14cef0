import { describe, expect, it } from 'vitest';
import { warmSnapshotDigest, digestSnapshot } from '../../../src/adapters/store/snapshot-digest.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';

const snapshot = (): Snapshot => ({
  now: '2026-01-01T00:00:00Z',
  placements: [],
  clusters: Array.from({ length: 200 }, (_, i) => ({
    apiVersion: 'cluster.open-cluster-management.io/v1' as const,
    kind: 'ManagedCluster' as const,
    metadata: { name: `c${String(i).padStart(3, '0')}` },
    spec: { hubAcceptsClient: true },
  })),
  clusterSets: [],
  bindings: [],
  decisions: [],
  scores: [],
});

describe('warmSnapshotDigest', () => {
  it('lets others in between, and changes no digest', async () => {
    const [ahead, plain] = [snapshot(), snapshot()];
    let turns = 0;
    let over = false;
    const count = (): void => {
      turns += 1;
      if (!over) setImmediate(count);
    };
    setImmediate(count);
    await warmSnapshotDigest(ahead, new AbortController().signal);
    over = true;
    expect(turns).toBeGreaterThanOrEqual(6);
    expect(digestSnapshot(ahead)).toEqual(digestSnapshot(plain));
  });

  it('ends when it is stopped', async () => {
    const stop = new AbortController();
    const objects = snapshot();
    let read = 0;
    const clusters = objects.clusters.map(
      (cluster) =>
        new Proxy(cluster, {
          get(target, key) {
            if (key === 'metadata') read += 1;
            return Reflect.get(target, key) as unknown;
          },
        }),
    );
    const digesting = warmSnapshotDigest({ ...objects, clusters }, stop.signal);
    stop.abort();
    await digesting;
    expect(read).toBeLessThan(100);
  });
});
