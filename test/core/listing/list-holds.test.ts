import { expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { heldObjects, listHolds } from '../../../src/core/listing/list-holds.ts';

const object = (kind: string, metadata: object, conditions: readonly object[] = []) =>
  ({ kind, metadata, status: { conditions } }) as unknown as KubeObject;
const SINCE = '2026-01-01T00:00:00Z';
const message =
  'It would lose its only cluster. To approve this change, annotate it with berth.dev/release: "0123456789ab".';
const held = {
  type: 'berth.dev/Held',
  status: 'True',
  reason: 'WouldEmpty',
  message,
  lastTransitionTime: SINCE,
};

it('lists what is held of placements, clusters, add-ons and sources, with the code of each', () => {
  const waits = { type: 'Deleting', status: 'False', lastTransitionTime: SINCE };
  const annotations = {
    'berth.dev/held-token': 'aaaabbbbcccc',
    'berth.dev/held-message': '3 deletions are held',
  };
  const objects = [
    object('Placement', { namespace: 'shop', name: 'web' }, [held]),
    object('Placement', { namespace: 'shop', name: 'free' }, [{ ...held, status: 'False' }]),
    object('ManagedCluster', { name: 'c1' }, [
      { ...waits, reason: 'RemovalHeld', message: 'web\nruns there' },
    ]),
    object('ManagedCluster', { name: 'c2' }, [{ ...waits, reason: 'StillSelected', message: 'is decided' }]),
    object('ClusterManagementAddOn', {
      name: 'logs',
      annotations: { ...annotations, 'berth.dev/held-since': SINCE },
    }),
    object('ConfigMap', { name: 'berth-fleet', annotations }),
    object('ConfigMap', { name: 'berth-other' }),
  ];
  const found = heldObjects(objects);
  expect(found.map(({ metadata }) => metadata.name)).toEqual(['web', 'c1', 'logs', 'berth-fleet']);
  const { rows } = listHolds(found, Date.parse('2026-01-01T03:00:00Z'));
  expect(rows).toEqual([
    ['placement shop/web', '0123456789ab', '3h', 'It would lose its only cluster.'],
    ['deletion of cluster c1', '', '3h', 'web runs there'],
    ['add-on logs', 'aaaabbbbcccc', '3h', '3 deletions are held'],
    ['deletions of source fleet', 'aaaabbbbcccc', '', '3 deletions are held'],
  ]);
});
