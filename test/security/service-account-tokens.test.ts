import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServiceAccountTokens } from '../../packages/embedded-hub/src/auth/tokens/service-account-tokens.ts';
import type { Logger } from '@berth/runtime/logger';
import { SILENT_LOG } from '@berth/runtime/logger';
import type { TestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { as, grant } from './role-of.ts';

const SECRETS = '/api/v1/namespaces/team/secrets';
const ACCOUNTS = '/api/v1/namespaces/team/serviceaccounts';
const YEAR_SECONDS = 365 * 86_400;

const secret = (name: string, account: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/service-account-token',
  metadata: { name, annotations: { 'kubernetes.io/service-account.name': account } },
});

async function startWithAccount(options: { readonly legacyTokenSecrets?: boolean }): Promise<TestHub> {
  const hub = await startTestHub({ members: ['east'], ...options });
  for (const at of ['', '/clusters/east']) {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } };
    await hub.call('POST', `${at}/api/v1/namespaces`, { body: namespace });
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'boss' } };
    await hub.call('POST', `${at}${ACCOUNTS}`, { body: account });
  }
  return hub;
}

async function tokenIn(hub: TestHub, name: string): Promise<string> {
  const read = async () =>
    (await hub.call('GET', `${SECRETS}/${name}`)).body.data?.token as string | undefined;
  await expect.poll(read).toBeDefined();
  return Buffer.from((await read()) ?? '', 'base64').toString();
}

const statusWith = async (hub: TestHub, token: string): Promise<number> =>
  (await hub.call('GET', '/api', { token })).status;

/** A token as the hub signs them, with a lifetime of choice. */
async function signedToken(hub: TestHub, lifetimeSeconds: number): Promise<string> {
  const keyPem = readFileSync(join(hub.dataDir, 'pki', 'service-account.key'), 'utf8');
  const tokens = new ServiceAccountTokens('https://kubernetes.default.svc', keyPem);
  const { uid } = (await hub.call('GET', `${ACCOUNTS}/boss`)).body.metadata;
  const issuedAt = Math.floor(Date.now() / 1000);
  const subject = { namespace: 'team', name: 'boss', uid: uid as string };
  return tokens.issue(subject, [], { issuedAt, expiresAt: issuedAt + lifetimeSeconds });
}

describe('without legacy token Secrets, which is the default,', () => {
  let hub: TestHub;
  beforeAll(async () => {
    hub = await startWithAccount({});
  });
  afterAll(() => hub.stop());

  it('who may make Secrets does not get the token of a ServiceAccount by it', async () => {
    const verbs = ['create', 'get', 'patch'];
    const rules = [{ apiGroups: [''], resources: ['secrets'], verbs }];
    await grant(hub, { kind: 'User', name: 'mallory' }, { namespace: 'team' }, rules);
    const headers = as('mallory');
    const made = await hub.call('POST', SECRETS, { headers, body: secret('loot', 'boss') });
    expect(made.status).toBe(201);
    expect(made.headers['warning']).toContain('--legacy-token-secrets');
    // The root certificate of a later namespace comes from the same controllers: by then the Secret has been seen.
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'later' } };
    await hub.call('POST', '/api/v1/namespaces', { body });
    const rootOfLater = '/api/v1/namespaces/later/configmaps/kube-root-ca.crt';
    await expect.poll(async () => (await hub.call('GET', rootOfLater)).status).toBe(200);
    expect((await hub.call('GET', `${SECRETS}/loot`, { headers })).body.data).toBeUndefined();
  });

  it.each([
    [3600, 200],
    [YEAR_SECONDS, 200],
    [YEAR_SECONDS + 1, 401],
    [10 * YEAR_SECONDS, 401],
  ])('a token of %i seconds gets %i', async (lifetimeSeconds, status) => {
    expect(await statusWith(hub, await signedToken(hub, lifetimeSeconds))).toBe(status);
  });

  it('no token that is asked for lives longer than a year', async () => {
    const reply = await hub.call('POST', `${ACCOUNTS}/boss/token`, {
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { expirationSeconds: 10 * YEAR_SECONDS },
      },
    });
    expect(reply.body.spec.expirationSeconds).toBe(YEAR_SECONDS);
    expect(await statusWith(hub, reply.body.status.token as string)).toBe(200);
  });
});

describe('with legacy token Secrets', () => {
  it('a Secret gets its token, which ends with the Secret', async () => {
    const hub = await startWithAccount({ legacyTokenSecrets: true });
    expect((await hub.call('POST', SECRETS, { body: secret('robot', 'boss') })).headers['warning']).toBe(
      undefined,
    );
    const token = await tokenIn(hub, 'robot');
    expect(await statusWith(hub, token)).toBe(200);
    expect((await hub.call('GET', '/clusters/east/api', { token })).status).toBe(401);
    await hub.call('DELETE', `${SECRETS}/robot`);
    expect(await statusWith(hub, token)).toBe(401);
    await hub.stop();
  });

  it('switched off later, the tokens are refused, and the log says which Secrets hold them', async () => {
    const hub = await startWithAccount({ legacyTokenSecrets: true });
    await hub.call('POST', SECRETS, { body: secret('robot', 'boss') });
    const token = await tokenIn(hub, 'robot');
    const warnings: unknown[] = [];
    const log: Logger = {
      ...SILENT_LOG,
      warn: (_message, fields) => warnings.push(fields),
      child: () => log,
    };
    await hub.restart({ legacyTokenSecrets: false, log });
    expect(await statusWith(hub, token)).toBe(401);
    expect(warnings).toContainEqual({ count: 1, first: ['team/robot'] });
    await hub.restart({ legacyTokenSecrets: true });
    expect(await statusWith(hub, token)).toBe(200);
    await hub.stop();
  });
});
