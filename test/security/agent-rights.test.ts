import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LooseJson } from '../../packages/embedded-hub/test/loose-json.ts';
import type { Call, TestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { OCM_HUB } from '../fakes/embedded-hub.ts';
import { as, grant } from './role-of.ts';

const WORKS = '/apis/work.open-cluster-management.io/v1/namespaces/east/manifestworks';
const MERGE = 'application/merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const APPLY = 'application/apply-patch+yaml';
const FINALIZER = 'cluster.open-cluster-management.io/manifest-work-cleanup';
/** As OCM's registration names them. */
const AGENT = as(
  'system:open-cluster-management:east:agent-1',
  'system:open-cluster-management:east',
  'system:open-cluster-management:managed-clusters',
);

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub({ admission: OCM_HUB.admission });
  await hub.call('POST', '/api/v1/namespaces', {
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'east' } },
  });
  // All that RBAC can say, and more: what is tested is what remains forbidden.
  const everything = [{ apiGroups: ['work.open-cluster-management.io'], resources: ['*'], verbs: ['*'] }];
  for (const name of ['system:open-cluster-management:east', 'people'])
    await grant(hub, { kind: 'Group', name }, { namespace: 'east' }, everything);
  await grant(
    hub,
    { kind: 'User', name: 'system:open-cluster-management:east:agent-2' },
    { namespace: 'east' },
    everything,
  );
});
afterAll(() => hub.stop());

let name = '';
let count = 0;
beforeEach(async () => {
  count += 1;
  name = `work-${String(count)}`;
  expect((await hub.call('POST', WORKS, { body: work() })).status).toBe(201);
});

const work = (over: object = {}) => ({
  apiVersion: 'work.open-cluster-management.io/v1',
  kind: 'ManifestWork',
  metadata: { name, labels: { a: 'b' }, ...over },
  spec: { workload: { manifests: [configMap('from-the-hub')] } },
});
const configMap = (of: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: of, namespace: 'default' },
});
const asAgent = (method: string, path: string, options: Call = {}) =>
  hub.call(method, path, { headers: AGENT, ...options });
const patch = (body: unknown, type = MERGE) => asAgent('PATCH', `${WORKS}/${name}`, { type, body });
const live = async (): Promise<LooseJson> => (await hub.call('GET', `${WORKS}/${name}`)).body;

describe('an agent whose key was stolen', () => {
  const evil = { workload: { manifests: [configMap('evil')] } };

  it.each([
    ['a merge patch', () => patch({ spec: evil })],
    [
      'a JSON patch',
      () =>
        patch(
          [{ op: 'replace', path: '/spec/workload/manifests/0/metadata/name', value: 'evil' }],
          JSON_PATCH,
        ),
    ],
    ['a merge patch beside a finalizer', () => patch({ metadata: { finalizers: [FINALIZER] }, spec: evil })],
    [
      'server-side apply',
      () =>
        asAgent('PATCH', `${WORKS}/${name}?fieldManager=agent&force=true`, {
          type: APPLY,
          body: { ...work(), spec: evil },
        }),
    ],
    [
      'an update',
      async () => asAgent('PUT', `${WORKS}/${name}`, { body: { ...(await live()), spec: evil } }),
    ],
    [
      'an executor taken away',
      () => patch({ spec: { executor: null, deleteOption: { propagationPolicy: 'Orphan' } } }),
    ],
    ['a label', () => patch({ metadata: { labels: { a: 'c' } } })],
    ['an annotation', () => patch({ metadata: { annotations: { a: 'c' } } })],
    ['an owner', async () => patch({ metadata: { ownerReferences: [ownerOf(await live())] } })],
  ])('cannot change a work but its finalizers: %s', async (_how, attempt) => {
    const before = await live();
    const reply = await attempt();
    expect({ status: reply.status, reason: reply.body.reason }).toEqual({ status: 403, reason: 'Forbidden' });
    expect(reply.body.message).toContain('is the agent of a cluster');
    expect(await live()).toEqual(before);
  });

  it('cannot make a work, by POST or by apply', async () => {
    const body = { ...work(), metadata: { name: 'own' } };
    const byApply = await asAgent('PATCH', `${WORKS}/own?fieldManager=agent`, { type: APPLY, body });
    expect([(await asAgent('POST', WORKS, { body })).status, byApply.status]).toEqual([403, 403]);
    expect((await hub.call('GET', `${WORKS}/own`)).status).toBe(404);
  });

  it('cannot delete works, one or all', async () => {
    expect((await asAgent('DELETE', `${WORKS}/${name}`)).status).toBe(403);
    expect((await asAgent('DELETE', WORKS)).status).toBe(403);
    expect((await live()).metadata.deletionTimestamp).toBeUndefined();
  });

  it('cannot change the spec through the status', async () => {
    const path = `${WORKS}/${name}/status`;
    const status = { conditions: [condition('Applied')] };
    const reply = await asAgent('PATCH', path, { type: MERGE, body: { spec: evil, status } });
    expect(reply.status).toBe(200);
    expect((await live()).spec).toEqual(work().spec);
  });

  it.each([
    ['its name alone', as('system:open-cluster-management:east:agent-2')],
    ['the group of its cluster alone', as('robot', 'system:open-cluster-management:east')],
    ['a group of people beside it', as('robot', 'people', 'system:open-cluster-management:managed-clusters')],
    ['the group of other registration drivers', as('robot', 'people', 'open-cluster-management:east')],
  ])('is known by %s', async (_how, headers) => {
    const reply = await hub.call('PATCH', `${WORKS}/${name}`, { headers, type: MERGE, body: { spec: evil } });
    expect(reply.body.message).toContain('is the agent of a cluster');
  });
});

describe('what an agent needs', () => {
  it('is done as OCM’s agent does it: a merge patch of finalizers with uid and resourceVersion', async () => {
    const { uid, resourceVersion } = (await live()).metadata;
    const add = await patch({ metadata: { uid, resourceVersion, finalizers: [FINALIZER] } });
    expect([add.status, (await live()).metadata.finalizers]).toEqual([200, [FINALIZER]]);
    await hub.call('DELETE', `${WORKS}/${name}`);
    const left = await live();
    const remove = await patch({
      metadata: { uid, resourceVersion: left.metadata.resourceVersion, finalizers: [] },
    });
    expect([remove.status, (await hub.call('GET', `${WORKS}/${name}`)).status]).toEqual([200, 404]);
  });

  it('is done by updates too', async () => {
    const body = await live();
    body.metadata.finalizers = [FINALIZER];
    expect((await asAgent('PUT', `${WORKS}/${name}`, { body })).status).toBe(200);
    expect((await live()).metadata.finalizers).toEqual([FINALIZER]);
  });

  it('is to report', async () => {
    const status = { conditions: [condition('Applied')] };
    const reply = await asAgent('PATCH', `${WORKS}/${name}/status`, { type: MERGE, body: { status } });
    expect(reply.status).toBe(200);
  });
});

describe('who is not the agent of a cluster', () => {
  it.each([
    ['a person', as('alice', 'people')],
    [
      'an add-on with rights of its own',
      as(
        'system:open-cluster-management:cluster:east:addon:x:agent:y',
        'people',
        'system:open-cluster-management:addon:x',
      ),
    ],
  ])('may change works as RBAC says: %s', async (_who, headers) => {
    const reply = await hub.call('PATCH', `${WORKS}/${name}`, {
      headers,
      type: MERGE,
      body: { spec: { workload: { manifests: [configMap('other')] } } },
    });
    expect(reply.status).toBe(200);
    expect((await hub.call('DELETE', `${WORKS}/${name}`, { headers })).status).toBe(200);
  });
});

function condition(type: string): object {
  return { type, status: 'True', reason: 'R', message: 'm', lastTransitionTime: '2026-01-01T00:00:00Z' };
}

function ownerOf({ apiVersion, kind, metadata: { name: of, uid } }: LooseJson): object {
  return { apiVersion, kind, name: of, uid };
}
