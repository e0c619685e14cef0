import { describe, expect, it } from 'vitest';
import { appliedKinds } from '../../../../src/core/sync/applied/applied-kinds.ts';

describe('kinds that go to the hub', () => {
  it.each([
    { kinds: [], object: ['cluster.open-cluster-management.io/v1beta1', 'Placement'], want: true },
    { kinds: [], object: ['work.open-cluster-management.io/v1', 'ManifestWork'], want: true },
    { kinds: [], object: ['v1', 'Namespace'], want: true },
    { kinds: [], object: ['apps/v1', 'Deployment'], want: false },
    { kinds: [], object: ['v1', 'ConfigMap'], want: false },
    { kinds: [], object: ['not-open-cluster-management.io/v1', 'Placement'], want: false },
    { kinds: ['/ConfigMap'], object: ['v1', 'ConfigMap'], want: true },
    { kinds: ['/ConfigMap'], object: ['v1', 'Secret'], want: false },
    { kinds: ['argoproj.io/*'], object: ['argoproj.io/v1alpha1', 'ApplicationSet'], want: true },
    { kinds: ['*'], object: ['apps/v1', 'Deployment'], want: true },
  ])('$kinds: $object', ({ kinds, object: [apiVersion = '', kind = ''], want }) => {
    expect(appliedKinds(kinds)({ apiVersion, kind })).toBe(want);
  });
});
