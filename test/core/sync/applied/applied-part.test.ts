import { describe, expect, it } from 'vitest';
import { appliedPart } from '../../../../src/core/sync/applied/applied-part.ts';

const live = {
  apiVersion: 'cluster.open-cluster-management.io/v1',
  kind: 'ManagedCluster',
  metadata: {
    name: 'c1',
    labels: { region: 'eu', 'feature.open-cluster-management.io/addon-x': 'available' },
    annotations: { note: 'by hand' },
    managedFields: [
      {
        manager: 'agent',
        operation: 'Update',
        fieldsV1: { 'f:metadata': { 'f:annotations': { 'f:note': {} } } },
      },
      {
        manager: 'berth',
        operation: 'Apply',
        fieldsV1: { 'f:metadata': { 'f:labels': { 'f:region': {} } }, 'f:spec': { 'f:taints': {} } },
      },
    ],
  },
  spec: { hubAcceptsClient: true, taints: [{ key: 'drain', effect: 'NoSelect' }] },
};

describe('appliedPart', () => {
  it('has the labels, annotations and taints that the manager applied', () => {
    const { metadata, spec } = appliedPart(live, 'berth') as unknown as typeof live;
    expect([metadata.labels, metadata.annotations]).toEqual([{ region: 'eu' }, {}]);
    expect(spec).toEqual(live.spec);
  });

  it('has none of them of an object that somebody else applied', () => {
    const { metadata, spec } = appliedPart(live, 'other') as unknown as typeof live;
    expect([metadata.labels, metadata.annotations]).toEqual([{}, {}]);
    expect(spec).toEqual({ hubAcceptsClient: true, taints: [] });
  });
});
