import { describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { objectAfterWrite } from '../../../src/controllers/publication/hub-records.ts';

const page: KubeObject = {
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'PlacementDecision',
  metadata: { name: 'web-decision-1', namespace: 'team-a', resourceVersion: '7', labels: { a: 'b' } },
  status: { decisions: [{ clusterName: 'c1', reason: '' }] },
};
const written = { status: { decisions: [{ clusterName: 'c2', reason: '' }] } };

describe('objectAfterWrite', () => {
  it('completes an answer of metadata alone with what was written', () => {
    const metadata = { name: 'web-decision-1', namespace: 'team-a', resourceVersion: '8' };
    const answer = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata };
    expect(objectAfterWrite(answer, page, written)).toEqual({ ...page, ...written, metadata });
    expect(objectAfterWrite(answer, page, {})).toEqual({ ...page, metadata });
  });

  it('takes a whole answer as it is: the server may have changed what was written', () => {
    const answer = { ...page, status: { decisions: [] } };
    expect(objectAfterWrite(answer, page, written)).toBe(answer);
  });
});
