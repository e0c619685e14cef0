import { loadAll } from 'js-yaml';
import { afterEach, expect, it } from 'vitest';
import { SecretStore } from '../../../packages/agent/src/registration/credentials/secret-store.ts';
import { CLUSTER_CLAIM, MANAGED_CLUSTER, NAMESPACE } from '@berth/kube/model/kinds';
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
  const own = roles.filter(({ metadata }) => /-(registration|credentials)$/.test(metadata.name));
  return rightsOf(own.flatMap(({ rules = [] }) => rules));
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
  const expected = [...new Set(granted())].filter((right) => !NOT_SERVED.includes(right));
  expect([...audited.used].sort()).toEqual(expected.sort());
  expect([...audited.refused]).toEqual([]);
});
