import { describe, expect, it, onTestFinished } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { startTestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { CONTROL_PLANE_PROGRAMS, startControlPlane } from './peers/control-plane.ts';
import { hasPeers } from './peers/peer-programs.ts';

const SERVICE = '/api/v1/namespaces/default/services/kubernetes';

interface Service extends KubeObject {
  readonly spec: { readonly ports: readonly object[] };
}

/** Without what differs between any two clusters: identity, times, addresses, and who wrote it. */
function comparable(service: KubeObject): object {
  const { metadata, spec, ...rest } = service as Service;
  const { uid: _uid, resourceVersion: _version, creationTimestamp: _created, ...meta } = metadata;
  const managedFields = (meta['managedFields'] as readonly object[]).map((entry) => ({
    ...entry,
    manager: '',
    time: '',
  }));
  const ports = spec.ports.map((port) => ({ ...port, targetPort: 0 }));
  const addresses = { clusterIP: '', clusterIPs: [''] };
  return {
    ...rest,
    metadata: { ...meta, managedFields },
    spec: { ...spec, ...addresses, ports },
  };
}

describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS))('the Service kubernetes', () => {
  it('is that of a real kube-apiserver, field for field but for addresses', async () => {
    const real = await startControlPlane([]);
    onTestFinished(() => real.stop());
    const ours = await startTestHub({ members: ['one'] });
    onTestFinished(() => ours.stop());
    const wanted = comparable((await real.client.call('GET', SERVICE)).body);
    for (const cluster of ['', '/clusters/one']) {
      const { body } = await ours.call('GET', `${cluster}${SERVICE}`);
      expect(comparable(body as KubeObject)).toEqual(wanted);
    }
  });
});
