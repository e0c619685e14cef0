import { expect, it } from 'vitest';
import { trimWork } from '../../../src/controllers/works/work-inventory.ts';
import { REPLICA_SET_LABEL } from '@berth/ocm/kind/manifest-work-replica-set';
import type { KubeObject } from '@berth/kube/model/object-meta';

const workload = { manifests: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }] };
const deleteOption = { ttlSecondsAfterFinished: 60 };
const work = (spec: object, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'work.open-cluster-management.io/v1',
  kind: 'ManifestWork',
  metadata: { name: 'w', namespace: 'c1', labels },
  spec,
  status: { conditions: [] },
});

it('keeps all of a work of a replica set, which is compared, handed over and updated', () => {
  const child = work({ workload, deleteOption }, { [REPLICA_SET_LABEL]: 'team.web' });
  expect(trimWork(child)).toBe(child);
});

it('keeps of other works what decides when they are deleted, and no manifests', () => {
  expect(trimWork(work({ workload, deleteOption }))).toEqual(work({ deleteOption }));
  const { spec: _spec, ...bare } = work({});
  expect(trimWork(work({ workload }))).toEqual(bare);
});
