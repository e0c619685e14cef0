import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock } from '@berth/test-kit/fake-clock';
import type { TestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import type { LooseJson } from '../../../packages/embedded-hub/test/loose-json.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub();
});
afterAll(() => hub.stop());

let count = 0;
async function namespace(): Promise<string> {
  count += 1;
  const name = `ns-${String(count)}`;
  await hub.call('POST', '/api/v1/namespaces', {
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
  });
  return name;
}

const configMaps = (ns: string) => `/api/v1/namespaces/${ns}/configmaps`;
async function create(ns: string, name: string, metadata: object = {}): Promise<LooseJson> {
  const reply = await hub.call('POST', configMaps(ns), {
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata } },
  });
  expect(reply.status).toBe(201);
  return reply.body;
}
const ownedBy = (owner: LooseJson, more: object = {}) => ({
  ownerReferences: [
    { apiVersion: 'v1', kind: 'ConfigMap', name: owner.metadata.name, uid: owner.metadata.uid, ...more },
  ],
});
const status = async (path: string) => (await hub.call('GET', path)).status;
const remove = (ns: string, name: string, propagationPolicy: string) =>
  hub.call('DELETE', `${configMaps(ns)}/${name}`, {
    body: { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy },
  });

describe('namespaces', () => {
  it('have a default account and the root certificate, and get them back', async () => {
    const ns = await namespace();
    const account = `/api/v1/namespaces/${ns}/serviceaccounts/default`;
    await expect.poll(() => status(account)).toBe(200);
    await expect
      .poll(async () => (await hub.call('GET', `${configMaps(ns)}/kube-root-ca.crt`)).body.data?.['ca.crt'])
      .toBe(hub.hub.caPem);
    await hub.call('DELETE', account);
    await expect.poll(() => status(account)).toBe(200);
  });

  it('are emptied before they go, and take no new objects meanwhile', async () => {
    const ns = await namespace();
    await create(ns, 'plain');
    const held = await create(ns, 'held', { finalizers: ['example.com/hold'] });
    const deleted = await hub.call('DELETE', `/api/v1/namespaces/${ns}`);
    expect(deleted.body).toMatchObject({ kind: 'Namespace', status: { phase: 'Terminating' } });
    await expect.poll(() => status(`${configMaps(ns)}/plain`)).toBe(404);
    const refused = await hub.call('POST', configMaps(ns), {
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'late' } },
    });
    expect(refused).toMatchObject({
      status: 403,
      body: { details: { causes: [{ reason: 'NamespaceTerminating' }] } },
    });
    expect(await status(`/api/v1/namespaces/${ns}`)).toBe(200);
    const path = `${configMaps(ns)}/${held.metadata.name as string}`;
    await hub.call('PATCH', path, {
      type: 'application/merge-patch+json',
      body: { metadata: { finalizers: null } },
    });
    await expect.poll(() => status(`/api/v1/namespaces/${ns}`)).toBe(404);
  });
});

describe('owners', () => {
  it('background: the owner goes at once, its dependents after it, down the chain', async () => {
    const ns = await namespace();
    const owner = await create(ns, 'owner');
    const child = await create(ns, 'child', ownedBy(owner));
    await create(ns, 'grandchild', ownedBy(child));
    expect((await remove(ns, 'owner', 'Background')).body.status).toBe('Success');
    for (const name of ['child', 'grandchild'])
      await expect.poll(() => status(`${configMaps(ns)}/${name}`)).toBe(404);
  });

  it('foreground: the owner waits for the dependents that block it', async () => {
    const ns = await namespace();
    const owner = await create(ns, 'owner');
    await create(ns, 'child', {
      ...ownedBy(owner, { blockOwnerDeletion: true }),
      finalizers: ['example.com/hold'],
    });
    const reply = await remove(ns, 'owner', 'Foreground');
    expect(reply.body.metadata).toMatchObject({
      finalizers: ['foregroundDeletion'],
      deletionTimestamp: expect.any(String),
    });
    await expect
      .poll(async () => (await hub.call('GET', `${configMaps(ns)}/child`)).body.metadata.deletionTimestamp)
      .toBeDefined();
    expect(await status(`${configMaps(ns)}/owner`)).toBe(200);
    const hold = (await hub.call('GET', `${configMaps(ns)}/child`)).body.metadata.finalizers.filter(
      (name: string) => name !== 'example.com/hold',
    );
    await hub.call('PATCH', `${configMaps(ns)}/child`, {
      type: 'application/merge-patch+json',
      body: { metadata: { finalizers: hold } },
    });
    for (const name of ['child', 'owner'])
      await expect.poll(() => status(`${configMaps(ns)}/${name}`)).toBe(404);
  });

  it('orphan: the dependents stay and forget their owner', async () => {
    const ns = await namespace();
    const owner = await create(ns, 'owner');
    await create(ns, 'child', ownedBy(owner));
    await remove(ns, 'owner', 'Orphan');
    await expect.poll(() => status(`${configMaps(ns)}/owner`)).toBe(404);
    const child = await hub.call('GET', `${configMaps(ns)}/child`);
    expect(child.body.metadata).not.toHaveProperty('ownerReferences');
  });

  it('one of two owners gone: the dependent stays with the other', async () => {
    const ns = await namespace();
    const [one, two] = [await create(ns, 'one'), await create(ns, 'two')];
    const references = [...ownedBy(one).ownerReferences, ...ownedBy(two).ownerReferences];
    await create(ns, 'child', { ownerReferences: references });
    await remove(ns, 'one', 'Background');
    await expect
      .poll(
        async () => (await hub.call('GET', `${configMaps(ns)}/child`)).body.metadata.ownerReferences?.length,
      )
      .toBe(1);
  });

  it('an owner that never was, or lives in another namespace, holds nothing', async () => {
    const ns = await namespace();
    const elsewhere = await create('default', `owner-of-${ns}`);
    await create(ns, 'stray', {
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'never' }],
    });
    await create(ns, 'foreign', ownedBy(elsewhere));
    for (const name of ['stray', 'foreign'])
      await expect.poll(() => status(`${configMaps(ns)}/${name}`)).toBe(404);
  });

  it('of custom resources count as well', async () => {
    const crd = customResource('gadgets');
    await hub.call('POST', CRDS, { body: crd });
    const gadgets = '/apis/example.com/v1/namespaces/default/gadgets';
    const owner = (
      await hub.call('POST', gadgets, {
        body: { apiVersion: 'example.com/v1', kind: 'Gadgets', metadata: { name: 'g' } },
      })
    ).body;
    const reference = { apiVersion: 'example.com/v1', kind: 'Gadgets', name: 'g', uid: owner.metadata.uid };
    await create('default', 'of-gadget', { ownerReferences: [reference] });
    await expect
      .poll(async () => {
        await hub.call('DELETE', `${gadgets}/g`);
        return status(`${configMaps('default')}/of-gadget`);
      })
      .toBe(404);
  });
});

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const customResource = (plural: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural, singular: plural, kind: plural[0]?.toUpperCase() + plural.slice(1) },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

describe('custom resource definitions', () => {
  it('are served at once, survive a restart, and take their objects with them', async () => {
    const made = await hub.call('POST', CRDS, { body: customResource('things') });
    expect(made.status).toBe(201);
    expect(
      made.body.status.conditions.map((condition: LooseJson) => [condition.type, condition.status]),
    ).toEqual(
      expect.arrayContaining([
        ['NamesAccepted', 'True'],
        ['Established', 'True'],
      ]),
    );
    const things = '/apis/example.com/v1/namespaces/default/things';
    const thing = {
      apiVersion: 'example.com/v1',
      kind: 'Things',
      metadata: { name: 'one', finalizers: ['example.com/hold'] },
    };
    expect((await hub.call('POST', things, { body: thing })).status).toBe(201);
    await hub.restart();
    expect(await status(`${things}/one`)).toBe(200);
    const deleted = await hub.call('DELETE', `${CRDS}/things.example.com`);
    expect(deleted.body.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io']);
    await expect
      .poll(async () => (await hub.call('GET', `${things}/one`)).body.metadata.deletionTimestamp)
      .toBeDefined();
    await hub.call('PATCH', `${things}/one`, {
      type: 'application/merge-patch+json',
      body: { metadata: { finalizers: null } },
    });
    await expect.poll(() => status(`${CRDS}/things.example.com`)).toBe(404);
    expect(await status(things)).toBe(404);
  });

  it('that cannot be served are refused with a reason, and nothing changes', async () => {
    const bad = customResource('broken');
    const reply = await hub.call('POST', CRDS, { body: { ...bad, spec: { ...bad.spec, versions: [] } } });
    expect(reply.status).toBe(422);
    expect(await status(`${CRDS}/broken.example.com`)).toBe(404);
  });
});

describe('events', () => {
  it('are gone an hour after they were last seen', async () => {
    const clock = new FakeClock();
    const timed = await startTestHub({ clock });
    const event = (name: string, lastTimestamp: string) => ({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name },
      involvedObject: { kind: 'ConfigMap', name: 'x', namespace: 'default' },
      lastTimestamp,
    });
    const at = (offsetMs: number) => new Date(clock.now() + offsetMs).toISOString().replace(/\.\d+/, '');
    const path = '/api/v1/namespaces/default/events';
    await timed.call('POST', path, { body: event('old', at(0)) });
    await timed.call('POST', path, { body: event('seen-again', at(1_800_000)) });
    await clock.advance(3_700_000);
    await expect.poll(async () => (await timed.call('GET', `${path}/old`)).status).toBe(404);
    expect((await timed.call('GET', `${path}/seen-again`)).status).toBe(200);
    const other = await timed.call('GET', '/apis/events.k8s.io/v1/namespaces/default/events/seen-again');
    expect(other.body).toMatchObject({ apiVersion: 'events.k8s.io/v1', regarding: { name: 'x' } });
    await timed.stop();
  });
});

describe('a clock that jumps', () => {
  it('back or forth: versions go on, watches and writes work', async () => {
    const clock = new FakeClock(Date.parse('2026-06-01T00:00:00Z'));
    const jumping = await startTestHub({ clock });
    const path = '/api/v1/namespaces/default/configmaps';
    const rv: number[] = [];
    for (const jumpMs of [0, -86_400_000, 400 * 86_400_000, -500 * 86_400_000]) {
      clock.jump(jumpMs);
      const reply = await jumping.call('POST', path, {
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'x-' } },
      });
      expect(reply.status).toBe(201);
      rv.push(Number(reply.body.metadata.resourceVersion));
    }
    expect(rv).toEqual([...rv].sort((a, b) => a - b));
    await jumping.restart();
    expect(Number((await jumping.call('GET', path)).body.metadata.resourceVersion)).toBeGreaterThanOrEqual(
      rv.at(-1) ?? 0,
    );
    await jumping.stop();
  });
});
