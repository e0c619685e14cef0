import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestHub } from './hub-harness.ts';
import { startTestHub } from './hub-harness.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub();
});
afterAll(() => hub.stop());

const configMap = (name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels },
  data,
});

describe('objects', () => {
  it('creates, reads, updates, patches and deletes', async () => {
    const created = await hub.call('POST', '/api/v1/namespaces/default/configmaps', {
      body: configMap('a', { x: '1' }),
    });
    expect(created.status).toBe(201);
    expect(created.body.metadata).toMatchObject({ name: 'a', namespace: 'default', uid: expect.any(String) });
    const path = '/api/v1/namespaces/default/configmaps/a';
    const read = await hub.call('GET', path);
    expect(read.body).toEqual(created.body);
    const patched = await hub.call('PATCH', path, {
      type: 'application/merge-patch+json',
      body: { data: { y: '2' } },
    });
    expect(patched.body.data).toEqual({ x: '1', y: '2' });
    expect(Number(patched.body.metadata.resourceVersion)).toBeGreaterThan(
      Number(created.body.metadata.resourceVersion),
    );
    const stale = await hub.call('PUT', path, { body: created.body });
    expect(stale.status).toBe(409);
    const deleted = await hub.call('DELETE', path);
    expect(deleted.body).toMatchObject({
      kind: 'Status',
      status: 'Success',
      details: { name: 'a', kind: 'configmaps' },
    });
    expect((await hub.call('GET', path)).status).toBe(404);
  });

  it('leaves the version alone when nothing changes', async () => {
    const created = await hub.call('POST', '/api/v1/namespaces/default/configmaps', {
      body: configMap('same', { x: '1' }),
    });
    const path = '/api/v1/namespaces/default/configmaps/same';
    const patched = await hub.call('PATCH', path, {
      type: 'application/merge-patch+json',
      body: { data: { x: '1' } },
    });
    expect(patched.body.metadata.resourceVersion).toBe(created.body.metadata.resourceVersion);
  });

  it('answers a missing namespace with 404', async () => {
    const reply = await hub.call('POST', '/api/v1/namespaces/nope/configmaps', { body: configMap('a') });
    expect(reply.status).toBe(404);
    expect(reply.body.message).toBe('namespaces "nope" not found');
  });
});

describe('watch', () => {
  it('streams state, then changes, then the end of its time', async () => {
    await hub.call('POST', '/api/v1/namespaces', {
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'w' } },
    });
    await hub.call('POST', '/api/v1/namespaces/w/secrets', {
      body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'one' } },
    });
    const watch = await hub.watch('/api/v1/namespaces/w/secrets?watch=true');
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'one' } } });
    await hub.call('DELETE', '/api/v1/namespaces/w/secrets/one');
    expect(await watch.next()).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'one' } } });
    watch.close();
  });
});

describe('discovery', () => {
  it('answers in the version that was asked', async () => {
    for (const v of ['v2', 'v2beta1']) {
      const accept = `application/json;g=apidiscovery.k8s.io;v=${v};as=APIGroupDiscoveryList,application/json`;
      const reply = await hub.call('GET', '/apis', { accept });
      expect(reply.headers['content-type']).toBe(
        `application/json;g=apidiscovery.k8s.io;v=${v};as=APIGroupDiscoveryList`,
      );
      expect(reply.body.apiVersion).toBe(`apidiscovery.k8s.io/${v}`);
    }
  });
});
