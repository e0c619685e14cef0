import {
  CERTIFICATE_REQUEST,
  CLUSTER_ROLE,
  CLUSTER_ROLE_BINDING,
  type KindInfo,
  MANAGED_CLUSTER,
  NAMESPACE,
  ROLE,
  ROLE_BINDING,
  SECRET,
  SERVICE_ACCOUNT,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { afterEach, expect, it } from 'vitest';
import { restrictedClient } from '../../app/serve/restricted-controller.ts';
import {
  HUB_NAMESPACE,
  READER,
  READER_ROLE,
  SIGNER,
  signingAuthority,
  TEMPLATE_ADDON,
} from '../../interop/registration/addon-objects.ts';
import { plainSubject, requestPem } from '../../security/certificate-requests.ts';
import { freshKey, RegistrationWorld } from '../registration/registration-world.ts';
import { runAddOns } from './run-addons.ts';
import { TemplateAddOn } from './template-addon.ts';

const CLIENT = 'kubernetes.io/kube-apiserver-client';
const DUTIES = ['registration', 'health'] as const;
const GROUP = 'system:open-cluster-management:cluster:c1:addon:hello';
const ACCOUNT = { kind: 'ServiceAccount', name: 'berth', namespace: 'berth-system' };

const printed = {
  applies: false,
  schedule: 'upstream',
  works: false,
  embedded: true,
  secrets: [],
  addons: { duties: DUTIES },
} as const;

let world: RegistrationWorld;
let addons: ReturnType<typeof runAddOns>;
afterEach(async () => {
  await addons.close();
  await world.close();
});

/** Lets Berth's account do one thing, as docs/addons.md says. */
async function permit(role: KindInfo, binding: KindInfo, rule: object): Promise<void> {
  const { namespaced } = role;
  const metadata = { name: 'berth-addon', ...(namespaced && { namespace: HUB_NAMESPACE }) };
  const object = (kind: string, content: object) =>
    ({ apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata, ...content }) as unknown as KubeObject;
  await world.api.create(role, object(role.kind, { rules: [rule] }));
  const roleRef = { apiGroup: role.group, kind: role.kind, name: metadata.name };
  await world.api.create(binding, object(binding.kind, { roleRef, subjects: [ACCOUNT] }));
}

async function ask(signerName: string, user: string, groups: readonly string[]): Promise<string> {
  const subject = [...plainSubject(user, ...groups), [{ type: 'OU' as const, value: 'unit-7' }]];
  const labels = {
    'open-cluster-management.io/cluster-name': 'c1',
    'open-cluster-management.io/addon-name': 'hello',
  };
  const pem = requestPem({ subject, privateKey: freshKey() });
  return world.ask(pem, { labels, signerName }, await world.agentOf('c1'));
}

it('does everything with the printed rights, and those for what the template names', async () => {
  world = await RegistrationWorld.create({ duties: ['acceptance', 'health'] });
  const { api } = world;
  await world.accepted('c1');
  for (const name of [HUB_NAMESPACE, 'shared'])
    await api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await api.create(SECRET, (await signingAuthority()).secret);
  await api.create(CLUSTER_ROLE, READER_ROLE);
  const restricted = await restrictedClient({ hub: world.hub, dataDir: '' }, printed);
  addons = runAddOns(restricted.api, DUTIES);
  const hello = new TemplateAddOn(api, 'hello');
  await hello.create(TEMPLATE_ADDON[0].spec.registration);
  await hello.addTo('c1');
  await expect.poll(() => hello.condition('c1')).toContain('False SetPermissionFailed');
  const group = 'rbac.authorization.k8s.io';
  const bind = { apiGroups: [group], resources: ['clusterroles'], resourceNames: [READER], verbs: ['bind'] };
  await permit(CLUSTER_ROLE, CLUSTER_ROLE_BINDING, bind);
  const read = { apiGroups: [''], resources: ['secrets'], resourceNames: ['agents-ca'], verbs: ['get'] };
  await permit(ROLE, ROLE_BINDING, read);
  await expect.poll(() => hello.condition('c1')).toContain('True SetPermissionApplied');
  restricted.api.refused.clear();
  const groups = [GROUP, 'system:open-cluster-management:addon:hello'];
  const names = [
    await ask(CLIENT, `${GROUP}:agent:hello-agent`, groups),
    await ask(SIGNER, 'hello-agent', ['agents']),
  ];
  for (const name of names) await expect.poll(() => world.certificate(name)).toBeDefined();
  expect(await api.get(CERTIFICATE_REQUEST, { namespace: '', name: names[0] ?? '' })).toMatchObject({
    status: { conditions: [{ message: 'Auto approving addon agent certificate.' }] },
  });
  const user = 'system:serviceaccount:c1:hello-agent';
  const registrations = [{ signerName: CLIENT, subject: { user } }];
  await hello.setStatus('c1', { kubeClientDriver: 'token', registrations });
  await expect.poll(() => hello.condition('c1', 'TokenInfrastructureReady')).toContain('True');
  const label = 'feature.open-cluster-management.io/addon-hello';
  const labels = async () =>
    (await api.get(MANAGED_CLUSTER, { namespace: '', name: 'c1' }))?.metadata.labels ?? {};
  const lost = { type: 'ManagedClusterConditionAvailable', status: 'Unknown', reason: 'Lost', message: '' };
  const conditions = [{ ...lost, lastTransitionTime: '2026-01-01T00:00:00Z' }];
  const cluster = { namespace: '', name: 'c1' };
  await api.mergePatch(MANAGED_CLUSTER, cluster, { status: { conditions } }, { subresource: 'status' });
  await expect.poll(() => hello.condition('c1', 'Available')).toBe('Unknown Lost: ');
  await expect.poll(labels).toMatchObject({ [label]: 'unreachable' });
  await hello.removeFrom('c1');
  const accounts = async () => (await api.list(SERVICE_ACCOUNT, { namespace: 'c1' })).items.length;
  await expect.poll(accounts).toBe(1);
  expect([...restricted.api.refused]).toEqual([]);
  await expect.poll(() => addons.warnings()).toEqual([]);
});
