import type { TLSSocket } from 'node:tls';
import { once } from 'node:events';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { describe, expect, it } from 'vitest';
import { authorityOf, gatewaySecret, openGateway } from './gateway-path.ts';

const API = '/apis/cluster.core.oam.dev/v1alpha1';
const GATEWAYS = `${API}/clustergateways`;
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

async function until(socket: TLSSocket, end: string): Promise<string> {
  let text = '';
  while (!text.includes(end)) text += String((await once(socket, 'data'))[0]);
  return text;
}

describe('the API of ClusterGateways', () => {
  it('is discovered, listed and read, and shows no credentials', async () => {
    const { ask } = await openGateway();
    const { resources } = JSON.parse((await ask(API)).text) as { resources: { name: string }[] };
    expect(resources.map(({ name }) => name)).toEqual([
      ...['clustergateways', 'clustergateways/health', 'clustergateways/proxy'],
    ]);
    expect(JSON.parse((await ask('/apis/cluster.core.oam.dev')).text)).toMatchObject({ kind: 'APIGroup' });
    const list = await ask(GATEWAYS);
    expect(JSON.parse(list.text)).toMatchObject({ kind: 'ClusterGatewayList', items: [{}, {}] });
    expect(list.text).not.toContain('token-of');
    const one = JSON.parse((await ask(`${GATEWAYS}/one`)).text) as { readonly spec: object };
    expect(one.spec).toMatchObject({
      access: {
        endpoint: { type: 'Const', const: { address: expect.stringContaining('https://127.0.0.1:') } },
        credential: { type: 'ServiceAccountToken' },
      },
    });
    const missing = await ask(`${GATEWAYS}/three`);
    expect([missing.status, missing.text]).toEqual([
      404,
      expect.stringContaining('clustergateways.cluster.core.oam.dev \\"three\\" not found'),
    ]);
    expect((await ask(GATEWAYS, { method: 'POST' })).status).toBe(405);
    expect((await ask(`${GATEWAYS}?watch=true`)).status).toBe(405);
    expect((await ask(`${GATEWAYS}?labelSelector=a`)).status).toBe(400);
  });

  it('has the columns that kubectl prints', async () => {
    const { ask } = await openGateway();
    const accept = { headers: { accept: TABLE } };
    const table = JSON.parse((await ask(GATEWAYS, accept)).text) as {
      readonly columnDefinitions: { name: string; priority: number }[];
      readonly rows: { cells: string[]; object?: { kind: string } }[];
    };
    expect(table.columnDefinitions.map(({ name, priority }) => [name, priority])).toEqual([
      ...[
        ['Name', 0],
        ['Provider', 0],
        ['Credential-Type', 0],
        ['Endpoint-Type', 0],
        ['Healthy', 1],
      ],
    ]);
    expect(table.rows[0]).toMatchObject({
      cells: ['one', '', 'ServiceAccountToken', 'Const', 'false'],
      object: { kind: 'PartialObjectMetadata' },
    });
    const whole = JSON.parse(
      (await ask(`${GATEWAYS}/one?includeObject=Object`, accept)).text,
    ) as typeof table;
    expect(whole.rows[0]?.object?.kind).toBe('ClusterGateway');
  });

  it('takes the health that somebody reports', async () => {
    const { ask, noted } = await openGateway();
    const put = (body: string) => ask(`${GATEWAYS}/one/health`, { method: 'PUT', body });
    const answer = await put('{"status":{"healthy":true,"healthyReason":"seen"}}');
    expect(JSON.parse(answer.text)).toMatchObject({ status: { healthy: true, healthyReason: 'seen' } });
    expect(noted).toEqual([['one', { healthy: true, healthyReason: 'seen' }]]);
    for (const body of ['', '[]', 'null', '{"status":{"healthy":"yes"}}', `"${'x'.repeat(70_000)}"`])
      expect((await put(body)).status).toBe(400);
    expect((await ask(`${GATEWAYS}/one/health`)).status).toBe(200);
    expect((await ask(`${GATEWAYS}/one/health`, { method: 'DELETE' })).status).toBe(405);
  });
});

describe('a request for a cluster', () => {
  it('goes there as it is, with the account of the gateway, and leaves one line in the log', async () => {
    const { ask, requests, one, two } = await openGateway();
    const path = '/api/v1/namespaces/a/pods?dryRun=All&labelSelector=x%2Fy%3D1&watch=1';
    const headers = {
      ...{
        authorization: 'Bearer of-alice',
        'impersonate-user': 'root',
        'impersonate-group': 'system:masters',
      },
      ...{ 'x-remote-group': ['dev', 'ops'], 'x-remote-extra-team': 'a', 'x-remote-uid': '1' },
      ...{ 'berth-caller': 'hub', 'content-type': 'application/json', accept: 'application/json' },
      'sec-websocket-protocol': 'v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.c2VjcmV0',
    };
    const answer = await ask(`${GATEWAYS}/one/proxy${path}`, { method: 'POST', body: '{"a":1}', headers });
    expect([answer.status, answer.text]).toEqual([418, `POST ${path}`]);
    expect(answer.response.headers['x-of-cluster']).toBe('yes');
    const [seen] = one.asked;
    expect(seen?.request.headers).toMatchObject({
      ...{ authorization: 'Bearer token-of-one', 'content-type': 'application/json' },
      'sec-websocket-protocol': 'v4.channel.k8s.io',
    });
    expect(
      Object.keys(seen?.request.headers ?? {}).filter((name) => /remote|impersonate|berth/.test(name)),
    ).toEqual([]);
    expect(two.asked).toEqual([]);
    expect(requests()).toEqual([
      {
        ...{ cluster: 'one', user: 'alice', as: 'of the token', method: 'POST', status: 418 },
        path: '/api/v1/namespaces/a/pods',
      },
    ]);
  });

  it.each(['?impersonate=true', ''])(
    'goes as the user who asks (query %j, else by a flag)',
    async (query) => {
      const { ask, one, requests } = await openGateway({ impersonate: query === '' });
      await ask(`${GATEWAYS}/one/proxy/api${query}`, {
        headers: {
          ...{ 'x-remote-user': 'system:admin', 'x-remote-group': ['dev', 'system:masters'] },
          ...{ 'x-remote-extra-example.com%2fteam': ['a', 'b'], 'impersonate-user': 'root' },
        },
      });
      const { headers, headersDistinct } = one.asked[0]?.request ?? {};
      expect(headers).toMatchObject({
        authorization: 'Bearer token-of-one',
        'impersonate-user': 'cluster:hub:system:admin',
      });
      expect(headersDistinct?.['impersonate-group']).toEqual(['dev', 'cluster:hub:system:masters']);
      expect(headersDistinct?.['impersonate-extra-example.com%2fteam']).toEqual(['a', 'b']);
      expect(requests()).toMatchObject([{ user: 'system:admin', as: 'cluster:hub:system:admin' }]);
    },
  );

  it.each([
    {
      name: 'a client certificate',
      secret: ({ cert, key }: { cert: string; key: string }) => ({ 'tls.crt': cert, 'tls.key': key }),
      type: 'X509Certificate',
      suffix: '',
      want: ['/api', 'CN=gateway', undefined],
    },
    {
      name: 'an address with a path',
      secret: () => ({ token: 't' }),
      type: 'ServiceAccountToken',
      suffix: '/clusters/east/',
      want: ['/clusters/east/api', undefined, 'Bearer t'],
    },
  ])('with $name', async ({ secret, type, suffix, want }) => {
    const client = await authorityOf('gateways').then((authority) => authority.client('gateway'));
    const { ask, one } = await openGateway({
      secrets: (address, caPem) => [
        gatewaySecret(
          'one',
          { endpoint: `${address}${suffix}\n`, ca: caPem, ...secret(client) },
          { 'cluster-credential-type': type },
        ),
      ],
    });
    expect((await ask(`${GATEWAYS}/one/proxy/api`)).status).toBe(418);
    const [seen] = one.asked;
    expect([seen?.request.url, seen?.client, seen?.request.headers.authorization]).toEqual(want);
  });

  it('is not sent to a server that is another one, unless the Secret has no authority', async () => {
    const other = (await authorityOf('other')).caPem;
    const { ask, one } = await openGateway({
      secrets: (endpoint) => [
        gatewaySecret('one', { endpoint, token: 't', 'ca.crt': other }),
        gatewaySecret('open', { endpoint, token: 't' }),
      ],
    });
    const refused = await ask(`${GATEWAYS}/one/proxy/healthz`);
    expect([refused.status, one.asked]).toEqual([502, []]);
    expect(await ask(`${GATEWAYS}/open/proxy/healthz`)).toMatchObject({ status: 200, text: 'ok' });
  });

  it.each(['SPDY/3.1', 'websocket'])('carries an upgrade to %s as bytes', async (protocol) => {
    const { send, one, requests } = await openGateway();
    const socket = await send(
      `POST ${GATEWAYS}/one/proxy/api/v1/namespaces/a/pods/b/exec?command=sh HTTP/1.1\r\nHost: x\r\n` +
        `X-Remote-User: alice\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\nfirst`,
    );
    expect(await until(socket, 'FIRST')).toMatch(/^HTTP\/1.1 101 /);
    socket.write('second');
    expect(await until(socket, 'SECOND')).toBe('SECOND');
    expect(one.asked[0]?.request.headers).toMatchObject({
      authorization: 'Bearer token-of-one',
      upgrade: protocol,
    });
    expect(requests()).toMatchObject([{ status: 101 }]);
  });

  it.each(['GET', 'DELETE', 'OPTIONS'])(
    'with %s and a body of unknown length is one request, and no other comes after it',
    async (method) => {
      const { ask, one } = await openGateway();
      const body = 'GET /second HTTP/1.1\r\nHost: x\r\n\r\n';
      await ask(`${GATEWAYS}/one/proxy/first`, { method, body, headers: { 'transfer-encoding': 'chunked' } });
      expect((await ask(`${GATEWAYS}/one/proxy/third`)).text).toBe('GET /third');
      expect(one.asked.map(({ request }) => request.url)).toEqual(['/first', '/third']);
    },
  );

  it('is answered when the cluster answers what no server may, and others are served', async () => {
    const { ask } = await openGateway();
    expect((await ask(`${GATEWAYS}/one/proxy/forged`)).status).toBe(502);
    expect((await ask(`${GATEWAYS}/one/proxy/healthz`)).text).toBe('ok');
  });

  it('does not keep the server from closing', async () => {
    const { send, close } = await openGateway();
    const socket = await send(
      `GET ${GATEWAYS}/one/proxy/exec HTTP/1.1\r\nHost: x\r\nX-Remote-User: alice\r\n` +
        'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    );
    await until(socket, '101');
    const ended = once(socket, 'close');
    await close();
    await ended;
  });

  it('may have to be allowed on the hub as well, with the message of an API server', async () => {
    const reviews: unknown[] = [];
    const hub = {
      create: async (_kind: unknown, review: { readonly spec: { readonly user: string } }) => {
        reviews.push(review.spec);
        return { ...review, status: { allowed: review.spec.user === 'root' } };
      },
    } as unknown as KubeApi;
    const { ask, one, requests } = await openGateway({ authorizeOn: hub });
    const refused = await ask(`${GATEWAYS}/one/proxy/api/v1/namespaces?limit=500`);
    expect([refused.status, JSON.parse(refused.text).message]).toEqual([
      403,
      'namespaces is forbidden: User "alice" cannot list resource "namespaces" in API group "" at the cluster scope',
    ]);
    expect(reviews[0]).toMatchObject({
      user: 'alice',
      resourceAttributes: { verb: 'list', resource: 'namespaces', group: '' },
    });
    const path = await ask(`${GATEWAYS}/one/proxy/metrics`);
    expect(JSON.parse(path.text).message).toBe('forbidden: User "alice" cannot get path "/metrics"');
    expect(one.asked).toEqual([]);
    expect(requests()).toMatchObject([{ status: 403 }, { status: 403 }]);
    await ask(`${GATEWAYS}/one/proxy/healthz`, { headers: { 'x-remote-user': 'root' } });
    expect(one.asked).toHaveLength(1);
  });
});

describe('nobody', () => {
  it('but the API server of the hub gets in', async () => {
    const { ask, one, rotate, ofFrontProxy, ofClusters } = await openGateway();
    const path = `${GATEWAYS}/one/proxy/api`;
    const others = [
      {},
      await ofFrontProxy.client('somebody'),
      await ofClusters.client('front-proxy'),
      await authorityOf('front-proxy-ca').then((authority) => authority.client('front-proxy')),
    ];
    for (const tls of others) expect((await ask(path, { tls })).status).toBe(401);
    expect((await ask(path, { headers: { 'x-remote-user': '' } })).status).toBe(401);
    expect(one.asked).toEqual([]);
    const next = await authorityOf('next');
    rotate(next.caPem);
    expect((await ask(path)).status).toBe(401);
    expect((await ask(path, { tls: await next.client('front-proxy') })).status).toBe(418);
    expect((await ask('/healthz', { tls: {} })).text).toBe('ok');
  });

  it.each([
    { path: '/one/proxy/../../two/proxy/api', status: 400 },
    { path: '/one/proxy/%2e%2e/%2e%2e/two/proxy/api', status: 400 },
    { path: '/one/proxy/..%2f..%2ftwo%2fproxy/api', status: 400 },
    { path: '/one/proxy/%252e%252e/%252e%252e/two/proxy/api', status: 400 },
    { path: '/one/proxy/..\\..\\two', status: 400 },
    { path: '/one/../two/proxy/api', status: 400 },
    { path: '/one%2fproxy%2f..%2f..%2ftwo/proxy/api', status: 400 },
    { path: '//two/proxy/api', status: 400 },
    { path: '/%74wo/proxy/api', status: 400 },
    { path: '/TWO/proxy/api', status: 400 },
    { path: '/two%00/proxy/api', status: 400 },
    { path: '/two;x/proxy/api', status: 400 },
    { path: '/two@one/proxy/api', status: 400 },
    { path: '/one/proxyx/api', status: 404 },
    { path: '/one/proxy;x/api', status: 404 },
    { path: '/one/%70roxy/api', status: 404 },
    { path: '/one/health/proxy', status: 404 },
    { path: '/one/namespaces/x', status: 404 },
    { path: '/one/proxy/https://two/api', status: 418 },
    { path: '/one/proxy//two/proxy/api', status: 418 },
    { path: '/one/proxy?path=/clustergateways/two/proxy', status: 418 },
    { path: `/one/proxy${GATEWAYS}/two/proxy/api`, status: 418 },
  ])('reaches the cluster two by $path', async ({ path, status }) => {
    const { ask, one, two } = await openGateway();
    expect((await ask(`${GATEWAYS}${path}`)).status).toBe(status);
    expect(two.asked).toEqual([]);
    expect(one.asked).toHaveLength(status === 418 ? 1 : 0);
  });

  it.each([
    `https://two.example.com${GATEWAYS}/two/proxy/api`,
    `/x/..${GATEWAYS}/two/proxy/api`,
    `/apis/cluster.core.oam.dev/v1alpha1/namespaces/x/clustergateways/two/proxy/api`,
    `/apis/cluster.core.oam.dev/v1alpha1/watch/clustergateways/two/proxy/api`,
    `/openapi/v3${GATEWAYS}/two/proxy/api`,
    '*',
  ])('reaches the cluster two by %s', async (path) => {
    const { ask, two } = await openGateway();
    expect((await ask(path)).status).toBe(404);
    expect(two.asked).toEqual([]);
  });

  it.each([
    { host: 'two' },
    { 'cluster-proxy-host': 'two' },
    { 'x-forwarded-host': 'two' },
    { forwarded: 'host=two' },
    { 'x-original-url': `${GATEWAYS}/two/proxy/api` },
    { 'x-rewrite-url': `${GATEWAYS}/two/proxy/api` },
  ])('reaches the cluster two by the header %o', async (headers) => {
    const { ask, one, two } = await openGateway();
    expect((await ask(`${GATEWAYS}/one/proxy/api`, { headers })).status).toBe(418);
    expect([two.asked.length, one.asked.length]).toEqual([0, 1]);
    expect(one.asked[0]?.request.headers.host).toMatch(/^127\.0\.0\.1:/);
  });
});
