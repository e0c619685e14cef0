import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import { PublishedClusters } from '../../src/prior/published-clusters.ts';

interface Page {
  readonly number: number;
  readonly owner: string | undefined;
  readonly clusters: readonly string[];
}

function pageOf({ number, owner, clusters }: Page): PlacementDecision {
  return {
    apiVersion: 'cluster.open-cluster-management.io/v1beta1',
    kind: 'PlacementDecision',
    metadata: {
      name: `page-${String(number).padStart(3, '0')}`,
      namespace: 'team',
      labels: owner === undefined ? {} : { [PLACEMENT_LABEL]: owner },
    },
    status: { decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })) },
  };
}

/** By reading everything again. */
function readAnew(pages: readonly PlacementDecision[]): ReadonlyMap<string, readonly string[]> {
  const clusters = new Map<string, string[]>();
  for (const { metadata, status } of pages) {
    const owner = metadata.labels?.[PLACEMENT_LABEL];
    const key = owner === undefined ? '' : `team/${owner}`;
    const names = (status?.decisions ?? []).map(({ clusterName }) => clusterName);
    clusters.set(key, [...(clusters.get(key) ?? []), ...names]);
  }
  return clusters;
}

const page: fc.Arbitrary<Page> = fc.record({
  // So many that a step may change more pages than are looked at one by one.
  number: fc.integer({ min: 0, max: 90 }),
  owner: fc.constantFrom('web', 'api', 'db', undefined),
  clusters: fc.array(fc.constantFrom('c1', 'c2', 'c3'), { maxLength: 3 }),
});
/** Mostly a page keeps its owner. */
const step = fc.record({
  put: fc.oneof(fc.array(page, { maxLength: 4 }), fc.array(page, { maxLength: 150 })),
  keepsOwner: fc.constantFrom(true, true, true, false),
  gone: fc.oneof(fc.constant([]), fc.constant([]), fc.array(fc.integer({ min: 0, max: 90 }))),
});

describe('PublishedClusters', () => {
  it('reads each list as if it were the first, and names whose clusters may be others', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 10 }), (steps) => {
        const published = new PublishedClusters();
        const pages = new Map<number, Page & { readonly object: PlacementDecision }>();
        let before: ReadonlyMap<string, readonly string[]> = new Map();
        for (const { put, keepsOwner, gone } of steps) {
          for (const number of gone) pages.delete(number);
          for (const one of put) {
            const known = keepsOwner ? pages.get(one.number) : undefined;
            const next = known === undefined ? one : { ...one, owner: known.owner };
            pages.set(one.number, { ...next, object: pageOf(next) });
          }
          const list = [...pages.values()].sort((a, b) => a.number - b.number).map(({ object }) => object);
          const { clusters, changed } = published.read(list);
          expect(new Map(clusters)).toEqual(readAnew(list));
          for (const key of new Set([...before.keys(), ...clusters.keys()]))
            if (changed?.has(key) === false) expect(clusters.get(key)).toBe(before.get(key));
          before = new Map(clusters);
        }
      }),
    );
  });

  it('looks only at the pages that changed, when they are few and stay where they belong', () => {
    const published = new PublishedClusters();
    const pages = Array.from({ length: 300 }, (_, number) =>
      pageOf({ number, owner: `p${number % 100}`, clusters: ['c1'] }),
    );
    expect(published.read(pages).changed).toBeUndefined();
    expect(published.read(pages).changed).toEqual(new Set());
    const changed = pages.with(105, pageOf({ number: 105, owner: 'p5', clusters: ['c2'] }));
    const now = published.read(changed);
    expect(now.changed).toEqual(new Set(['team/p5']));
    expect(now.clusters.get('team/p5')).toEqual(['c1', 'c2', 'c1']);
  });
});
