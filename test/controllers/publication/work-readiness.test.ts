import { describe, expect, it } from 'vitest';
import { KeyIndex } from '@berth/kube/cache/object-store';
import { WORKS_BY_PLACEMENT, worksKey } from '../../../src/controllers/inventory/hub-inventory.ts';
import { areWorksReady } from '../../../src/controllers/publication/pass-facts-reader.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';

interface Given {
  readonly name: string;
  readonly cluster?: string;
  /** `NAMESPACE.NAME` of the replica set. */
  readonly owner?: string;
  readonly placement?: string;
  readonly conditions?: readonly object[];
}

const AVAILABLE = { type: 'Available', status: 'True', observedGeneration: 2 };
const work = ({
  name,
  cluster = 'c1',
  owner = 'team-a.web',
  placement = 'web',
  conditions = [AVAILABLE],
}: Given) =>
  ({
    apiVersion: 'work.open-cluster-management.io/v1',
    kind: 'ManifestWork',
    metadata: {
      name,
      namespace: cluster,
      generation: 2,
      labels: {
        'work.open-cluster-management.io/manifestworkreplicaset': owner,
        'work.open-cluster-management.io/placementname': placement,
      },
    },
    status: { conditions },
  }) as KubeObject;

describe('the works of a placement on a cluster', () => {
  it.each<{ readonly what: string; readonly works: readonly Given[]; readonly ready: boolean }>([
    { what: 'there are none', works: [], ready: false },
    { what: 'all are available', works: [{ name: 'a' }, { name: 'b' }], ready: true },
    { what: 'one is not', works: [{ name: 'a' }, { name: 'b', conditions: [] }], ready: false },
    {
      what: 'one was available in an earlier generation',
      works: [{ name: 'a', conditions: [{ ...AVAILABLE, observedGeneration: 1 }] }],
      ready: false,
    },
    {
      what: 'an Application is healthy',
      works: [{ name: 'a', conditions: [{ type: 'Healthy', status: 'True' }] }],
      ready: true,
    },
    { what: 'they are on another cluster', works: [{ name: 'a', cluster: 'c2' }], ready: false },
    { what: 'they are of another placement', works: [{ name: 'a', placement: 'api' }], ready: false },
    { what: 'they are of another namespace', works: [{ name: 'a', owner: 'team-ab.web' }], ready: false },
    {
      what: 'one of another placement is not available',
      works: [{ name: 'a' }, { name: 'b', placement: 'api', conditions: [] }],
      ready: true,
    },
    { what: 'nobody says whose they are', works: [{ name: 'a', owner: '' }], ready: false },
  ])('are ready or not where $what', ({ works, ready }) => {
    const store = { list: () => works.map(work), onChange: () => undefined };
    const index = new KeyIndex(store as never, WORKS_BY_PLACEMENT.keysOf);
    expect(areWorksReady(index.get(worksKey('team-a/web', 'c1')))).toBe(ready);
  });
});
