import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../packages/embedded-hub/test/hub-harness.ts';

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

  it('lets OpenAPI documents be kept for good at addresses that name their content', async () => {
    const { paths } = (await hub.call('GET', '/openapi/v3')).body;
    const { serverRelativeURL } = paths['apis/apps/v1'];
    const named = await hub.call('GET', serverRelativeURL);
    expect(named.headers['cache-control']).toContain('immutable');
    const accept = { headers: { 'accept-encoding': 'gzip' } };
    expect((await hub.call('GET', paths['api/v1'].serverRelativeURL, accept)).headers.vary).toBe(
      'Accept, Accept-Encoding',
    );
    const plain = await hub.call('GET', '/openapi/v3/apis/apps/v1');
    expect(plain.headers['cache-control']).not.toContain('immutable');
    const outdated = await hub.call('GET', '/openapi/v3/apis/apps/v1?hash=OLD');
    expect([outdated.status, outdated.headers.location]).toEqual([301, serverRelativeURL]);
  });
});

describe('options of requests', () => {
  it.each([
    ['GET', 'kube-root-ca.crt?resourceVersion=99999999', 504, 'Too large resource version'],
    ['GET', 'kube-root-ca.crt?resourceVersion=1', 200, undefined],
    ['POST', '?fieldValidation=Maybe', 422, 'fieldValidation: Unsupported value: "Maybe"'],
    ['POST', '?dryRun=Some', 422, 'dryRun: Unsupported value'],
  ])('%s %s answers %i', async (method, rest, status, message) => {
    const path = `/api/v1/namespaces/default/configmaps${rest.startsWith('?') ? rest : `/${rest}`}`;
    await expect
      .poll(
        async () => (await hub.call('GET', '/api/v1/namespaces/default/configmaps/kube-root-ca.crt')).status,
      )
      .toBe(200);
    const reply = await hub.call(method, path, method === 'POST' ? { body: configMap('opt') } : {});
    expect(reply.status).toBe(status);
    if (message !== undefined) expect(reply.body.message).toContain(message);
  });
});
