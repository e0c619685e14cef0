import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { as, grant } from './role-of.ts';

const CONFIGS = '/api/v1/namespaces/team/configmaps';
const MERGE = 'application/merge-patch+json';
const APPLY = 'application/apply-patch+yaml';

let hub: TestHub;
let owner: Reference;
let clusterOwner: Reference;

interface Reference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

beforeAll(async () => {
  hub = await startTestHub();
  await hub.call('POST', '/api/v1/namespaces', {
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } },
  });
  owner = await made('v1', 'Secret', '/api/v1/namespaces/team/secrets');
  clusterOwner = await made('v1', 'Namespace', '/api/v1/namespaces');
  const configs = { apiGroups: [''], resources: ['configmaps'] };
  const user = (name: string) => ({ kind: 'User', name }) as const;
  const here = { namespace: 'team' };
  await grant(hub, user('writer'), here, [{ ...configs, verbs: ['create', 'patch', 'update'] }]);
  for (const name of ['deleter', 'finalizer', 'lord'])
    await grant(hub, user(name), here, [{ ...configs, verbs: ['create', 'patch', 'update', 'delete'] }]);
  const finalizers = { apiGroups: [''], resources: ['secrets/finalizers'], verbs: ['update'] };
  await grant(hub, user('finalizer'), here, [{ ...finalizers, resourceNames: ['owner'] }]);
  await grant(hub, user('lord'), { namespace: '' }, [
    { apiGroups: ['*'], resources: ['*/finalizers'], verbs: ['update'] },
  ]);
});
afterAll(() => hub.stop());

async function made(apiVersion: string, kind: string, path: string): Promise<Reference> {
  const reply = await hub.call('POST', path, { body: { apiVersion, kind, metadata: { name: 'owner' } } });
  return { apiVersion, kind, name: 'owner', uid: reply.body.metadata.uid as string };
}

let count = 0;
const freshName = (): string => `c${String((count += 1))}`;
const config = (name: string, ownerReferences?: object[]) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(ownerReferences !== undefined && { ownerReferences }) },
});
const create = (user: string, ownerReferences: object[]) =>
  hub.call('POST', CONFIGS, { headers: as(user), body: config(freshName(), ownerReferences) });
/** By each way of changing an object; the answers must agree. */
async function change(user: string, name: string, ownerReferences: object[]): Promise<string[]> {
  const headers = as(user);
  const path = `${CONFIGS}/${name}?dryRun=All&fieldManager=test`;
  const replies = [
    await hub.call('PATCH', path, { headers, type: MERGE, body: { metadata: { ownerReferences } } }),
    await hub.call('PUT', path, { headers, body: config(name, ownerReferences) }),
    await hub.call('PATCH', `${path}&force=true`, {
      headers,
      type: APPLY,
      body: config(name, ownerReferences),
    }),
    await hub.call('PATCH', path, {
      headers,
      type: 'application/strategic-merge-patch+json',
      body: { metadata: { ownerReferences: [{ $patch: 'replace' }, ...ownerReferences] } },
    }),
  ];
  return [
    ...new Set(replies.map(({ status, body }) => (status === 200 ? 'done' : (body.message as string)))),
  ];
}

describe('an object that holds up the deletion of its owner', () => {
  it('is not made by who may not set finalizers on the owner', async () => {
    const reply = await create('deleter', [{ ...owner, blockOwnerDeletion: true }]);
    expect(reply.status).toBe(403);
    expect(reply.body.message).toMatch(
      /^configmaps "c\d+" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>$/,
    );
  });

  it.each(['finalizer', 'lord'])('is made by who may: %s', async (user) => {
    expect((await create(user, [{ ...owner, blockOwnerDeletion: true }])).status).toBe(201);
  });

  it('is made by nobody for another owner than the one in the grant', async () => {
    const other = { ...owner, name: 'other' };
    expect((await create('finalizer', [{ ...other, blockOwnerDeletion: true }])).status).toBe(403);
  });

  it('is not made for an owner without a namespace by a right inside one', async () => {
    expect((await create('finalizer', [{ ...clusterOwner, blockOwnerDeletion: true }])).status).toBe(403);
    expect((await create('lord', [{ ...clusterOwner, blockOwnerDeletion: true }])).status).toBe(201);
  });

  it('is not made for a kind that is not served', async () => {
    const unknown = { ...owner, apiVersion: 'example.com/v1', kind: 'Nothing', blockOwnerDeletion: true };
    const reply = await create('deleter', [unknown]);
    expect(reply.body.message).toContain(
      'cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion example.com/v1 Kind Nothing',
    );
  });

  it('is not made of one that did not, by any way of writing', async () => {
    const name = freshName();
    await hub.call('POST', CONFIGS, { body: config(name, [owner]) });
    const wanted = [{ ...owner, blockOwnerDeletion: true }];
    expect(await change('deleter', name, wanted)).toEqual([
      `configmaps "${name}" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>`,
    ]);
    expect(await change('finalizer', name, wanted)).toEqual(['done']);
  });

  it('is not made by server-side apply of an object that is not there', async () => {
    const name = freshName();
    const reply = await hub.call('PATCH', `${CONFIGS}/${name}?fieldManager=test`, {
      headers: as('deleter'),
      type: APPLY,
      body: config(name, [{ ...owner, blockOwnerDeletion: true }]),
    });
    expect(reply.status).toBe(403);
  });

  it('may be changed otherwise, and may stop holding it up', async () => {
    const name = freshName();
    await hub.call('POST', CONFIGS, { body: config(name, [{ ...owner, blockOwnerDeletion: true }]) });
    const patch = await hub.call('PATCH', `${CONFIGS}/${name}`, {
      headers: as('writer'),
      type: MERGE,
      body: { data: { a: 'b' } },
    });
    expect(patch.status).toBe(200);
    expect(await change('deleter', name, [owner])).toEqual(['done']);
  });
});

describe('an object that goes with an owner', () => {
  it('is made by who may make it', async () => {
    expect((await create('writer', [owner])).status).toBe(201);
  });

  it('is not made of one that somebody may change but not delete: its owner goes, and so does it', async () => {
    const name = freshName();
    await hub.call('POST', CONFIGS, { body: config(name) });
    expect(await change('writer', name, [owner])).toEqual([
      `configmaps "${name}" is forbidden: cannot set an ownerRef on a resource you can't delete: , <nil>`,
    ]);
    expect(await change('deleter', name, [owner])).toEqual(['done']);
  });

  it('is not given another owner either, nor none', async () => {
    const name = freshName();
    await hub.call('POST', CONFIGS, { body: config(name, [owner]) });
    const why = `configmaps "${name}" is forbidden: cannot set an ownerRef on a resource you can't delete: , <nil>`;
    const merged = await hub.call('PATCH', `${CONFIGS}/${name}`, {
      headers: as('writer'),
      type: MERGE,
      body: { metadata: { ownerReferences: null } },
    });
    expect(merged.body.message).toBe(why);
    expect(await change('writer', name, [clusterOwner])).toEqual([why]);
  });
});
