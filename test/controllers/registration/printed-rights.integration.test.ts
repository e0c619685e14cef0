import { loadAll } from 'js-yaml';
import { afterEach, expect, it } from 'vitest';
import {
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  NAMESPACE,
} from '@berth/kube/model/kinds';
import { compileAutoAcceptance } from '../../../src/core/registration/acceptance/auto-acceptance.ts';
import { DUTIES } from '../../../src/core/registration/duties.ts';
import { renderControllerRbac } from '../../../src/core/rbac/controller-rbac.ts';
import type { Condition } from '@berth/kube/model/object-meta';
import { restrictedClient } from '../../app/serve/restricted-controller.ts';
import { rightsOf } from '../../fakes/rbac-rules.ts';
import { freshKey, RegistrationWorld } from './registration-world.ts';

let world: RegistrationWorld;
afterEach(() => world.close());

const printed = {
  applies: false,
  schedule: 'upstream',
  works: false,
  embedded: true,
  registration: { duties: DUTIES },
  secrets: [],
} as const;

async function conditionOf(namespace: string): Promise<Condition | undefined> {
  const [kind, name] =
    namespace === '' ? [MANAGED_CLUSTER_SET, 'default'] : [MANAGED_CLUSTER_SET_BINDING, 'default'];
  const status = (await world.get(kind, name, namespace))?.['status'] as
    | { conditions?: Condition[] }
    | undefined;
  return status?.conditions?.[0];
}

it('does everything with the printed rights', async () => {
  world = await RegistrationWorld.create({ duties: [] });
  const { api } = await restrictedClient({ hub: world.hub, dataDir: '' }, printed);
  await world.stop();
  world.start({ api, autoAcceptance: compileAutoAcceptance([], ["managedCluster.metadata.name == 'c1'"]) });
  await world.register('c1');
  await world.request('c1', freshKey());
  await expect
    .poll(() => world.conditions('c1'))
    .toContain('HubAcceptedManagedCluster=True/HubClusterAdminAccepted');
  await world.accepted('c2');
  const agent = await world.agentOf('c2');
  const renewal = await world.request('c2', freshKey(), agent);
  await expect.poll(() => world.certificate(renewal)).toBeDefined();
  await expect.poll(() => world.taints('c2')).toHaveLength(1);
  await world.make(NAMESPACE, { metadata: { name: 'team' } });
  await world.make(MANAGED_CLUSTER_SET_BINDING, {
    metadata: { name: 'default', namespace: 'team' },
    spec: { clusterSet: 'default' },
  });
  await expect.poll(() => conditionOf('team')).toMatchObject({ type: 'Bound', status: 'True' });
  await expect.poll(() => conditionOf('')).toMatchObject({ type: 'ClusterSetEmpty' });
  await world.work('c2', 'w');
  await world.accept('c2', false);
  await expect
    .poll(() => world.conditions('c2'))
    .toContain('HubAcceptedManagedCluster=False/HubClusterAdminDenied');
  for (const name of ['c1', 'c2']) {
    await world.api.delete(MANAGED_CLUSTER, { namespace: '', name });
    await expect.poll(() => world.get(MANAGED_CLUSTER, name)).toBeUndefined();
  }
  expect([...api.refused]).toEqual([]);
  expect(world.warnings()).toEqual([]);
});

it('has no right for everything', () => {
  const roles = loadAll(renderControllerRbac(printed)) as RoleObject[];
  const role = roles.find(
    ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'berth-registration',
  );
  const rights = rightsOf(role?.rules ?? []);
  expect(rights.filter((right) => right.includes('*'))).toEqual([]);
  expect(rights.filter((right) => /^(escalate|bind|impersonate) /.test(right))).toEqual([]);
});

interface RoleObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules?: Parameters<typeof rightsOf>[0];
}
