import { describe, expect, it } from 'vitest';
import { digestAhead, digestWorld } from '../../../src/adapters/store/world-digest.ts';
import type { World } from '../../../src/core/snapshot/world.ts';

const world = (): World => ({
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

describe('digestAhead', () => {
  it('lets others in between, and changes no digest', async () => {
    const [ahead, plain] = [world(), world()];
    let turns = 0;
    let over = false;
    const count = (): void => {
      turns += 1;
      if (!over) setImmediate(count);
    };
    setImmediate(count);
    await digestAhead(ahead, new AbortController().signal);
    over = true;
    expect(turns).toBeGreaterThanOrEqual(6);
    expect(digestWorld(ahead)).toEqual(digestWorld(plain));
  });

  it('ends when it is told to', async () => {
    const stop = new AbortController();
    const objects = world();
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
    const digesting = digestAhead({ ...objects, clusters }, stop.signal);
    stop.abort();
    await digesting;
    expect(read).toBeLessThan(100);
  });
});
