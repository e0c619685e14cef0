import { describe, expect, it } from 'vitest';
import type { Taint } from '@berth/ocm/kind/managed-cluster';
import type { Toleration } from '@berth/ocm/kind/placement';
import { snapshotOf } from '../../../../packages/placement/test/snapshots.ts';
import { passing } from '../../../../packages/placement/test/filter/passing.ts';

/** An hour before the snapshots' noon. */
const ELEVEN = '2026-03-01T11:00:00Z';
const taint = (effect: Taint['effect'], key = 'gpu'): Taint => ({
  key,
  value: 'yes',
  effect,
  timeAdded: ELEVEN,
});

const CLUSTERS = [
  { name: 'free' },
  { name: 'if-new', taints: [taint('NoSelectIfNew')] },
  { name: 'prefer', taints: [taint('PreferNoSelect')] },
  { name: 'tainted', taints: [taint('NoSelect')] },
  { name: 'twice', taints: [taint('NoSelect'), taint('NoSelect', 'down')] },
];

describe('the filter of taints', () => {
  it.each<{ name: string; given: readonly Toleration[]; new: string; decided: string }>([
    {
      name: 'without tolerations NoSelect refuses, and NoSelectIfNew spares what is decided',
      given: [],
      new: 'free prefer',
      decided: 'free if-new prefer',
    },
    {
      name: 'by key and value',
      given: [{ key: 'gpu', operator: 'Equal', value: 'yes' }],
      new: 'free if-new prefer tainted',
      decided: 'free if-new prefer tainted',
    },
    {
      name: 'another value tolerates nothing',
      given: [{ key: 'gpu', operator: 'Equal', value: 'no' }],
      new: 'free prefer',
      decided: 'free if-new prefer',
    },
    {
      name: 'by key alone',
      given: [{ key: 'gpu', operator: 'Exists' }],
      new: 'free if-new prefer tainted',
      decided: 'free if-new prefer tainted',
    },
    {
      name: 'without a key: everything',
      given: [{ operator: 'Exists' }],
      new: 'free if-new prefer tainted twice',
      decided: 'free if-new prefer tainted twice',
    },
    {
      name: 'of one effect only',
      given: [{ operator: 'Exists', effect: 'NoSelectIfNew' }],
      new: 'free if-new prefer',
      decided: 'free if-new prefer',
    },
    {
      name: 'for a time that has not passed',
      given: [{ operator: 'Exists', tolerationSeconds: 3601 }],
      new: 'free if-new prefer tainted twice',
      decided: 'free if-new prefer tainted twice',
    },
    {
      name: 'for a time that ends this very second',
      given: [{ operator: 'Exists', tolerationSeconds: 3600 }],
      new: 'free prefer',
      decided: 'free if-new prefer',
    },
  ])('$name', ({ given, new: wantNew, decided }) => {
    const snapshot = snapshotOf({ clusters: CLUSTERS, spec: { tolerations: given } });
    expect(passing(snapshot, 'tolerations')).toEqual({ new: wantNew, decided });
  });
});
