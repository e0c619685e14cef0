import type { ClientHttp2Session } from 'node:http2';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock } from '@berth/test-kit/fake-clock';
import type { TestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { connectRaw, connectSession, metricOf, openStream, tokenOf } from './raw-client.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const LARGE = '/api/v1/namespaces/large/configmaps';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';

let clock: FakeClock;
let hub: TestHub;
/** A user without rights, and one who may read ConfigMaps. */
let tenant: string;
let reader: string;
const open: { destroy(): void }[] = [];

beforeAll(async () => {
  clock = new FakeClock(Date.now());
  hub = await startTestHub({ clock, audit: 'off' });
  tenant = await tokenOf(hub, 'tenant');
  reader = await tokenOf(hub, 'reader');
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }];
  await hub.call('POST', `${RBAC}/clusterroles`, {
    body: { apiVersion, kind: 'ClusterRole', metadata: { name: 'reader' }, rules },
  });
  await hub.call('POST', `${RBAC}/clusterrolebindings`, {
    body: {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
      subjects: ['reader', 'other'].map((name) => ({
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'User',
        name,
      })),
    },
  });
  await hub.call('POST', '/api/v1/namespaces', {
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'large' } },
  });
  for (let index = 0; index < 20; index += 1)
    await hub.call('POST', LARGE, {
      body: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `c${String(index)}` },
        data: { text: 'x'.repeat(900_000) },
      },
    });
});
afterEach(() => {
  for (const one of open.splice(0)) one.destroy();
});
afterAll(() => hub.stop());

async function session(settings = {}): Promise<ClientHttp2Session> {
  const one = await connectSession(hub, settings);
  open.push(one);
  return one;
}

const get = (path: string, token: string) => ({ ':path': path, authorization: `Bearer ${token}` });

async function expectServing(): Promise<void> {
  expect((await hub.call('GET', '/readyz', { token: null })).status).toBe(200);
  expect((await hub.call('GET', CONFIG_MAPS)).status).toBe(200);
  expect((await hub.call('GET', CONFIG_MAPS, { token: await tokenOf(hub, 'other') })).status).toBe(200);
}

/** Nobody takes a byte of an answer over such a connection, beyond its headers. */
const NOTHING_READ = { initialWindowSize: 0 };

describe('answers that are not taken', () => {
  it('200 OpenAPI documents, of a user without rights: refused beyond 64 MiB, cut after a minute', async () => {
    const one = await session(NOTHING_READ);
    const document = '/openapi/v3/apis/apps/v1';
    const bytes = (await hub.call('GET', document)).text.length;
    const streams = Array.from({ length: 200 }, () =>
      openStream(one, get(document, tenant), { end: true, unread: true }),
    );
    await expect.poll(() => streams.every((stream) => stream.status() !== undefined)).toBe(true);
    const given = streams.filter((stream) => stream.status() === 200).length;
    expect(given * bytes).toBeLessThanOrEqual(64 * 1024 * 1024);
    await expectServing();
    await clock.advance(61_000);
    await expect.poll(() => streams.every((stream) => stream.closed())).toBe(true);
    await expectServing();
  });

  it('200 large lists, of a user who may list, hold nobody up and are cut after a minute', async () => {
    const one = await session(NOTHING_READ);
    const streams = Array.from({ length: 200 }, () =>
      openStream(one, get(LARGE, reader), { end: true, unread: true }),
    );
    // Node closes streams by itself once their session holds 100 MB.
    await expect.poll(() => streams.every((one) => one.status() !== undefined || one.closed())).toBe(true);
    await expectServing();
    await clock.advance(61_000);
    await expect.poll(() => streams.every((stream) => stream.closed())).toBe(true);
  });

  it('an answer over HTTP/1.1 is cut after a minute, too', async () => {
    const one = await connectRaw(hub);
    open.push(one.socket);
    one.socket.pause();
    one.socket.write(`GET ${LARGE} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${reader}\r\n\r\n`);
    const executing = 'berth_hub_connections';
    await expect.poll(() => metricOf(hub, executing)).toBeGreaterThan(1);
    const before = await metricOf(hub, executing);
    await clock.advance(61_000);
    await expect.poll(() => metricOf(hub, executing)).toBeLessThan(before);
  });
});

describe('watches', () => {
  const WATCH = `${CONFIG_MAPS}?watch=true&resourceVersion=0`;

  it('are 500 for a user; more are refused, and another user has its own', async () => {
    const one = await session();
    const streams = Array.from({ length: 520 }, () => openStream(one, get(WATCH, reader), { end: true }));
    await expect.poll(() => streams.every((stream) => stream.status() !== undefined)).toBe(true);
    expect(streams.filter((stream) => stream.status() === 429)).toHaveLength(20);
    const other = await session();
    const own = openStream(other, get(WATCH, await tokenOf(hub, 'other')), { end: true });
    await expect.poll(() => own.status()).toBe(200);
    one.destroy();
    await expect.poll(() => metricOf(hub, 'berth_hub_watches{priority_level="global-default"}')).toBe(1);
  });

  it('with a large state that is not taken are cut when 64 MiB of it wait', async () => {
    const one = await session(NOTHING_READ);
    const path = `${LARGE}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;
    const streams = Array.from({ length: 40 }, () =>
      openStream(one, get(path, reader), { end: true, unread: true }),
    );
    await expect.poll(() => streams.filter((stream) => stream.closed()).length).toBeGreaterThan(10);
    await expectServing();
    const other = await session();
    const own = openStream(other, get(path, await tokenOf(hub, 'other')), { end: true });
    await expect.poll(() => own.text().includes('initial-events-end')).toBe(true);
  });
});

describe('one user with many requests', () => {
  it.each([200, 5_000])('%i pipelined on one connection: others are served meanwhile', async (count) => {
    const one = await connectRaw(hub);
    open.push(one.socket);
    const line = `GET ${CONFIG_MAPS} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${tenant}\r\n\r\n`;
    one.socket.write(line.repeat(count));
    await expectServing();
    // Node closes a connection that sends too many before it takes an answer.
    const answered = () => one.text().match(/HTTP\/1\.1 (403|429) /g)?.length;
    await expect.poll(() => one.closed() || answered() === count).toBe(true);
    await expectServing();
  });

  it('has no second share under the names that it impersonates', async () => {
    await hub.call('POST', `${RBAC}/clusterroles`, {
      body: {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'actor' },
        rules: [{ apiGroups: [''], resources: ['users'], verbs: ['impersonate'] }],
      },
    });
    await hub.call('POST', `${RBAC}/clusterrolebindings`, {
      body: {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'actor' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'actor' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'actor' }],
      },
    });
    const token = await tokenOf(hub, 'actor');
    const one = await session();
    const streams = Array.from({ length: 300 }, (_, index) =>
      openStream(one, {
        ...get('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', token),
        ':method': 'POST',
        'content-type': 'application/json',
        'impersonate-user': `someone-${String(index)}`,
      }),
    );
    for (const { stream } of streams) stream.write('{');
    await expect.poll(() => streams.filter((stream) => stream.status() === 429).length).toBe(100);
  });
});
