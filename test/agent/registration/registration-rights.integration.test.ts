import { loadAll } from 'js-yaml';
import { afterEach, expect, it } from 'vitest';
import { SecretStore } from '../../../packages/agent/src/registration/credentials/secret-store.ts';
import {
  CLUSTER_CLAIM,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  NAMESPACE,
  SECRET as SECRETS,
} from '@berth/kube/model/kinds';
import { renderAgentRbac } from '../../../src/core/rbac/agent-rbac.ts';
import { AuditingKubeApi } from '../../fakes/auditing-kube-api.ts';
import { type RbacObject, rightsOf } from '../../fakes/rbac-rules.ts';
import { RegistrationWorld } from './registration-world.ts';

const AVAILABLE = 'ManagedClusterConditionAvailable';
const SECRET = { namespace: 'open-cluster-management-agent', name: 'hub-kubeconfig-secret' };
/** Served where OCM’s optional kind is installed, which the member lacks. */
const NOT_SERVED = ['list clusterproperties', 'watch clusterproperties'];

let world: RegistrationWorld;
afterEach(() => world.close());

function granted(): readonly string[] {
  const { namespace } = SECRET;
  const duties = { clusterName: 'cluster1', namespace, executorCache: false, side: 'managed' } as const;
  const roles = loadAll(renderAgentRbac({ ...duties, registers: { secret: SECRET } })) as RbacObject[];
  const own = roles.filter(({ metadata }) => /-(registration|addons|credentials)$/.test(metadata.name));
  return rightsOf(own.flatMap(({ rules = [] }) => rules));
}

/** An add-on comes, gets its Secret, and goes. */
async function useAddon(): Promise<void> {
  const { hub } = world;
  const member = world.member();
  const metadata = { namespace: 'cluster1', name: 'helloworld' };
  const installed = 'open-cluster-management-agent-addon';
  await member.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: installed } });
  await hub.api.create(MANAGED_CLUSTER_ADDON, {
    apiVersion: 'addon.open-cluster-management.io/v1alpha1',
    kind: 'ManagedClusterAddOn',
    metadata,
    spec: {},
  });
  const registrations = [{ signerName: 'kubernetes.io/kube-apiserver-client' }];
  const status = { status: { registrations } };
  await hub.api.mergePatch(MANAGED_CLUSTER_ADDON, metadata, status, { subresource: 'status' });
  await expect.poll(() => hub.decide('cluster1')).toBe(1);
  const key = { namespace: installed, name: 'helloworld-hub-kubeconfig' };
  await expect.poll(() => member.get(SECRETS, key)).toBeDefined();
  await member.mergePatch(SECRETS, key, { data: { 'cluster-name': 'eA==' } });
  const name = async (): Promise<unknown> =>
    ((await member.get(SECRETS, key))?.['data'] as Readonly<Record<string, string>>)['cluster-name'];
  await expect.poll(name).toBe(Buffer.from('cluster1').toString('base64'));
  await hub.api.delete(MANAGED_CLUSTER_ADDON, metadata);
  await expect.poll(() => member.get(SECRETS, key)).toBeUndefined();
}

it('uses on the managed cluster each right that is printed for registering, and no other', async () => {
  world = await RegistrationWorld.start();
  const member = world.member();
  const { namespace: name } = SECRET;
  await member.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const audited = new AuditingKubeApi(member);
  const probe: typeof member.probe = (path) => member.probe(path);
  world.run({
    cluster: Object.assign(audited, { probe }),
    store: new SecretStore(audited, SECRET),
    startWorks: () => () => Promise.resolve(),
  });
  await expect.poll(() => world.hub.requests('cluster1')).toHaveLength(1);
  await world.hub.decide('cluster1');
  await world.hub.accept('cluster1');
  await expect.poll(() => world.hub.condition('cluster1', AVAILABLE)).toBe('True');
  const manage = (managedNamespaces: readonly object[]) =>
    world.hub.api.mergePatch(
      MANAGED_CLUSTER,
      { namespace: '', name: 'cluster1' },
      { status: { managedNamespaces } },
      { subresource: 'status' },
    );
  await manage([{ name: 'team-a', clusterSet: 'default' }]);
  const team = { namespace: '', name: 'team-a' };
  await expect.poll(() => member.get(NAMESPACE, team)).toBeDefined();
  await manage([]);
  await expect
    .poll(async () => Object.values((await member.get(NAMESPACE, team))?.metadata.labels ?? {}))
    .toContain('false');
  await member.create(CLUSTER_CLAIM, {
    apiVersion: 'cluster.open-cluster-management.io/v1alpha1',
    kind: 'ClusterClaim',
    metadata: { name: 'zone' },
    spec: { value: 'a' },
  });
  await expect
    .poll(async () => (await world.hub.cluster('cluster1'))?.status?.clusterClaims)
    .toEqual([{ name: 'zone', value: 'a' }]);
  await useAddon();
  const expected = [...new Set(granted())].filter((right) => !NOT_SERVED.includes(right));
  expect([...audited.used].sort()).toEqual(expected.sort());
  expect([...audited.refused]).toEqual([]);
});
