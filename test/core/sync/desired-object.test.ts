import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { containsAll, desiredObject, isApplied } from '../../../src/core/sync/desired-object.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const options = { applySetId: 'applyset-x-v1', digest, annotatePlacements: true };
const CLUSTER = 'cluster.open-cluster-management.io';

describe('containsAll', () => {
  it.each<{ name: string; whole: unknown; part: unknown; want: boolean }>([
    { name: 'defaults of the server', whole: { a: 1, b: 2 }, part: { a: 1 }, want: true },
    { name: 'an empty object in a defaulted one', whole: { a: { b: 1 } }, part: { a: {} }, want: true },
    {
      name: 'an empty object that the server dropped',
      whole: {},
      part: { a: {}, b: [], c: null },
      want: true,
    },
    { name: 'an empty list over a full one', whole: { a: [1] }, part: { a: [] }, want: false },
    { name: 'another value', whole: { a: 1 }, part: { a: 2 }, want: false },
    {
      name: 'items that the server completed',
      whole: [{ key: 'x', timeAdded: 'now' }],
      part: [{ key: 'x' }],
      want: true,
    },
    { name: 'a longer list', whole: [1, 2], part: [1], want: false },
    { name: 'a list for an object', whole: { a: [] }, part: { a: { b: 1 } }, want: false },
    { name: 'inherited names', whole: {}, part: { constructor: 'x' }, want: false },
    { name: 'text for a number', whole: { a: '1' }, part: { a: 1 }, want: false },
  ])('$name: $want', ({ whole, part, want }) => {
    expect(containsAll(whole, part)).toBe(want);
  });
});

describe('desiredObject', () => {
  const placement = {
    apiVersion: `${CLUSTER}/v1beta1`,
    kind: 'Placement',
    metadata: { name: 'web', namespace: 'a', uid: 'u', resourceVersion: '1', annotations: { x: 'y' } },
    spec: { numberOfClusters: 1 },
    status: { numberOfSelectedClusters: 1 },
  };

  it('sends no status and nothing that the server sets, and keeps other schedulers away', () => {
    const desired = desiredObject(placement, options);
    expect(desired).toEqual({
      apiVersion: `${CLUSTER}/v1beta1`,
      kind: 'Placement',
      metadata: {
        name: 'web',
        namespace: 'a',
        labels: { 'applyset.kubernetes.io/part-of': 'applyset-x-v1' },
        annotations: {
          x: 'y',
          [`${CLUSTER}/experimental-scheduling-disable`]: 'true',
          'berth.dev/scheduler': 'berth',
          'berth.dev/applied-hash': expect.stringMatching(/^[0-9a-f]{16}$/) as string,
        },
      },
      spec: { numberOfClusters: 1 },
    });
  });

  it('leaves a placement alone whose owner disabled scheduling', () => {
    const annotations = { [`${CLUSTER}/experimental-scheduling-disable`]: 'true' };
    const desired = desiredObject(
      { ...placement, metadata: { ...placement.metadata, annotations } },
      options,
    );
    expect(desired.metadata.annotations).not.toHaveProperty('berth.dev/scheduler');
  });

  it('owns acceptance and taints of a ManagedCluster, no more', () => {
    const spec = {
      hubAcceptsClient: true,
      taints: [{ key: 'x', effect: 'NoSelect' }],
      managedClusterClientConfigs: [{ url: 'https://x' }],
    };
    const cluster = {
      apiVersion: `${CLUSTER}/v1`,
      kind: 'ManagedCluster',
      metadata: { name: 'c' },
      spec,
      status: { conditions: [] },
    };
    const desired = desiredObject(cluster, options);
    expect(desired['spec']).toEqual({ hubAcceptsClient: true, taints: [{ key: 'x', effect: 'NoSelect' }] });
    expect(desired).not.toHaveProperty('status');
  });

  it('knows when nothing is to be done, also when a field left Git', () => {
    const desired = desiredObject(placement, options);
    const live = {
      ...desired,
      spec: { numberOfClusters: 1, defaulted: true },
      metadata: { ...desired.metadata, uid: 'u' },
    };
    expect(isApplied(desired, live)).toBe(true);
    expect(isApplied(desired, { ...live, spec: { numberOfClusters: 2 } })).toBe(false);
    expect(isApplied(desiredObject({ ...placement, spec: {} }, options), live)).toBe(false);
  });
});
