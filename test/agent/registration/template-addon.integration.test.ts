import { X509Certificate } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import {
  ADDON_TEMPLATE,
  CLUSTER_MANAGEMENT_ADDON,
  CLUSTER_ROLE,
  CONFIG_MAP,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  NAMESPACE,
  SECRET,
} from '@berth/kube/model/kinds';
import { secretTexts } from '@berth/kube/secret-texts';
import type { RegistrationSettings } from '../../../packages/agent/src/registration/options/registration-settings.ts';
import { ADDON_DUTIES } from '../../../src/core/addon/addon-duties.ts';
import { runAddOns } from '../../controllers/addons/run-addons.ts';
import {
  HUB_NAMESPACE,
  managedAddon,
  READER_ROLE,
  signingAuthority,
  TEMPLATE_ADDON,
} from '../../interop/registration/addon-objects.ts';
import { callPrincipal, startPrincipal } from './principal.ts';
import { RegistrationWorld } from './registration-world.ts';

const INSTALLED = 'open-cluster-management-agent-addon';

let world: RegistrationWorld;
let addons: ReturnType<typeof runAddOns>;
afterEach(async () => {
  await addons.close();
  await world.close();
});

/** A cluster that has joined, and an add-on of a template on it, with everything that Berth does for add-ons. */
async function startAddOn(settings: Partial<RegistrationSettings> = {}) {
  world = await RegistrationWorld.start();
  const { api } = world.hub;
  addons = runAddOns(api, ADDON_DUTIES);
  world.run({ settings });
  await expect.poll(() => world.hub.requests('cluster1')).toHaveLength(1);
  await world.hub.decide('cluster1');
  await world.hub.accept('cluster1');
  const member = world.member();
  await member.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: INSTALLED } });
  await api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: HUB_NAMESPACE } });
  const authority = await signingAuthority();
  await api.create(SECRET, authority.secret);
  await api.create(CLUSTER_ROLE, READER_ROLE);
  await api.create(ADDON_TEMPLATE, TEMPLATE_ADDON[0]);
  await api.create(CLUSTER_MANAGEMENT_ADDON, TEMPLATE_ADDON[1]);
  await api.create(MANAGED_CLUSTER_ADDON, managedAddon('cluster1', 'hello'));
  const filesOf = async (name: string): Promise<Readonly<Record<string, string>>> => {
    const secret = await member.get(SECRET, { namespace: INSTALLED, name });
    return secret === undefined ? {} : secretTexts(secret);
  };
  return { api, member, authority, filesOf };
}

/** Whether the add-on's agent may list the ConfigMaps of its cluster, those of another namespace, and Secrets. */
async function rightsOf(files: Readonly<Record<string, string>>): Promise<readonly boolean[]> {
  const folder = join(world.dir, `mounted-${Object.keys(files).length}`);
  mkdirSync(folder, { recursive: true });
  for (const [key, text] of Object.entries(files)) writeFileSync(join(folder, key), text);
  const config = loadKubeConfig({ file: join(folder, 'kubeconfig'), env: {} });
  const client = new HttpKubeApi({ config, clock: world.clock });
  const isAllowed = (kind: KindInfo, namespace: string) =>
    client.list(kind, { namespace }).then(
      () => true,
      () => false,
    );
  const answers = [
    await isAllowed(CONFIG_MAP, 'cluster1'),
    await isAllowed(CONFIG_MAP, 'default'),
    await isAllowed(SECRET, 'cluster1'),
  ];
  client.close();
  return answers;
}

it('gives the add-on of a template its access to the hub, and a certificate of its own authority', async () => {
  const { api, member, authority, filesOf } = await startAddOn();
  await expect
    .poll(async () => Object.keys(await filesOf('hello-hub-kubeconfig')).sort())
    .toEqual(['cluster-name', 'kubeconfig', 'tls.crt', 'tls.key']);
  const hub = await filesOf('hello-hub-kubeconfig');
  await expect.poll(() => rightsOf(hub)).toEqual([true, false, false]);
  const own = 'hello-example.com-agents-client-cert';
  await expect.poll(async () => Object.keys(await filesOf(own))).toContain('tls.crt');
  const files = await filesOf(own);
  const certificate = new X509Certificate(files['tls.crt'] ?? '');
  expect(certificate.subject.split('\n').sort()).toEqual(['CN=hello-agent', 'O=agents', 'OU=unit-7']);
  expect(certificate.subjectAltName).toBe('DNS:hello.addon.open-cluster-management.io');
  const principal = await startPrincipal({
    certificate: authority.certificate,
    key: secretTexts(authority.secret)['tls.key'] ?? '',
  });
  expect(await callPrincipal(principal.port, files, authority.certificate)).toBe('hello-agent');
  expect(await callPrincipal(principal.port, hub, authority.certificate).catch(() => '')).toBe('');
  principal.close();
  const signed = addons.events.filter(({ action }) => action.startsWith('certificate-'));
  expect(signed.map(({ action }) => action).sort()).toEqual([
    ...['certificate-approved', 'certificate-approved', 'certificate-signed'],
  ]);
  const applied = async () =>
    (await member.get(CONFIG_MAP, { namespace: 'default', name: 'hello' }))?.['data'];
  await expect.poll(applied).toEqual({ cluster: 'cluster1' });
  const cluster = { namespace: '', name: 'cluster1' };
  const label = async () =>
    (await api.get(MANAGED_CLUSTER, cluster))?.metadata.labels?.[
      'feature.open-cluster-management.io/addon-hello'
    ];
  await expect.poll(label).toBe('available');
  expect(addons.warnings()).toEqual([]);
  await api.delete(CLUSTER_MANAGEMENT_ADDON, { namespace: '', name: 'hello' });
  await expect.poll(() => rightsOf(hub)).toEqual([false, false, false]);
  await expect.poll(applied).toBeUndefined();
  await expect.poll(() => filesOf('hello-hub-kubeconfig')).toEqual({});
  await expect.poll(label).toBeUndefined();
});

it('gives the add-on of a template tokens, where the cluster’s agent uses them', async () => {
  const { filesOf } = await startAddOn({ addons: { driver: 'token', tokenSeconds: 3_600 } });
  await expect
    .poll(async () => Object.keys(await filesOf('hello-hub-kubeconfig')).sort())
    .toEqual(['cluster-name', 'kubeconfig', 'token']);
  const hub = await filesOf('hello-hub-kubeconfig');
  await expect.poll(() => rightsOf(hub)).toEqual([true, false, false]);
});
