import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { hubAdmission } from '../../../src/controllers/admission/hub-admission.ts';
import {
  type AdmissionWebhooksOptions,
  type RunningAdmission,
  startAdmissionWebhooks,
} from '../../../src/controllers/admission/start-admission-webhooks.ts';
import { apiVersionOf, CUSTOM_RESOURCE_DEFINITION, NAMESPACE, SECRET } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { VALIDATING_CONFIGURATION } from '../../../src/core/registration/webhooks/webhook-configurations.ts';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { SteeredClock } from '../../fakes/steered-clock.ts';
import { freePort } from '../../interop/peers/free-port.ts';
import { admissionContract, makeUsers } from './admission-contract.ts';

const HOME = 'berth-system';
const NAME = { namespace: '', name: 'berth-admission' };
const SECRET_KEY = { namespace: HOME, name: 'berth-admission' };

let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
let port: number;
let berth: RunningAdmission;
const users = new Map<string, HttpKubeApi>();

function start(over: Partial<AdmissionWebhooksOptions> = {}): RunningAdmission {
  return startAdmissionWebhooks({
    hub: hub.api,
    host: '127.0.0.1',
    port,
    address: { kind: 'url', url: `https://127.0.0.1:${port}` },
    namespace: HOME,
    clock: systemClock,
    random: Math.random,
    log: new SilentLogger(),
    mayWrite: () => true,
    ...over,
  });
}

beforeAll(async () => {
  hub = await startEmbeddedHub({}, { admission: hubAdmission({ ocm: false }) });
  port = await freePort();
  const metadata = { name: HOME } as KubeObject['metadata'];
  await hub.api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata });
  berth = start();
});
afterAll(async () => {
  await berth.close();
  for (const user of users.values()) user.close();
  await hub.close();
});

const as = (user: string): HttpKubeApi => {
  const config = loadKubeConfig({ file: hub.kubeconfig });
  const known =
    users.get(user) ?? new HttpKubeApi({ config, clock: systemClock, impersonate: { user, groups: [] } });
  users.set(user, known);
  return known;
};
const world = () => ({
  admin: hub.api,
  as,
  stopBerth: () => berth.close(),
  startBerth: () => {
    berth = start();
    return Promise.resolve();
  },
});

const read = async (kind = VALIDATING_CONFIGURATION) =>
  (await hub.api.get(kind, NAME)) as unknown as
    | (KubeObject & { webhooks: { clientConfig: { caBundle: string } }[] })
    | undefined;
const caBundle = async (): Promise<string> =>
  Buffer.from((await read())?.webhooks[0]?.clientConfig.caBundle ?? '', 'base64').toString('utf8');
const secret = async (): Promise<Readonly<Record<string, string>>> => {
  const { data = {} } = ((await hub.api.get(SECRET, SECRET_KEY)) ?? {}) as { data?: Record<string, string> };
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
};

describe('on a hub that asks', () => {
  beforeAll(() => makeUsers(world()));
  admissionContract(world);
});

describe('what is asked over HTTPS', () => {
  const ask = async (
    path: string,
    body: string | Buffer,
    headers: Record<string, string> = { 'content-type': 'application/json' },
    method = 'POST',
  ): Promise<{ status: number; body: { message?: string; response?: Record<string, unknown> } }> => {
    await expect.poll(caBundle).not.toBe('');
    const ca = await caBundle();
    return await new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path, method, headers, ca }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
      });
      sent.on('error', reject);
      sent.end(body);
    });
  };
  const review = (over: object = {}) =>
    JSON.stringify({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: {
        uid: '1',
        operation: 'CREATE',
        resource: { group: 'cluster.open-cluster-management.io', version: 'v1', resource: 'managedclusters' },
        userInfo: { username: 'eve', groups: [] },
        object: { metadata: { name: 'x' }, spec: {} },
        ...over,
      },
    });

  it.each([
    { name: 'another path', path: '/', body: review(), want: 404 },
    { name: 'no JSON', path: '/admission/validate', body: '{', want: 400 },
    { name: 'a list', path: '/admission/validate', body: '[]', want: 400 },
    { name: 'another kind', path: '/admission/mutate', body: '{"kind":"Pod"}', want: 400 },
    { name: 'no uid', path: '/admission/validate', body: review({ uid: '' }), want: 400 },
    { name: 'no user', path: '/admission/validate', body: review({ userInfo: null }), want: 400 },
    { name: 'no object', path: '/admission/validate', body: review({ object: null }), want: 400 },
    {
      name: 'an update without the object before',
      path: '/admission/validate',
      body: review({ operation: 'UPDATE' }),
      want: 400,
    },
    {
      name: 'a kind without rules',
      path: '/admission/validate',
      body: review({ resource: { group: '', version: 'v1', resource: 'pods' } }),
      want: 400,
    },
    { name: 'too large', path: '/admission/validate', body: Buffer.alloc(9 << 20, ' '), want: 413 },
  ])('$name is answered with $want', async ({ path, body, want }) => {
    expect((await ask(path, body)).status).toBe(want);
  });

  it('another method and another content type are refused', async () => {
    expect((await ask('/admission/validate', '', {}, 'GET')).status).toBe(405);
    expect((await ask('/admission/validate', review(), { 'content-type': 'text/plain' })).status).toBe(415);
  });

  it('answers with the uid of the question, and a deletion and a status with yes', async () => {
    for (const over of [{ operation: 'DELETE', object: null }, { subResource: 'status' }]) {
      const { body } = await ask('/admission/validate', review(over));
      expect(body.response).toEqual({ uid: '1', allowed: true });
    }
    const joined = { object: { metadata: { name: 'x', labels: {} }, spec: { hubAcceptsClient: true } } };
    const { body } = await ask('/admission/validate?timeout=5s', review(joined));
    expect(body.response).toMatchObject({ uid: '1', allowed: false, status: { code: 403 } });
  });
});

describe('the certificate and the configurations', () => {
  it('puts back what somebody changed in a configuration', async () => {
    const live = await read();
    const [first, ...rest] = live?.webhooks ?? [];
    const changed = { ...first, clientConfig: { ...first?.clientConfig, caBundle: 'AAAA' } };
    await hub.api.update(VALIDATING_CONFIGURATION, { ...live, webhooks: [changed, ...rest] } as never);
    await berth.close();
    berth = start();
    await expect.poll(caBundle).toBe((await secret())['ca.crt']);
  });

  it('two that write at once agree on one authority, and one that may not write serves it', async () => {
    await berth.close();
    await hub.api.delete(SECRET, SECRET_KEY);
    const ports = [port, await freePort(), await freePort()];
    const running = ports.map((own, index) => start({ port: own, mayWrite: () => index < 2 }));
    await expect.poll(async () => (await secret())['tls.crt']).toBeDefined();
    await expect.poll(caBundle).toBe((await secret())['ca.crt']);
    for (const one of running.slice(0, 2)) await expect.poll(() => one.warnings()).toEqual([]);
    await Promise.all(running.map((one) => one.close()));
    berth = start();
    await expect.poll(caBundle).toBe((await secret())['ca.crt']);
  });

  it('renews the certificate in time, and changes the authority over a day in which both are trusted', async () => {
    await berth.close();
    const clock = new SteeredClock();
    berth = start({ clock });
    const before = await secret();
    const DAY_MS = 86_400_000;
    /** Each look comes a little later. */
    const soon =
      <T>(look: () => T) =>
      () => {
        clock.skip(10_000);
        return look();
      };
    const bundle = soon(caBundle);
    await expect.poll(bundle).toBe(before['ca.crt']);
    clock.skip(61 * DAY_MS);
    await expect.poll(soon(async () => (await secret())['tls.crt'])).not.toBe(before['tls.crt']);
    expect((await secret())['ca.crt']).toBe(before['ca.crt']);

    clock.skip(9 * 365 * DAY_MS);
    await expect.poll(soon(async () => (await secret())['next-ca.crt'])).toBeDefined();
    const announced = await secret();
    await expect.poll(bundle).toBe(`${announced['ca.crt']}${announced['next-ca.crt']}`);
    clock.skip(DAY_MS);
    await expect.poll(soon(async () => (await secret())['ca.crt'])).toBe(announced['next-ca.crt']);
    await expect.poll(bundle).toBe(`${announced['next-ca.crt']}${announced['ca.crt']}`);
    clock.skip(DAY_MS);
    await expect.poll(bundle).toBe(announced['next-ca.crt']);
  });

  it('converts no add-ons of the embedded hub, which does it itself', async () => {
    const name = 'managedclusteraddons.addon.open-cluster-management.io';
    const definition = await hub.api.get(CUSTOM_RESOURCE_DEFINITION, { namespace: '', name });
    expect(definition?.['spec']).toMatchObject({ conversion: { strategy: 'None' } });
    expect(definition?.metadata.managedFields).toBeUndefined();
  });

  it('leaves a Secret of somebody else alone, and says so', async () => {
    await berth.close();
    await hub.api.delete(SECRET, SECRET_KEY);
    const metadata = SECRET_KEY as unknown as KubeObject['metadata'];
    const typed = { apiVersion: apiVersionOf(SECRET), kind: 'Secret', metadata };
    await hub.api.create(SECRET, { ...typed, data: { own: 'AAAA' } });
    berth = start();
    await expect
      .poll(() => berth.warnings().join())
      .toMatch(/Secret berth-system\/berth-admission: is not Berth's: it has no label berth\.dev\//);
    expect(Object.keys(await secret())).toEqual(['own']);
  });
});
