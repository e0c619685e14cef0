import type { ClientHttp2Session } from 'node:http2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '@berth/test-kit/fake-clock';
import type { TestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import type { RawConnection } from './raw-client.ts';
import { connectRaw, connectSession, metricOf, openStream, tokenOf } from './raw-client.ts';

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const REVIEW = {
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SelfSubjectAccessReview',
  spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
};
const MEBIBYTE = 1024 * 1024;

let clock: FakeClock;
let hub: TestHub;
let tenant: string;
const open: { destroy(): void }[] = [];
beforeEach(async () => {
  clock = new FakeClock(Date.now());
  hub = await startTestHub({ clock, audit: 'off' });
  tenant = await tokenOf(hub, 'tenant');
});
afterEach(async () => {
  for (const one of open.splice(0)) one.destroy();
  await hub.stop();
});

/** The head of a request, and what there is of its body. */
const post = (path: string, token: string, headers: string, body = ''): string =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\n${headers}\r\n\r\n${body}`;

async function raw(): Promise<RawConnection> {
  const connection = await connectRaw(hub);
  open.push(connection.socket);
  return connection;
}

async function session(): Promise<ClientHttp2Session> {
  const one = await connectSession(hub);
  open.push(one);
  return one;
}

const postHeaders = (path: string, token: string, more = {}) => ({
  ':path': path,
  ':method': 'POST',
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
  ...more,
});

async function allow(user: string): Promise<void> {
  await hub.call('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    body: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: user },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'writer' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    },
  });
}

async function allowWrites(...users: string[]): Promise<void> {
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'get', 'list'] }];
  await hub.call('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', {
    body: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'writer' },
      rules,
    },
  });
  for (const user of users) await allow(user);
}

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

async function expectServing(): Promise<void> {
  expect((await hub.call('GET', '/readyz', { token: null })).status).toBe(200);
  expect((await hub.call('GET', CONFIG_MAPS)).status).toBe(200);
}

describe('bodies that never end, from a user without rights', () => {
  it('900 of them over HTTP/1.1 do not keep an administrator or another user out', async () => {
    const connections: RawConnection[] = [];
    const begin = async (): Promise<void> => {
      const one = await raw();
      one.socket.write(post(REVIEWS, tenant, 'content-length: 50000', '{"apiVersion":'));
      connections.push(one);
    };
    for (let start = 0; start < 900; start += 100) await Promise.all(Array.from({ length: 100 }, begin));
    const body = 'berth_hub_body_bytes{priority_level="global-default"}';
    await expect.poll(() => metricOf(hub, body)).toBeGreaterThan(0);
    await expectServing();
    const other = await tokenOf(hub, 'other');
    expect((await hub.call('POST', REVIEWS, { token: other, body: REVIEW })).status).toBe(201);
    expect(await metricOf(hub, body)).toBeLessThanOrEqual(16 * MEBIBYTE);
    // What is over the user's share is refused at once, the rest when its time is over.
    await expect
      .poll(() => connections.filter((one) => one.text().startsWith('HTTP/1.1 429')).length)
      .toBe(700);
    await clock.advance(11_000);
    await expect
      .poll(() => connections.filter((one) => /^HTTP\/1\.1 (408|429) /.test(one.text())).length)
      .toBe(900);
    await clock.advance(6_000);
    await expect.poll(() => connections.every((one) => one.closed())).toBe(true);
    await expect.poll(() => metricOf(hub, body)).toBe(0);
  });

  it('900 of them over one HTTP/2 connection do not either', async () => {
    const one = await session();
    const streams = Array.from({ length: 900 }, () => openStream(one, postHeaders(REVIEWS, tenant)));
    for (const { stream } of streams) stream.write('{');
    const refused = () => streams.filter((stream) => stream.status() === 429).length;
    await expect.poll(refused).toBe(700);
    await expectServing();
    await clock.advance(11_000);
    await expect.poll(() => streams.filter((stream) => stream.status() === 408).length).toBe(200);
    await clock.advance(6_000);
    await expect.poll(() => streams.every((stream) => stream.closed())).toBe(true);
    expect(one.destroyed).toBe(false);
  });

  it('drips of a byte a second are ended like silence', async () => {
    const one = await raw();
    one.socket.write(post(REVIEWS, tenant, 'content-length: 5000', '{'));
    for (let second = 0; second < 12; second += 1) {
      one.socket.write(' ');
      await clock.advance(1_000);
    }
    await expect.poll(() => one.text()).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('a body that comes fast enough forever is ended after a minute', async () => {
    await allowWrites('tenant');
    const one = await raw();
    one.socket.write(post(CONFIG_MAPS, tenant, `content-length: ${String(3 * MEBIBYTE)}`));
    for (let second = 0; second < 61; second += 1) {
      one.socket.write(' '.repeat(16 * 1024));
      // fixed wait: the rate of the load
      await new Promise((resolve) => setTimeout(resolve, 5));
      await clock.advance(1_000);
    }
    await expect.poll(() => one.text()).toMatch(/^HTTP\/1\.1 408 /);
  });
});

describe('bodies of a user who may write', () => {
  it('900 that claim 3 MiB hold memory for five, and other users go on writing', async () => {
    await allowWrites('tenant', 'other');
    const one = await session();
    const headers = postHeaders(CONFIG_MAPS, tenant, { 'content-length': String(3 * MEBIBYTE) });
    const streams = Array.from({ length: 900 }, () => openStream(one, headers));
    for (const { stream } of streams) stream.write('{');
    await expect.poll(() => streams.filter((stream) => stream.status() === 429).length).toBe(700);
    const bytes = await metricOf(hub, 'berth_hub_body_bytes{priority_level="global-default"}');
    expect(bytes).toBe(15 * MEBIBYTE);
    const token = await tokenOf(hub, 'other');
    expect((await hub.call('POST', CONFIG_MAPS, { token, body: configMap('mine') })).status).toBe(201);
    await expectServing();
  });

  it('a body in three million pieces of a byte is refused after a thousand', async () => {
    await allowWrites('tenant');
    const one = await raw();
    one.socket.write(post(CONFIG_MAPS, tenant, 'transfer-encoding: chunked'));
    const pieces = '1\r\n \r\n'.repeat(5_000);
    one.socket.write(pieces);
    await expect.poll(() => one.text()).toMatch(/^HTTP\/1\.1 400 [\s\S]*too many small chunks/);
  });

  it('a large body that comes in network packets is read whole', async () => {
    const data = { text: 'x'.repeat(900_000) };
    const reply = await hub.call('POST', CONFIG_MAPS, { body: { ...configMap('large'), data } });
    expect([reply.status, reply.body.data.text.length]).toEqual([201, 900_000]);
    const chunked = await raw();
    const text = JSON.stringify({ ...configMap('chunked'), data });
    const parts = text.match(/[\s\S]{1,1400}/g) ?? [];
    chunked.socket.write(post(CONFIG_MAPS, hub.token, 'transfer-encoding: chunked'));
    for (const part of parts) chunked.socket.write(`${part.length.toString(16)}\r\n${part}\r\n`);
    chunked.socket.write('0\r\n\r\n');
    await expect.poll(() => chunked.text()).toMatch(/^HTTP\/1\.1 201 /);
  });

  it('a length that is a lie is refused, and leaves the connection of others alone', async () => {
    const short = await session();
    const stream = openStream(short, postHeaders(CONFIG_MAPS, hub.token, { 'content-length': '10' }));
    stream.stream.end('x'.repeat(100));
    await expect.poll(() => stream.closed()).toBe(true);
    expect(stream.status() ?? 400).toBeGreaterThanOrEqual(400);
    const negative = await raw();
    negative.socket.write(post(CONFIG_MAPS, hub.token, 'content-length: -5'));
    await expect.poll(() => negative.text()).toMatch(/^HTTP\/1\.1 400 /);
    const both = await raw();
    both.socket.write(
      post(CONFIG_MAPS, hub.token, 'content-length: 5\r\ntransfer-encoding: chunked', '0\r\n\r\n'),
    );
    await expect.poll(() => both.text()).toMatch(/^HTTP\/1\.1 400 /);
    await expectServing();
  });
});

describe('bodies of requests that are refused anyway', () => {
  it.each([
    ['no token', '', 401],
    ['no rights', 'tenant', 403],
    ['no such path', 'admin', 404],
  ])('%s: the answer comes without the body, and the connection is closed', async (_why, who, code) => {
    const one = await raw();
    const token = { tenant, admin: hub.token }[who] ?? 'wrong';
    const path = who === 'admin' ? '/api/v1/nothing' : CONFIG_MAPS;
    one.socket.write(post(path, token, 'content-length: 3000000', '{'));
    await expect.poll(() => one.text()).toMatch(new RegExp(`^HTTP/1\\.1 ${String(code)} `));
    expect(await metricOf(hub, 'berth_hub_body_bytes{priority_level="global-default"}')).toBe(0);
    await clock.advance(6_000);
    await expect.poll(() => one.closed()).toBe(true);
  });

  it('a client that goes on sending after the refusal is cut off by what it sends', async () => {
    const one = await raw();
    one.socket.write(post(CONFIG_MAPS, tenant, 'transfer-encoding: chunked'));
    await expect.poll(() => one.text()).toMatch(/^HTTP\/1\.1 403 /);
    const piece = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    const send = (): void => {
      if (!one.closed()) one.socket.write(piece, () => setImmediate(send));
    };
    send();
    await expect.poll(() => one.closed()).toBe(true);
  });

  it('a body of a GET is not read, and does not hold the connection', async () => {
    const one = await raw();
    one.socket.write(post(CONFIG_MAPS, hub.token, 'content-length: 3000000', '{').replace('POST', 'GET'));
    await expect.poll(() => one.text()).toMatch(/^HTTP\/1\.1 200 /);
    await clock.advance(6_000);
    await expect.poll(() => one.closed()).toBe(true);
  });

  it('an HTTP/2 stream has its answer, and is closed a moment later', async () => {
    const one = await session();
    const stream = openStream(one, postHeaders(CONFIG_MAPS, tenant));
    stream.stream.write('{');
    await expect.poll(() => stream.status()).toBe(403);
    // Not at once: a reset would overtake the answer.
    await clock.advance(6_000);
    await expect.poll(() => stream.closed()).toBe(true);
    expect(one.destroyed).toBe(false);
  });

  it('a small body that was not read leaves the connection as it is', async () => {
    const one = await raw();
    const request = post(CONFIG_MAPS, tenant, 'content-length: 2', '{}');
    one.socket.write(request);
    await expect.poll(() => one.text()).toMatch(/^HTTP\/1\.1 403 /);
    one.socket.write(request);
    await expect.poll(() => one.text().match(/HTTP\/1\.1 403 /g)?.length).toBe(2);
    await clock.advance(6_000);
    expect(one.closed()).toBe(false);
  });
});

describe('reviews and token requests', () => {
  const kinds = [
    ['authorization.k8s.io', 'selfsubjectaccessreviews'],
    ['authorization.k8s.io', 'selfsubjectrulesreviews'],
    ['authorization.k8s.io', 'subjectaccessreviews'],
    ['authorization.k8s.io', 'namespaces/default/localsubjectaccessreviews'],
    ['authentication.k8s.io', 'selfsubjectreviews'],
    ['authentication.k8s.io', 'tokenreviews'],
  ] as const;
  it.each(kinds)('%s/%s of more than 64 KiB are refused with 413', async (group, resource) => {
    const body = ' '.repeat(64 * 1024 + 1);
    const reply = await hub.call('POST', `/apis/${group}/v1/${resource}`, { body });
    expect(reply).toMatchObject({ status: 413, body: { message: expect.stringContaining('65536') } });
  });

  it('a token request of more than 64 KiB is refused with 413', async () => {
    const path = '/api/v1/namespaces/default/serviceaccounts/default/token';
    expect((await hub.call('POST', path, { body: ' '.repeat(64 * 1024 + 1) })).status).toBe(413);
  });

  it('one without a length is refused when it has sent as much', async () => {
    const one = await session();
    const stream = openStream(one, postHeaders(REVIEWS, tenant));
    stream.stream.write(' '.repeat(64 * 1024 + 1));
    await expect.poll(() => stream.status()).toBe(413);
  });
});
