import { describe, expect, it } from 'vitest';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { CLUSTER_CONDITIONS } from '@berth/ocm/registration/cluster-conditions';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { summarize } from '../../../src/core/publish/record/compact-record.ts';
import {
  clusterSteps,
  inOrder,
  leaseExpired,
  movedStep,
  stepsOf,
  type TimelineStep,
  tolerationSteps,
  workSteps,
} from '../../../src/core/timeline/timeline.ts';

const AT = '2026-01-01T00:00:05.250Z';
const UNREACHABLE = 'cluster.open-cluster-management.io/unreachable';

function cluster(spec: object, condition?: object): ManagedCluster {
  const metadata = { name: 'east' };
  const status = { conditions: condition === undefined ? [] : [condition] };
  return { apiVersion: 'v1', kind: 'ManagedCluster', metadata, spec, status } as unknown as ManagedCluster;
}

function work(over: { readonly applied?: number; readonly metadata?: object } = {}): ManifestWork {
  const applied = { type: 'Applied', status: 'True', observedGeneration: over.applied };
  return {
    metadata: { name: 'shop', namespace: 'east', generation: 2, ...over.metadata },
    status: { conditions: over.applied === undefined ? [] : [applied] },
  } as unknown as ManifestWork;
}

const brief = (steps: readonly TimelineStep[]) => steps.map(({ step, detail }) => `${step}: ${detail}`);

describe('what happens to a cluster', () => {
  const { available, leaseStopped } = CLUSTER_CONDITIONS;

  it('is listed when its health or its taints change, and not when a taint gets its time', () => {
    const taint = { key: UNREACHABLE, effect: 'NoSelect' };
    const other = { key: 'maintenance', value: 'tonight', effect: 'PreferNoSelect' };
    const well = cluster({}, available);
    const silent = cluster({ taints: [taint] }, leaseStopped);
    expect(brief(clusterSteps(well, silent, AT))).toEqual([
      'unknown: ManagedClusterLeaseUpdateStopped',
      `taint-added: ${UNREACHABLE}:NoSelect`,
    ]);
    const stamped = cluster({ taints: [{ ...taint, timeAdded: AT }] }, leaseStopped);
    expect(clusterSteps(silent, stamped, AT)).toEqual([]);
    expect(brief(clusterSteps(stamped, cluster({ taints: [other] }, available), AT))).toEqual([
      'available: ManagedClusterAvailable',
      'taint-added: maintenance=tonight:PreferNoSelect',
      `taint-removed: ${UNREACHABLE}:NoSelect`,
    ]);
  });

  it('says how long the lease was not renewed', () => {
    expect(leaseExpired(cluster({ leaseDurationSeconds: 2 }), AT)).toEqual({
      at: AT,
      step: 'lease-expired',
      cluster: 'east',
      detail: 'not renewed for 10 s',
    });
  });
});

describe('what happens to a work', () => {
  const steps = (before: ManifestWork | undefined, after: ManifestWork | undefined) =>
    brief(workSteps({ before, after }, { placement: 'shop/shop', at: AT }));

  it('is listed from its creation to its end', () => {
    expect(steps(undefined, work())).toEqual(['work-created: shop']);
    expect(steps(work(), work({ applied: 1 }))).toEqual([]);
    expect(steps(work({ applied: 1 }), work({ applied: 2 }))).toEqual(['work-applied: shop']);
    expect(steps(work({ applied: 2 }), work({ applied: 2 }))).toEqual([]);
    const leaving = work({ applied: 2, metadata: { deletionTimestamp: AT } });
    expect(steps(work({ applied: 2 }), leaving)).toEqual([
      'work-withdrawn: shop; its copy stays until the agent has removed it',
    ]);
    expect(steps(leaving, undefined)).toEqual(['work-removed: shop']);
  });
});

describe('what a decision adds', () => {
  const record = { publishedAt: AT, placement: 'shop/shop', added: ['west'], removed: ['east'], clusters: 1 };
  const snapshot = (now: string, tolerationSeconds?: number): Snapshot => {
    const taints = [{ key: UNREACHABLE, effect: 'NoSelect', timeAdded: '2026-01-01T00:00:01Z' }];
    const toleration = { key: UNREACHABLE, operator: 'Exists', tolerationSeconds };
    return {
      now,
      clusters: [cluster({ taints })],
      placements: [{ metadata: { namespace: 'shop', name: 'shop' }, spec: { tolerations: [toleration] } }],
    } as unknown as Snapshot;
  };

  it('says when which toleration ended, if one did', () => {
    expect(tolerationSteps(record, snapshot('2026-01-01T00:00:04Z', 3))).toEqual([
      {
        at: '2026-01-01T00:00:04Z',
        step: 'toleration-ended',
        cluster: 'east',
        placement: 'shop/shop',
        detail: `${UNREACHABLE}, tolerated for 3 s`,
      },
    ]);
    expect(tolerationSteps(record, snapshot('2026-01-01T00:00:03Z', 3))).toEqual([]);
    expect(tolerationSteps(record, snapshot('2026-01-01T00:00:04Z'))).toEqual([]);
  });

  it('names the clusters', () => {
    const [none, moved] = [
      summarize([]),
      { ...record, added: summarize(record.added), removed: summarize(record.removed) },
    ];
    expect(movedStep(moved).detail).toBe('added west, removed east');
    expect(movedStep({ ...moved, added: none })).toMatchObject({ cluster: 'east', detail: 'removed east' });
    const many = summarize(Array.from({ length: 32 }, (_, index) => `c${index}`));
    expect(movedStep({ ...moved, added: many, removed: none }).detail).toMatch(/c9 and 22 more$/);
    const unchanged = { ...moved, added: none, removed: none };
    expect(movedStep(unchanged).detail).toBe('the same cluster');
    expect(movedStep({ ...unchanged, clusters: 0 }).detail).toBe('no clusters');
    expect(movedStep({ ...unchanged, clusters: 2 }).detail).toBe('the same 2 clusters');
  });
});

describe('a timeline', () => {
  const step = (at: string, over: Partial<TimelineStep>): TimelineStep => ({
    ...{ at, step: 'work-applied', detail: '' },
    ...over,
  });

  it('is in the order of time, whatever the precision', () => {
    const [late, early] = [step('2026-01-01T00:00:05.250Z', {}), step('2026-01-01T00:00:05Z', {})];
    expect(inOrder([late, early])).toEqual([early, late]);
  });

  it('of a placement has its own steps, and those of its clusters', () => {
    const own = step(AT, { placement: 'shop/shop', cluster: 'east' });
    const health = step(AT, { cluster: 'east' });
    const others = [step(AT, { placement: 'shop/other', cluster: 'east' }), step(AT, { cluster: 'far' })];
    expect(stepsOf('shop/shop', [own, health, ...others], new Set(['east']))).toEqual([own, health]);
  });
});
