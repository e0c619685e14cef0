import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Agent } from '../../../src/agent/start-agent.ts';
import type { KubeApi } from '../../../src/core/ports.ts';
import {
  CONFIG_MAP,
  configMap,
  NAMESPACE,
  object,
  ROLE,
  ROLE_BINDING,
  ScenarioWorld,
  SERVICE_ACCOUNT,
  until,
  workOf,
} from './scenario-world.ts';

// What OCM's own tests check with its executor caches switched on.

let world: ScenarioWorld;
let agent: Agent;
let reviews = 0;

beforeAll(async () => {
  world = await ScenarioWorld.start();
  await world.hub.create(NAMESPACE, object(NAMESPACE, 'cluster1'));
  agent = await world.agent({ executorCache: true, cluster: countingReviews(world.cluster) });
});

afterAll(async () => {
  await agent?.close();
  await world?.close();
});

function countingReviews(api: KubeApi): KubeApi {
  const create: KubeApi['create'] = (kind, ...rest) => {
    if (kind.kind === 'SubjectAccessReview') reviews += 1;
    return api.create(kind, ...rest);
  };
  return new Proxy(api, {
    get: (target, name) => {
      if (name === 'create') return create;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

const executor = {
  executor: {
    subject: { type: 'ServiceAccount', serviceAccount: { namespace: 'default', name: 'cached' } },
  },
};

let touches = 0;

/** Changes nothing but asks for another pass. @returns the reviews that it took */
async function reviewsOfAnotherPass(names: readonly string[]): Promise<number> {
  touches += 1;
  const before = reviews;
  const spec = { ...workOf(...names.map((name) => configMap(name))), ...executor };
  await world.applyWork('cached', spec, { labels: { touch: String(touches) } });
  await until(
    async () => (await world.applied('cached'))[0]?.metadata.labels?.['touch'],
    (touch) => touch === String(touches),
  );
  await until(
    () => world.verdict('cached'),
    (verdict) => verdict !== 'old',
  );
  return reviews - before;
}

async function bind(): Promise<void> {
  await world.create(
    ROLE_BINDING,
    object(ROLE_BINDING, 'cached', {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'cached' },
      subjects: [{ kind: 'ServiceAccount', name: 'cached', namespace: 'default' }],
    }),
  );
}

it('asks once until rights change; a revocation blocks what is new and leaves what stands', async () => {
  const verbs = ['create', 'update', 'patch', 'get', 'delete'];
  await world.create(SERVICE_ACCOUNT, object(SERVICE_ACCOUNT, 'cached'));
  await world.create(
    ROLE,
    object(ROLE, 'cached', { rules: [{ apiGroups: [''], resources: ['configmaps'], verbs }] }),
  );
  // The first pass starts the watches; a few more until they are up and two objects are known: five verbs each.
  await until(
    () => reviewsOfAnotherPass(['ca', 'cb']),
    (count) => count === 0,
  );
  expect(await world.get(CONFIG_MAP, 'ca')).toBeUndefined();
  expect(await world.verdict('cached')).toBe('False/Unknown');

  await bind();
  await until(
    async () => (await reviewsOfAnotherPass(['ca', 'cb']), world.verdict('cached')),
    (verdict) => verdict === 'True/True',
  );
  expect(await reviewsOfAnotherPass(['ca', 'cb'])).toBe(0);
  expect(await reviewsOfAnotherPass(['ca', 'cb', 'cc'])).toBe(verbs.length);
  expect(await world.get(CONFIG_MAP, 'cc')).toBeDefined();

  await world.cluster.delete(ROLE_BINDING, { namespace: 'default', name: 'cached' });
  await until(
    async () => (await reviewsOfAnotherPass(['ca', 'cb', 'cc', 'cd']), world.verdict('cached', 3)),
    (verdict) => verdict === 'False/Unknown',
  );
  expect(await world.get(CONFIG_MAP, 'cd')).toBeUndefined();
  expect(await world.get(CONFIG_MAP, 'ca')).toBeDefined();
});
