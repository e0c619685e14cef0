import { describe, expect, it } from 'vitest';
import type { Condition } from '@berth/kube/model/object-meta';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { CLUSTER_CONDITIONS } from '@berth/ocm/registration/cluster-conditions';
import { planFeatureLabels, unknownHealth } from '../../../src/core/addon/cluster-health.ts';

const { available, leaseStopped } = CLUSTER_CONDITIONS;
const LABEL = 'feature.open-cluster-management.io/addon-';

function cluster(conditions: readonly Condition[], metadata: object = {}): ManagedCluster {
  return {
    ...{ apiVersion: 'cluster.open-cluster-management.io/v1', kind: 'ManagedCluster', spec: {} },
    ...{ metadata: { name: 'c1', ...metadata }, status: { conditions } },
  };
}
const addon = (name: string, status?: Condition['status'], metadata: object = {}) => ({
  metadata: { name, namespace: 'c1', ...metadata },
  status: {
    conditions: status === undefined ? [] : [{ type: 'Available', status, reason: 'x', message: '' }],
  },
});

describe('the health of the add-ons of a cluster', () => {
  it('is unknown for the reason of the cluster', () => {
    expect(unknownHealth(cluster([leaseStopped]))).toEqual({ ...leaseStopped, type: 'Available' });
  });

  it.each([
    ['is available', [available]],
    ['answers without its API server', [{ ...available, status: 'False' as const }]],
    ['has not joined', []],
  ])('stays when the cluster %s', (_, conditions) => {
    expect(unknownHealth(cluster(conditions))).toBeUndefined();
  });
});

describe('the labels of a cluster for its add-ons', () => {
  it('say how each add-on is', () => {
    const addons = [addon('a', 'True'), addon('b', 'False'), addon('c', 'Unknown'), addon('d')];
    expect(planFeatureLabels(cluster([available]), addons)).toEqual({
      [`${LABEL}a`]: 'available',
      [`${LABEL}b`]: 'unhealthy',
      [`${LABEL}c`]: 'unreachable',
      [`${LABEL}d`]: 'unreachable',
    });
  });

  it('go with the add-on, and others stay', () => {
    const labels = { [`${LABEL}a`]: 'available', [`${LABEL}b`]: 'available', other: 'x' };
    const deleted = addon('b', 'True', { deletionTimestamp: '2026-01-01T00:00:00Z' });
    expect(planFeatureLabels(cluster([available], { labels }), [addon('a', 'True'), deleted])).toEqual({
      [`${LABEL}b`]: null,
    });
  });

  it('are not written without a difference', () => {
    const labels = { [`${LABEL}a`]: 'available' };
    expect(planFeatureLabels(cluster([available], { labels }), [addon('a', 'True')])).toBeUndefined();
  });

  it.each([
    ['is being deleted', [available], { deletionTimestamp: '2026-01-01T00:00:00Z' }],
    ['has not joined', [], {}],
  ])('stay while the cluster %s', (_, conditions, metadata) => {
    expect(planFeatureLabels(cluster(conditions, metadata), [addon('a', 'True')])).toBeUndefined();
  });

  it('leave out an add-on whose name is too long for a label', () => {
    const addons = [addon('a'.repeat(58), 'True'), addon('a'.repeat(57), 'True')];
    expect(Object.keys(planFeatureLabels(cluster([available]), addons) ?? {})).toEqual([
      `${LABEL}${'a'.repeat(57)}`,
    ]);
  });
});
