import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import http2 from 'node:http2';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import type { LooseJson } from '../loose-json.ts';
import type { TestHub } from '../hub-harness.ts';
import { startTestHub } from '../hub-harness.ts';

let hub: TestHub;
let server: Server;
const AUTHENTICATION = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
const SERVICE = { namespace: 'default', name: 'extension' };

/** An extension server: lists one resource and echoes everything else, if the front proxy vouches for the user. */
beforeAll(async () => {
  hub = await startTestHub();
  const pair = createAuthority('extension-ca', Date.now());
  const authority = await CertificateAuthority.load(pair);
  const serving = await authority.issueServing(['extension.default.svc'], Date.now(), 86_400_000);
  const frontProxyCa = (await hub.call('GET', AUTHENTICATION)).body.data['requestheader-client-ca-file'];
  const tls = {
    cert: serving.certPem,
    key: serving.keyPem,
    ca: frontProxyCa,
    requestCert: true,
    rejectUnauthorized: false,
  };
  server = createServer(tls, (request, response) => {
    const socket = request.socket as TLSSocket;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      if (request.url === '/apis/ext.example.com/v1') {
        const resources = [
          {
            name: 'echoes',
            singularName: 'echo',
            namespaced: true,
            kind: 'Echo',
            verbs: ['get'],
            shortNames: ['ec'],
          },
          {
            name: 'echoes/shout',
            singularName: '',
            namespaced: true,
            group: 'other.example.com',
            version: 'v2',
            kind: 'Shout',
            verbs: ['create'],
          },
        ];
        response.end(
          JSON.stringify({
            kind: 'APIResourceList',
            apiVersion: 'v1',
            groupVersion: 'ext.example.com/v1',
            resources,
          }),
        );
        return;
      }
      if (request.url === '/openapi/v3') {
        const serverRelativeURL = '/openapi/v3/apis/ext.example.com/v1?hash=F00';
        response.end(JSON.stringify({ paths: { 'apis/ext.example.com/v1': { serverRelativeURL } } }));
        return;
      }
      const proxy = socket.authorized ? [socket.getPeerCertificate().subject.CN].flat()[0] : 'nobody';
      response.statusCode = 202;
      response.end(
        JSON.stringify({
          method: request.method,
          url: request.url,
          headers: request.headers,
          proxy,
          body: Buffer.concat(chunks).toString(),
        }),
      );
    });
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    const { upgrade, 'x-remote-user': user, authorization } = request.headers;
    if (upgrade === 'refused')
      return void socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno');
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n\r\n`);
    socket.write(`for ${String(user)} with ${authorization}\n`);
    socket.on('data', (data: Buffer) => socket.write(data.toString().toUpperCase()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await hub.call('POST', '/api/v1/namespaces/default/services', {
    body: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: SERVICE.name },
      spec: { type: 'ExternalName', externalName: '127.0.0.1' },
    },
  });
  const service = { ...SERVICE, port };
  const caBundle = Buffer.from(pair.certPem).toString('base64');
  for (const [group, version] of [
    ['ext.example.com', 'v1'],
    ['apps', 'v1'],
  ])
    await hub.call('POST', '/apis/apiregistration.k8s.io/v1/apiservices', {
      body: {
        apiVersion: 'apiregistration.k8s.io/v1',
        kind: 'APIService',
        metadata: { name: `${String(version)}.${String(group)}` },
        spec: { group, version, service, caBundle, groupPriorityMinimum: 100, versionPriority: 10 },
      },
    });
});
afterAll(async () => {
  await hub.stop();
  server.close();
});

/** A request that asks for another protocol. */
async function upgrade(
  method: string,
  protocol: string,
  authorization = `Bearer ${hub.token}`,
  path = '/apis/ext.example.com/v1/namespaces/x/echoes/y',
): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port: hub.hub.port, ca: hub.hub.caPem });
  await once(socket, 'secureConnect');
  const headers = [
    'Host: x',
    `Authorization: ${authorization}`,
    'Connection: Upgrade',
    `Upgrade: ${protocol}`,
  ];
  socket.write(`${[`${method} ${path} HTTP/1.1`, ...headers].join('\r\n')}\r\n\r\n`);
  return socket;
}

async function until(socket: TLSSocket, end: string): Promise<string> {
  let text = '';
  while (!text.includes(end)) text += String((await once(socket, 'data'))[0]);
  return text;
}

describe('an aggregated API', () => {
  it('gets requests with the user, and without the credentials', async () => {
    const headers = {
      'impersonate-user': 'alice',
      'impersonate-group': 'system:masters',
      'x-remote-user': 'mallory',
    };
    const reply = await hub.call('PUT', '/apis/ext.example.com/v1/namespaces/x/echoes/y?z=1?2', {
      body: { a: 'b' },
      headers,
    });
    expect(reply.status).toBe(202);
    expect(reply.body).toMatchObject({
      method: 'PUT',
      url: '/apis/ext.example.com/v1/namespaces/x/echoes/y?z=1?2',
      proxy: 'front-proxy',
      body: '{"a":"b"}',
    });
    expect(reply.body.headers).toMatchObject({
      'x-remote-user': 'alice',
      'x-remote-group': 'system:masters, system:authenticated',
    });
    expect(reply.body.headers).not.toHaveProperty('authorization');
    expect(reply.body.headers).not.toHaveProperty('impersonate-user');
  });

  it.each(['SPDY/3.1', 'websocket'])(
    'gets an upgrade to %s, after which bytes are copied',
    async (protocol) => {
      const socket = await upgrade('POST', protocol);
      expect(await until(socket, 'undefined\n')).toMatch(/^HTTP\/1.1 101 [^]*for admin with undefined\n$/);
      socket.write('first');
      expect(await until(socket, 'FIRST')).toBe('FIRST');
      socket.destroy();
    },
  );

  it('may refuse an upgrade, as the hub may', async () => {
    expect(await until(await upgrade('GET', 'refused'), 'no')).toMatch(/^HTTP\/1.1 403 /);
    const answer = await until(await upgrade('GET', 'websocket', 'Bearer nobody'), 'Unauthorized');
    expect(answer).toMatch(/^HTTP\/1.1 401 /);
  });

  /** Of the hub's own, an upgrade is no part. */
  it('is the only one that is asked for upgrades', async () => {
    const socket = await upgrade('GET', 'websocket', `Bearer ${hub.token}`, '/api/v1/namespaces/default');
    expect(await until(socket, '"kind":"Namespace"')).toMatch(/^HTTP\/1.1 200 /);
  });

  /** Sent on without its frame, it would be the next request on the hub's own connection. */
  it.each(['GET', 'DELETE'])('gets a body of unknown length with %s as a body', async (method) => {
    const path = '/apis/ext.example.com/v1/namespaces/x/echoes/y';
    const body = `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Remote-User: root\r\n\r\n`;
    const socket = connect({ host: '127.0.0.1', port: hub.hub.port, ca: hub.hub.caPem });
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${hub.token}\r\n`);
    socket.write(`Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
    expect(await until(socket, '"body"')).toContain(`"body":${JSON.stringify(body)}`);
    socket.destroy();
    const session = http2.connect(`https://127.0.0.1:${hub.hub.port}`, { ca: hub.hub.caPem });
    const headers = { ':method': method, ':path': path, authorization: `Bearer ${hub.token}` };
    const stream = session.request(headers, { endStream: false }).end(body);
    expect(JSON.parse(await text(stream))).toMatchObject({ method, body });
    session.close();
  });

  it('is for those whom RBAC allows', async () => {
    const reply = await hub.call('GET', '/apis/ext.example.com/v1/namespaces/x/echoes', {
      headers: { 'impersonate-user': 'nobody' },
    });
    expect(reply.status).toBe(403);
  });

  it('is discovered group by group', async () => {
    const groups = await hub.call('GET', '/apis', { accept: 'application/json' });
    expect(groups.headers['content-type']).toBe('application/json');
    expect(groups.body.groups.map((group: { name: string }) => group.name)).toEqual(
      expect.arrayContaining(['apps', 'ext.example.com']),
    );
    expect((await hub.call('GET', '/apis/ext.example.com')).body).toMatchObject({
      kind: 'APIGroup',
      preferredVersion: { version: 'v1' },
    });
    expect((await hub.call('GET', '/apis/ext.example.com/v1')).body.resources[0].name).toBe('echoes');
  });

  it.each(['v2', 'v2beta1'])('is discovered in one document with everything else: %s', async (version) => {
    const accept = `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
    const { headers, body } = await hub.call('GET', '/apis', { accept });
    expect(headers['content-type']).toBe(accept);
    const groups = new Map(
      (body.items as LooseJson[]).map((item): [string, LooseJson] => [item.metadata.name, item]),
    );
    expect(groups.get('apps').versions[0].resources.length).toBeGreaterThan(3);
    expect(groups.get('ext.example.com').versions).toEqual([
      {
        version: 'v1',
        freshness: 'Current',
        resources: [
          {
            resource: 'echoes',
            responseKind: { group: 'ext.example.com', version: 'v1', kind: 'Echo' },
            scope: 'Namespaced',
            singularResource: 'echo',
            verbs: ['get'],
            shortNames: ['ec'],
            subresources: [
              {
                subresource: 'shout',
                responseKind: { group: 'other.example.com', version: 'v2', kind: 'Shout' },
                verbs: ['create'],
              },
            ],
          },
        ],
      },
    ]);
    const again = await hub.call('GET', '/apis', {
      accept,
      headers: { 'if-none-match': headers.etag ?? '' },
    });
    expect(again.status).toBe(304);
  });

  it('has its OpenAPI document among the others', async () => {
    const { paths } = (await hub.call('GET', '/openapi/v3')).body;
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['api/v1', 'apis/ext.example.com/v1']));
    const { serverRelativeURL } = paths['apis/ext.example.com/v1'];
    expect(serverRelativeURL).toBe('/openapi/v3/apis/ext.example.com/v1?hash=F00');
    expect((await hub.call('GET', serverRelativeURL)).body).toMatchObject({
      url: serverRelativeURL,
      proxy: 'front-proxy',
    });
  });

  it('takes nothing away from the hub', async () => {
    expect((await hub.call('GET', '/apis/apps/v1/deployments')).body.kind).toBe('DeploymentList');
  });

  it('that cannot be reached, or whose certificate is wrong, answers 503', async () => {
    const path = '/apis/apiregistration.k8s.io/v1/apiservices/v1.ext.example.com';
    const type = 'application/merge-patch+json';
    await hub.call('PATCH', path, {
      type,
      body: { spec: { caBundle: Buffer.from(hub.hub.caPem).toString('base64') } },
    });
    const untrusted = await hub.call('GET', '/apis/ext.example.com/v1/namespaces/x/echoes');
    expect(untrusted).toMatchObject({ status: 503, body: { kind: 'Status', reason: 'ServiceUnavailable' } });
    await hub.call('PATCH', path, { type, body: { spec: { service: { port: 1 } } } });
    expect((await hub.call('GET', '/apis/ext.example.com/v1/namespaces/x/echoes')).status).toBe(503);
    // What a server said that is gone now is not known of this address; everything else is answered as always.
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const { items } = (await hub.call('GET', '/apis', { accept })).body;
    expect(items).toContainEqual({
      metadata: { name: 'ext.example.com' },
      versions: [{ version: 'v1', freshness: 'Stale', resources: [] }],
    });
    expect(items.length).toBeGreaterThan(10);
  });
});

describe('the server of an aggregated API that misbehaves', () => {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const STALE = [{ version: 'v1', freshness: 'Stale', resources: [] }];

  /** A hub with one APIService, whose Endpoints lead to a server that the handler makes; how its group is discovered. */
  async function discovered(
    port: number | undefined,
    tls: { readonly insecure: boolean },
  ): Promise<LooseJson> {
    const other = await startTestHub();
    const metadata = { name: 'odd', namespace: 'default' };
    const serviceSpec =
      port === undefined ? { ports: [{ port: 443 }] } : { type: 'ExternalName', externalName: 'localhost' };
    await other.call('POST', '/api/v1/namespaces/default/services', {
      body: { apiVersion: 'v1', kind: 'Service', metadata, spec: serviceSpec },
    });
    const spec = {
      group: 'odd.example.com',
      version: 'v1',
      service: { name: 'odd', namespace: 'default', ...(port !== undefined && { port }) },
      insecureSkipTLSVerify: tls.insecure,
      groupPriorityMinimum: 1,
      versionPriority: 1,
    };
    await other.call('POST', '/apis/apiregistration.k8s.io/v1/apiservices', {
      body: {
        apiVersion: 'apiregistration.k8s.io/v1',
        kind: 'APIService',
        metadata: { name: 'v1.odd.example.com' },
        spec,
      },
    });
    const { items } = (await other.call('GET', '/apis', { accept })).body;
    const things = '/apis/odd.example.com/v1/namespaces/x/things';
    const status = port === undefined ? (await other.call('GET', things)).status : undefined;
    await other.stop();
    expect(items.length).toBeGreaterThan(10);
    const { versions } = items.find((item: LooseJson) => item.metadata.name === 'odd.example.com');
    return { versions, status };
  }

  it('and has no address is called stale; requests for it answer 503', async () => {
    expect(await discovered(undefined, { insecure: false })).toEqual({ versions: STALE, status: 503 });
  });

  it('and never says anything keeps nobody waiting for long', async () => {
    const sockets: Socket[] = [];
    const silent = createTcpServer((socket) => sockets.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const tookMs = async (port: number | undefined): Promise<number> => {
      const begunAtMs = performance.now();
      expect((await discovered(port, { insecure: false })).versions).toEqual(STALE);
      return performance.now() - begunAtMs;
    };
    // All but the waiting takes its time on a slow machine.
    const withoutWaitingMs = await tookMs(undefined);
    expect(await tookMs((silent.address() as AddressInfo).port)).toBeLessThan(10_000 + 10 * withoutWaitingMs);
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it.each<{ name: string; answer: string; versions: unknown }>([
    { name: 'no JSON', answer: '<html>', versions: STALE },
    { name: 'a list', answer: '[]', versions: STALE },
    {
      name: 'entries of every kind',
      answer: '{"resources":[1,null,"x",{"name":5},{"name":"a","verbs":"get"},{"name":"__proto__/x"}]}',
      versions: [
        {
          version: 'v1',
          freshness: 'Current',
          resources: [expect.objectContaining({ resource: 'a', verbs: [] })],
        },
      ],
    },
  ])('and answers $name harms nobody', async ({ answer, versions }) => {
    const authority = await CertificateAuthority.load(createAuthority('odd-ca', Date.now()));
    const { certPem: cert, keyPem: key } = await authority.issueServing(['odd'], Date.now(), 86_400_000);
    const liar = createServer({ cert, key }, (_request, response) => response.end(answer));
    await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve));
    const found = await discovered((liar.address() as AddressInfo).port, { insecure: true });
    expect(found.versions).toEqual(versions);
    liar.close();
  });
});
