import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Agent } from '@berth/agent/start-agent';
import type { KubeApi } from '@berth/kube/model/kube-api';
import {
  CONFIG_MAP,
  configMap,
  NAMESPACE,
  object,
  ROLE,
  ROLE_BINDING,
  ScenarioHarness,
  SERVICE_ACCOUNT,
  until,
  workOf,
} from './scenario-harness.ts';

// What OCM's own tests check with its executor caches switched on.

let harness: ScenarioHarness;
let agent: Agent;
let reviews = 0;

beforeAll(async () => {
  harness = await ScenarioHarness.start();
  await harness.hub.create(NAMESPACE, object(NAMESPACE, 'cluster1'));
  agent = await harness.agent({ executorCache: true, cluster: countingReviews(harness.cluster) });
});

afterAll(async () => {
  await agent?.close();
  await harness?.close();
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

/**
 * Changes nothing but asks for another pass.
 * @returns the reviews that it took
 */
async function reviewsOfAnotherPass(names: readonly string[]): Promise<number> {
  touches += 1;
  const before = reviews;
  const spec = { ...workOf(...names.map((name) => configMap(name))), ...executor };
  await harness.applyWork('cached', spec, { labels: { touch: String(touches) } });
  await until(
    async () => (await harness.applied('cached'))[0]?.metadata.labels?.['touch'],
    (touch) => touch === String(touches),
  );
  await until(
    () => harness.verdict('cached'),
    (verdict) => verdict !== 'old',
  );
  return reviews - before;
}

async function bind(): Promise<void> {
  await harness.create(
    ROLE_BINDING,
    object(ROLE_BINDING, 'cached', {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'cached' },
      subjects: [{ kind: 'ServiceAccount', name: 'cached', namespace: 'default' }],
    }),
  );
}

it('asks once until rights change; a revocation blocks what is new and leaves what stands', async () => {
  const verbs = ['create', 'update', 'patch', 'get', 'delete'];
  await harness.create(SERVICE_ACCOUNT, object(SERVICE_ACCOUNT, 'cached'));
  await harness.create(
    ROLE,
    object(ROLE, 'cached', { rules: [{ apiGroups: [''], resources: ['configmaps'], verbs }] }),
  );
  // The first pass starts the watches; a few more until they are up and two objects are known: five verbs each.
  await until(
    () => reviewsOfAnotherPass(['ca', 'cb']),
    (count) => count === 0,
  );
  expect(await harness.get(CONFIG_MAP, 'ca')).toBeUndefined();
  expect(await harness.verdict('cached')).toBe('False/Unknown');

  await bind();
  await until(
    async () => (await reviewsOfAnotherPass(['ca', 'cb']), harness.verdict('cached')),
    (verdict) => verdict === 'True/True',
  );
  expect(await reviewsOfAnotherPass(['ca', 'cb'])).toBe(0);
  expect(await reviewsOfAnotherPass(['ca', 'cb', 'cc'])).toBe(verbs.length);
  expect(await harness.get(CONFIG_MAP, 'cc')).toBeDefined();

  await harness.cluster.delete(ROLE_BINDING, { namespace: 'default', name: 'cached' });
  await until(
    async () => (await reviewsOfAnotherPass(['ca', 'cb', 'cc', 'cd']), harness.verdict('cached', 3)),
    (verdict) => verdict === 'False/Unknown',
  );
  expect(await harness.get(CONFIG_MAP, 'cd')).toBeUndefined();
  expect(await harness.get(CONFIG_MAP, 'ca')).toBeDefined();
});
