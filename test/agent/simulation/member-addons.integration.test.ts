import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import {
  CERTIFICATE_REQUEST,
  CLUSTER_MANAGEMENT_ADDON,
  LEASE,
  MANAGED_CLUSTER_ADDON,
  SECRET,
} from '@berth/kube/model/kinds';
import { formatMicroTime, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { startMembers } from '@berth/agent/simulation/start-members';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { expect, it, onTestFinished } from 'vitest';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';

const ADDON = { namespace: 'cluster1', name: 'hello' };
const AGENTS = 'open-cluster-management-agent-addon';
const addonKind = { apiVersion: 'addon.open-cluster-management.io/v1alpha1' };

it('a simulated member asks for the certificates of its add-ons, and judges their leases', async () => {
  const { api, hub, close } = await startEmbeddedHub({}, { members: ['cluster1'] });
  const clock = systemClock;
  const members = await startMembers({
    ...{ hub, names: ['cluster1'], agents: true, clock, log: new SilentLogger() },
  });
  const member = new HttpKubeApi({
    config: loadKubeConfig({ file: hub.memberKubeconfigPath('cluster1') }),
    clock,
  });
  onTestFinished(async () => {
    member.close();
    await members.close();
    await close();
  });
  await api.create(CLUSTER_MANAGEMENT_ADDON, {
    ...{ ...addonKind, kind: 'ClusterManagementAddOn', metadata: { name: 'hello' }, spec: {} },
  });
  await api.create(MANAGED_CLUSTER_ADDON, {
    ...{ ...addonKind, kind: 'ManagedClusterAddOn', metadata: ADDON, spec: {} },
  });
  const registrations = [
    {
      signerName: 'kubernetes.io/kube-apiserver-client',
      subject: { user: 'hello-agent', groups: ['agents'] },
    },
  ];
  await api.mergePatch(
    MANAGED_CLUSTER_ADDON,
    ADDON,
    { status: { registrations } },
    { subresource: 'status' },
  );

  await expect.poll(async () => (await api.list(CERTIFICATE_REQUEST)).items.length).toBe(1);
  const [request] = (await api.list(CERTIFICATE_REQUEST)).items;
  expect(request).toMatchObject({
    metadata: { name: expect.stringMatching(/^addon-cluster1-hello-/) },
    spec: { username: 'system:open-cluster-management:cluster1:simulated' },
  });
  const approved = { type: 'Approved', status: 'True', reason: 'Test', message: '' };
  await api.update(
    CERTIFICATE_REQUEST,
    { ...request!, status: { conditions: [approved] } },
    { subresource: 'approval' },
  );
  const secret = { namespace: AGENTS, name: 'hello-hub-kubeconfig' };
  await expect
    .poll(async () => Object.keys((await member.get(SECRET, secret))?.['data'] ?? {}))
    .toContain('tls.crt');

  await member.create(LEASE, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: AGENTS, name: 'hello' },
    spec: { renewTime: formatMicroTime(instantFromEpochMs(Date.now())) },
  });
  await expect
    .poll(async () => (await api.get(MANAGED_CLUSTER_ADDON, ADDON))?.['status'])
    .toMatchObject({
      conditions: expect.arrayContaining([
        expect.objectContaining({
          type: 'Available',
          status: 'True',
          reason: 'ManagedClusterAddOnLeaseUpdated',
        }),
      ]),
    });
  await api.delete(MANAGED_CLUSTER_ADDON, ADDON);
  await expect.poll(() => member.get(SECRET, secret)).toBe(undefined);
});
