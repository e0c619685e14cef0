import {
  CLUSTER_ROLE,
  kind,
  MANAGED_CLUSTER,
  ADDON_TEMPLATE,
  NAMESPACE,
  ROLE,
  ROLE_BINDING,
  SERVICE_ACCOUNT,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { CLUSTER_CONDITIONS } from '@berth/ocm/registration/cluster-conditions';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AddOnDuty } from '../../../src/core/addon/addon-duties.ts';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { READER, READER_ROLE, TEMPLATE_ADDON } from '../../interop/registration/addon-objects.ts';
import { runAddOns } from './run-addons.ts';
import { TemplateAddOn } from './template-addon.ts';

const CLIENT = 'kubernetes.io/kube-apiserver-client';
const BETA_ADDON = kind('addon.open-cluster-management.io', 'v1beta1', 'ManagedClusterAddOn', 'Namespaced');
const GROUP = 'system:open-cluster-management:cluster:c1:addon:hello';
const APPLIED = 'True SetPermissionApplied: Registration of the addon agent is configured';
const RBAC = 'rbac.authorization.k8s.io';

let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
let api: KubeApi;
let addons: ReturnType<typeof runAddOns> | undefined;
let hello: TemplateAddOn;

beforeEach(async () => {
  hub = await startEmbeddedHub();
  ({ api } = hub);
  for (const name of ['c1', 'shared'])
    await api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await api.create(MANAGED_CLUSTER, {
    ...{ apiVersion: 'cluster.open-cluster-management.io/v1', kind: 'ManagedCluster' },
    ...{ metadata: { name: 'c1' }, spec: { hubAcceptsClient: true } },
  });
  await api.create(CLUSTER_ROLE, READER_ROLE);
  hello = new TemplateAddOn(api, 'hello');
  await hello.create(TEMPLATE_ADDON[0].spec.registration);
  addons = undefined;
});
afterEach(async () => {
  await addons?.close();
  await hub.close();
});

function run(duty: AddOnDuty): void {
  addons = runAddOns(api, [duty]);
}

const bindings = async (): Promise<readonly string[]> =>
  (await api.list(ROLE_BINDING, {})).items
    .filter(({ metadata }) => metadata.name.includes('hello'))
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
    .sort();

const client = (...hubPermissions: readonly object[]) =>
  [{ type: 'KubeClient', kubeClient: { hubPermissions } }] as never;
const current = (clusterRoleName: string) => ({
  type: 'CurrentCluster',
  currentCluster: { clusterRoleName },
});
const SHARED = {
  type: 'SingleNamespace',
  singleNamespace: { namespace: 'shared', roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: READER } },
};
const OWN_BINDING = 'c1/open-cluster-management:hello:clusterrole:agent';

describe('the registration of an add-on', () => {
  it('is in its status, in both versions of the API', async () => {
    run('registration');
    await hello.addTo('c1');
    await expect.poll(() => hello.condition('c1')).toBe(APPLIED);
    const user = `${GROUP}:agent:hello-agent`;
    const groups = [GROUP, 'system:open-cluster-management:addon:hello'];
    const signer = { user: 'hello-agent', groups: ['agents'] };
    expect((await hello.status('c1')).registrations).toEqual([
      { signerName: CLIENT, subject: { user, groups } },
      { signerName: 'example.com/agents', subject: { ...signer, organizationUnit: ['unit-7'] } },
    ]);
    const beta = await api.get(BETA_ADDON, { namespace: 'c1', name: 'hello' });
    expect((beta?.['status'] as { readonly registrations: unknown }).registrations).toEqual([
      { type: 'kubeClient', kubeClient: { subject: { user, groups } } },
      {
        type: 'customSigner',
        customSigner: {
          signerName: 'example.com/agents',
          subject: { ...signer, organizationUnits: ['unit-7'] },
        },
      },
    ]);
  });

  it('follows the template, also the rights', async () => {
    run('registration');
    await hello.addTo('c1');
    await expect.poll(bindings).toEqual([OWN_BINDING]);
    await hello.change(client(current('other'), SHARED));
    const both = [OWN_BINDING, 'shared/open-cluster-management:hello:clusterrole:agent:c1'];
    await expect.poll(bindings).toEqual(both);
    const key = { namespace: 'c1', name: 'open-cluster-management:hello:clusterrole:agent' };
    const role = async () => (await api.get(ROLE_BINDING, key))?.['roleRef'];
    await expect.poll(role).toMatchObject({ name: 'other' });
    expect((await hello.status('c1')).registrations).toHaveLength(1);
    await hello.change(client(SHARED));
    await expect.poll(bindings).toEqual(both.slice(1));
    await hello.removeFrom('c1');
    await expect.poll(bindings).toEqual([]);
  });

  it('takes rights away that were left over while nobody looked', async () => {
    await hello.change(client(SHARED));
    await hello.addTo('c1');
    run('registration');
    await expect.poll(bindings).toHaveLength(1);
    await addons?.close();
    await hello.removeFrom('c1');
    run('registration');
    await expect.poll(bindings).toEqual([]);
  });

  it('keeps all rights while its template is not there', async () => {
    run('registration');
    await hello.addTo('c1');
    await expect.poll(bindings).toEqual([OWN_BINDING]);
    await api.delete(ADDON_TEMPLATE, { namespace: '', name: hello.template });
    await expect.poll(() => hello.condition('c1')).toContain('False SetPermissionFailed');
    expect(await bindings()).toEqual([OWN_BINDING]);
    expect((await hello.status('c1')).registrations).toHaveLength(2);
  });

  it('restores a binding that somebody changed, and writes nothing without a difference', async () => {
    run('registration');
    await hello.addTo('c1');
    await expect.poll(() => hello.condition('c1')).toBe(APPLIED);
    const key = { namespace: 'c1', name: 'open-cluster-management:hello:clusterrole:agent' };
    const subjects = async () =>
      ((await api.get(ROLE_BINDING, key))?.['subjects'] ?? []) as readonly object[];
    await api.mergePatch(ROLE_BINDING, key, { subjects: [] });
    await expect.poll(subjects).toHaveLength(2);
    const version = async () => (await api.get(ROLE_BINDING, key))?.metadata.resourceVersion;
    const before = [await version(), await hello.status('c1')];
    await addons?.close();
    run('registration');
    await hello.change(client(current(READER)));
    await expect.poll(async () => (await hello.status('c1')).registrations).toHaveLength(1);
    expect(await version()).toBe(before[0]);
  });
});

describe('an add-on with tokens', () => {
  const infrastructure = async (): Promise<readonly string[]> => {
    const kinds = [SERVICE_ACCOUNT, ROLE, ROLE_BINDING];
    const lists = await Promise.all(kinds.map((of) => api.list(of, { namespace: 'c1' })));
    return lists
      .flatMap(({ items }) => items.map(({ metadata }) => metadata.name))
      .filter((name) => name.startsWith('hello-'));
  };
  const useTokens = () =>
    hello.setStatus('c1', {
      kubeClientDriver: 'token',
      registrations: [{ signerName: CLIENT, subject: { user: 'system:serviceaccount:c1:hello-agent' } }],
    });

  it('gets its account, and loses it with another driver', async () => {
    run('registration');
    await hello.change(client(current(READER)));
    await hello.addTo('c1');
    await expect.poll(() => hello.condition('c1')).toBe(APPLIED);
    await useTokens();
    const all = ['hello-agent', 'hello-token-role', 'hello-token-role'];
    await expect.poll(infrastructure).toEqual(all);
    const account = await api.get(SERVICE_ACCOUNT, { namespace: 'c1', name: 'hello-agent' });
    const ready = `True TokenInfrastructureReady: ServiceAccount c1/hello-agent (UID: ${account?.metadata.uid}) is ready`;
    await expect.poll(() => hello.condition('c1', 'TokenInfrastructureReady')).toBe(ready);
    const key = { namespace: 'c1', name: 'open-cluster-management:hello:clusterrole:agent' };
    const subjects = async () => (await api.get(ROLE_BINDING, key))?.['subjects'];
    const user = { apiGroup: RBAC, kind: 'User', name: 'system:serviceaccount:c1:hello-agent' };
    await expect.poll(subjects).toEqual([user]);
    await api.delete(SERVICE_ACCOUNT, { namespace: 'c1', name: 'hello-agent' });
    await expect.poll(() => hello.condition('c1', 'TokenInfrastructureReady')).not.toBe(ready);
    await expect.poll(infrastructure).toEqual(all);
    await hello.setStatus('c1', { kubeClientDriver: 'csr' });
    await expect.poll(infrastructure).toEqual([]);
    await expect.poll(() => hello.condition('c1', 'TokenInfrastructureReady')).toBeUndefined();
    await expect
      .poll(subjects)
      .toMatchObject([{ kind: 'User', name: `${GROUP}:agent:hello-agent` }, { name: GROUP }]);
  });

  it('loses its account when it is deleted, also while nobody looks', async () => {
    await hello.change(client());
    await hello.addTo('c1');
    await useTokens();
    run('registration');
    await expect.poll(infrastructure).toHaveLength(3);
    await addons?.close();
    await hello.removeFrom('c1');
    run('registration');
    await expect.poll(infrastructure).toEqual([]);
  });
});

describe('the health of add-ons', () => {
  const setCluster = (condition: object) =>
    api.mergePatch(
      MANAGED_CLUSTER,
      { namespace: '', name: 'c1' },
      { status: { conditions: [{ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' }] } },
      { subresource: 'status' },
    );
  const available = {
    type: 'Available',
    status: 'True',
    reason: 'Test',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const labels = async () => {
    const cluster = (await api.get(MANAGED_CLUSTER, { namespace: '', name: 'c1' })) as KubeObject;
    const own = Object.entries(cluster.metadata.labels ?? {}).filter(([key]) => key.startsWith('feature.'));
    return Object.fromEntries(own.map(([key, value]) => [key.split('/')[1], value]));
  };

  it('is unknown with that of the cluster, and labels the cluster', async () => {
    run('health');
    await hello.addTo('c1');
    await setCluster(CLUSTER_CONDITIONS.available);
    await expect.poll(labels).toEqual({ 'addon-hello': 'unreachable' });
    await hello.setStatus('c1', { conditions: [{ ...available, message: '' }] });
    await expect.poll(labels).toEqual({ 'addon-hello': 'available' });
    await setCluster(CLUSTER_CONDITIONS.leaseStopped);
    const { reason, message } = CLUSTER_CONDITIONS.leaseStopped;
    await expect.poll(() => hello.condition('c1', 'Available')).toBe(`Unknown ${reason}: ${message}`);
    await expect.poll(labels).toEqual({ 'addon-hello': 'unreachable' });
    await hello.removeFrom('c1');
    await expect.poll(labels).toEqual({});
  });
});
