import { readFileSync, statSync } from 'node:fs';
import { connect } from 'node:http2';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock } from '@berth/test-kit/fake-clock';
import type { TestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub({ members: ['east', 'west'] });
});
afterAll(() => hub.stop());

const PATH = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});

describe('limits', () => {
  it('refuses a body of more than 3 MiB with 413', async () => {
    const reply = await hub.call('POST', PATH, { body: Buffer.alloc(3 * 1024 * 1024 + 1, 0x20) });
    expect(reply).toMatchObject({ status: 413, body: { reason: 'RequestEntityTooLarge' } });
  });

  it('refuses headers beyond reason', async () => {
    const headers = { 'x-long': 'x'.repeat(20_000) };
    expect((await hub.call('GET', '/livez', { headers })).status).toBe(431);
  });

  it('refuses encodings it does not read', async () => {
    expect(
      (await hub.call('POST', PATH, { body: configMap('x'), headers: { 'content-encoding': 'gzip' } }))
        .status,
    ).toBe(400);
    expect(
      (await hub.call('POST', PATH, { body: 'a=b', type: 'application/x-www-form-urlencoded' })).status,
    ).toBe(415);
  });

  it.each([
    'text/html',
    'application/vnd.kubernetes.protobuf',
    'application/json;as=Nonsense;g=meta.k8s.io;v=v1',
  ])('cannot answer %s: 406', async (accept) => {
    expect((await hub.call('GET', PATH, { accept })).status).toBe(406);
  });

  it.each([
    ['/api/v1/namespaces/default/nothing', 404],
    ['/apis/nobody.example.com/v1/things', 404],
    ['/api/v2', 404],
    ['/api/v1/nodes/x/proxy', 404],
    ['/api/v1/namespaces/default/configmaps/a/status', 404],
    ['/api/v1/namespaces/default/nodes', 404],
    ['/api/v1/configmaps/a', 404],
    ['/clusters/north/api', 404],
    ['/clusters/../api', 404],
    ['/api/v1/namespaces/%zz', 400],
    ['/api/v1/namespaces/default/configmaps/%2e%2e', 404],
    ['/constructor', 404],
    ['/api/v1/__proto__', 404],
    ['/apis/constructor/v1/x', 404],
  ])('%s answers %i as a Status', async (path, status) => {
    const reply = await hub.call('GET', path);
    expect(reply).toMatchObject({ status, body: { kind: 'Status', code: status } });
  });

  it.each([
    ['POST', `${PATH}/a`, 405],
    ['PUT', PATH, 405],
    ['PATCH', PATH, 405],
    ['POST', '/api/v1/configmaps', 405],
    ['DELETE', '/api/v1/configmaps', 405],
    ['OPTIONS', PATH, 405],
    ['LOCK', PATH, 405],
  ])('%s %s answers %i', async (method, path, status) => {
    expect((await hub.call(method, path, { body: {} })).status).toBe(status);
  });
});

describe('hostile keys', () => {
  it('are plain keys', async () => {
    const text =
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"hostile","labels":{"constructor":"c"},"annotations":{"toString":"t"}},"data":{"__proto__":"p","constructor":"c","hasOwnProperty":"h"}}';
    const made = await hub.call('POST', PATH, { body: text });
    expect(made.status).toBe(201);
    const read = await hub.call('GET', `${PATH}/hostile`);
    expect(read.text).toContain('"__proto__":"p"');
    expect(({} as Record<string, unknown>)['p']).toBeUndefined();
    const patch = '{"data":{"__proto__":null,"constructor":"changed"}}';
    const patched = await hub.call('PATCH', `${PATH}/hostile`, {
      body: patch,
      type: 'application/merge-patch+json',
    });
    expect(patched.text).not.toContain('__proto__');
    expect(patched.body.data).toMatchObject({ hasOwnProperty: 'h' });
    expect(JSON.parse(patched.text).data.constructor).toBe('changed');
    expect((await hub.call('GET', `${PATH}?labelSelector=constructor%3Dc`)).body.items).toHaveLength(1);
    await hub.restart();
    expect((await hub.call('GET', `${PATH}/hostile`)).text).toContain('"constructor":"changed"');
  });
});

describe('the wire', () => {
  it('speaks HTTP/2 on the same port', async () => {
    const session = connect(hub.hub.url, { ca: hub.hub.caPem });
    const status = await new Promise((resolve, reject) => {
      session.on('error', reject);
      const stream = session.request({ ':path': PATH, authorization: `Bearer ${hub.token}` });
      stream.on('response', (headers) => resolve(headers[':status']));
      stream.resume();
      stream.end();
    });
    session.close();
    expect(status).toBe(200);
  });

  it('sends large lists compressed to those who ask', async () => {
    const data = { text: 'x'.repeat(50_000) };
    for (const name of ['big-1', 'big-2', 'big-3'])
      await hub.call('POST', PATH, { body: configMap(name, data) });
    const agent = new Agent();
    const compressed = await new Promise<{ encoding: unknown; bytes: Buffer }>((resolve, reject) => {
      const headers = { authorization: `Bearer ${hub.token}`, 'accept-encoding': 'gzip' };
      const sent = request(`${hub.hub.url}${PATH}`, { ca: hub.hub.caPem, headers, agent }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ encoding: response.headers['content-encoding'], bytes: Buffer.concat(chunks) }),
        );
      });
      sent.on('error', reject);
      sent.end();
    });
    expect(compressed.encoding).toBe('gzip');
    const list = JSON.parse(gunzipSync(compressed.bytes).toString()) as { items: unknown[] };
    expect(list.items.length).toBeGreaterThanOrEqual(3);
  });

  it('streams lists of many objects whole', async () => {
    const makes = Array.from({ length: 700 }, (_, index) =>
      hub.call('POST', '/clusters/west/api/v1/namespaces/default/configmaps', {
        body: configMap(`m${String(index)}`, { text: 'ü'.repeat(50) }),
      }),
    );
    await Promise.all(makes);
    const list = await hub.call('GET', '/clusters/west/api/v1/namespaces/default/configmaps');
    expect(list.body.items).toHaveLength(701);
  });

  it('answers 304 when discovery and OpenAPI have not changed', async () => {
    for (const path of ['/api', '/apis', '/apis/apps/v1', '/openapi/v3']) {
      const first = await hub.call('GET', path);
      const etag = first.headers.etag ?? '';
      expect(etag).not.toBe('');
      expect((await hub.call('GET', path, { headers: { 'if-none-match': etag } })).status).toBe(304);
    }
    const before = (await hub.call('GET', '/apis')).headers.etag;
    await hub.restart();
    expect((await hub.call('GET', '/apis')).headers.etag).toBe(before);
  });

  it('serves the hashed OpenAPI documents that the index names', async () => {
    const index = (await hub.call('GET', '/openapi/v3')).body.paths as Record<
      string,
      { serverRelativeURL: string }
    >;
    const document = await hub.call('GET', index['apis/apps/v1']?.serverRelativeURL ?? '');
    expect(document.body.components.schemas).toBeDefined();
    const member = (await hub.call('GET', '/clusters/east/openapi/v3')).body.paths as typeof index;
    expect(member['api/v1']?.serverRelativeURL).toMatch(/^\/clusters\/east\/openapi\/v3\/api\/v1\?hash=/);
    expect((await hub.call('GET', member['api/v1']?.serverRelativeURL ?? '')).status).toBe(200);
  });

  it('writes one form of what was changed when asked for a Table or metadata', async () => {
    const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
    const made = await hub.call('POST', PATH, { body: configMap('meta-only', { a: 'b' }), accept });
    expect(made.body).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'meta-only' } });
    expect(made.body).not.toHaveProperty('data');
    const list = await hub.call('GET', PATH, {
      accept:
        'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
    });
    expect(list.body.kind).toBe('PartialObjectMetadataList');
    expect(list.body.items[0]).not.toHaveProperty('data');
  });
});

describe('member clusters', () => {
  it('share nothing with the hub or each other', async () => {
    await hub.call('POST', '/clusters/east/api/v1/namespaces/default/configmaps', {
      body: configMap('here'),
    });
    expect((await hub.call('GET', '/clusters/east/api/v1/namespaces/default/configmaps/here')).status).toBe(
      200,
    );
    expect((await hub.call('GET', '/clusters/west/api/v1/namespaces/default/configmaps/here')).status).toBe(
      404,
    );
    expect((await hub.call('GET', `${PATH}/here`)).status).toBe(404);
    expect(readFileSync(hub.hub.memberKubeconfigPath('east'), 'utf8')).toContain(
      `${hub.hub.url}/clusters/east`,
    );
  });
});

describe('files and certificates', () => {
  it('keeps secrets to the owner', () => {
    for (const file of [
      'admin.kubeconfig',
      'admin-east.kubeconfig',
      'tokens.json',
      'pki/ca.key',
      'pki/service-account.key',
    ])
      expect(statSync(join(hub.dataDir, file)).mode & 0o777, file).toBe(0o600);
    expect(statSync(hub.dataDir).mode & 0o077).toBe(0);
  });

  it('keeps the authority and the admin token over restarts', async () => {
    const ca = hub.hub.caPem;
    await hub.restart();
    expect(hub.hub.caPem).toBe(ca);
    expect((await hub.call('GET', '/api')).status).toBe(200);
  });

  it('renews the serving certificate while running', async () => {
    const clock = new FakeClock(Date.now());
    const other = await startTestHub({ clock });
    const serial = () =>
      new Promise<string>((resolve, reject) => {
        const socket = tlsConnect(
          { host: '127.0.0.1', port: other.hub.port, ca: other.hub.caPem, servername: 'localhost' },
          () => {
            resolve(socket.getPeerCertificate().serialNumber);
            socket.destroy();
          },
        );
        socket.on('error', reject);
      });
    const first = await serial();
    await clock.advance(3_600_000);
    expect(await serial()).toBe(first);
    // Back, so that what is issued then is valid for the real clock of the client.
    clock.jump(-340 * 86_400_000);
    await clock.advance(3_600_000);
    await expect.poll(serial).not.toBe(first);
    await other.stop();
  });
});
