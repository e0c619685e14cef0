import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import {
  CONFIG_MAP,
  LEASE,
  MANAGED_CLUSTER_ADDON,
  NAMESPACE,
  ROLE,
  ROLE_BINDING,
  SECRET,
} from '@berth/kube/model/kinds';
import { formatMicroTime, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { RegistrationWorld } from './registration-world.ts';

const INSTALLED = 'open-cluster-management-agent-addon';
const GROUP = 'system:open-cluster-management:cluster:cluster1:addon:helloworld';
const ADDON = { namespace: 'cluster1', name: 'helloworld' };
const RBAC = 'rbac.authorization.k8s.io';

let world: RegistrationWorld;
afterEach(() => world.close());

/** What the add-on's manager does on the hub. */
async function manage(): Promise<void> {
  const { api } = world.hub;
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }];
  const metadata = { namespace: 'cluster1', name: 'helloworld' };
  await api.create(ROLE, { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata, rules });
  await api.create(ROLE_BINDING, {
    apiVersion: `${RBAC}/v1`,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: RBAC, kind: 'Role', name: 'helloworld' },
    subjects: [{ apiGroup: RBAC, kind: 'Group', name: GROUP }],
  });
  await api.create(MANAGED_CLUSTER_ADDON, {
    apiVersion: 'addon.open-cluster-management.io/v1alpha1',
    kind: 'ManagedClusterAddOn',
    metadata: ADDON,
    spec: {},
  });
  const subject = { user: `${GROUP}:agent:helloworld-agent`, groups: [GROUP] };
  const registrations = [{ signerName: 'kubernetes.io/kube-apiserver-client', subject }];
  const status = { status: { namespace: INSTALLED, registrations } };
  await api.mergePatch(MANAGED_CLUSTER_ADDON, ADDON, status, { subresource: 'status' });
}

/** The add-on's agent, with the files of its Secret. */
function clientOf(data: Readonly<Record<string, string>>): HttpKubeApi {
  const folder = join(world.dir, 'mounted');
  mkdirSync(folder);
  for (const [key, text] of Object.entries(data))
    writeFileSync(join(folder, key), Buffer.from(text, 'base64'));
  const config = loadKubeConfig({ file: join(folder, 'kubeconfig'), env: {} });
  return new HttpKubeApi({ config, clock: world.clock });
}

const conditions = async (): Promise<readonly string[]> => {
  const status = (await world.hub.api.get(MANAGED_CLUSTER_ADDON, ADDON))?.['status'] ?? {};
  const { conditions: list = [] } = status as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
  return list.map((one) => `${one.type}=${one.status}`).sort();
};

it('gives an add-on an access to the hub that can do what its role says, and no more', async () => {
  world = await RegistrationWorld.start();
  world.run();
  await expect.poll(() => world.hub.requests('cluster1')).toHaveLength(1);
  await world.hub.decide('cluster1');
  await world.hub.accept('cluster1');
  await manage();
  await expect.poll(() => world.hub.decide('cluster1')).toBe(1);
  const member = world.member();
  await member.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: INSTALLED } });
  const key = { namespace: INSTALLED, name: 'helloworld-hub-kubeconfig' };
  await expect.poll(() => member.get(SECRET, key)).toBeDefined();
  const data = (await member.get(SECRET, key))?.['data'] as Readonly<Record<string, string>>;
  const client = clientOf(data);
  const { items } = await client.list(CONFIG_MAP, { namespace: 'cluster1' });
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['kube-root-ca.crt']);
  await expect(client.list(SECRET, { namespace: 'cluster1' })).rejects.toMatchObject({
    code: 'kube.forbidden',
  });
  await expect(client.list(CONFIG_MAP, { namespace: 'default' })).rejects.toMatchObject({
    code: 'kube.forbidden',
  });
  client.close();
  await expect.poll(conditions).toEqual(['Available=Unknown', 'ClusterCertificateRotated=True']);
  await member.create(LEASE, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: INSTALLED, name: 'helloworld' },
    spec: { renewTime: formatMicroTime(instantFromEpochMs(world.clock.now())) },
  });
  await expect.poll(conditions).toEqual(['Available=True', 'ClusterCertificateRotated=True']);
  await world.hub.api.delete(MANAGED_CLUSTER_ADDON, ADDON);
  await expect.poll(() => member.get(SECRET, key)).toBeUndefined();
});
