import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { KubeConnection } from '../../packages/kube/src/transport/kube-connection.ts';
import { readBody } from '../../packages/kube/src/transport/response-body.ts';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { startRecordingProxies } from '../fakes/recording-proxies.ts';
import type { LooseJson } from '../../packages/embedded-hub/test/loose-json.ts';
import { type ControlPlane, CONTROL_PLANE_PROGRAMS, startControlPlane } from './peers/control-plane.ts';
import { hasPeers } from './peers/peer-programs.ts';

const DAY_MS = 86_400_000;
const ACCOUNT = '/api/v1/namespaces/default/serviceaccounts/berth';
const SECRETS = '/api/v1/namespaces/default/secrets';
const REVIEW = {
  method: 'POST',
  path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
  body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }),
};

describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS))('kubeconfigs on a real kube-apiserver', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-interop-kubeconfig-'));
  const nowMs = Date.now();
  const authority = new CertificateAuthority(createAuthority('people', nowMs));
  const put = (name: string, text: string): void => writeFileSync(path.join(folder, name), text);
  /** Time stands still: what is read again, is read because the server refused. */
  const clock = new FakeClock(nowMs);
  let real: ControlPlane;
  let connection: KubeConnection | undefined;

  beforeAll(async () => {
    put('people.crt', authority.certPem);
    real = await startControlPlane([`--client-ca-file=${path.join(folder, 'people.crt')}`]);
    await create('/api/v1/namespaces/default/serviceaccounts', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'berth' },
    });
  });
  afterEach(() => {
    connection?.close();
    connection = undefined;
  });
  afterAll(async () => {
    await real?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function create(where: string, object: object): Promise<LooseJson> {
    const { status, body } = await real.client.call('POST', where, object);
    expect(status).toBe(201);
    return body;
  }

  /** A token that is worth nothing without its Secret. */
  async function tokenOf(secret: string): Promise<string> {
    await create(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata: { name: secret } });
    const { status } = await create(`${ACCOUNT}/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 3600, boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: secret } },
    });
    return status.token as string;
  }

  function connect(user: object, cluster: object = {}): void {
    const authorityData = Buffer.from(real.caPem).toString('base64');
    const text = {
      'current-context': 'here',
      contexts: [{ name: 'here', context: { cluster: 'hub', user: 'me' } }],
      clusters: [
        {
          name: 'hub',
          cluster: { server: real.url, 'certificate-authority-data': authorityData, ...cluster },
        },
      ],
      users: [{ name: 'me', user }],
    };
    put('config', JSON.stringify(text));
    connection = new KubeConnection({
      config: loadKubeConfig({ file: path.join(folder, 'config') }),
      clock,
      requestTimeoutMs: PATIENCE_MS,
      userAgent: 'berth',
      impersonate: undefined,
    });
  }

  /** Who the server says that we are; the status when it does not know us. */
  async function whoAmI(): Promise<LooseJson> {
    if (connection === undefined) throw new Error('not connected');
    const response = await connection.open(REVIEW);
    const answer: LooseJson = JSON.parse(await readBody(response, REVIEW, PATIENCE_MS));
    return response.statusCode === 201 ? answer.status.userInfo : response.statusCode;
  }

  it('a token file is read again when its token is revoked', async () => {
    put('token', await tokenOf('first'));
    connect({ tokenFile: 'token' });
    expect(await whoAmI()).toMatchObject({ username: 'system:serviceaccount:default:berth' });
    await real.client.call('DELETE', `${SECRETS}/first`);
    // The server keeps for some seconds that a token was good.
    await expect.poll(whoAmI).toBe(401);
    put('token', await tokenOf('second'));
    expect(await whoAmI()).toMatchObject({ username: 'system:serviceaccount:default:berth' });
  });

  it('an exec plugin runs again when its token is revoked', async () => {
    const print = (token: string): void => {
      const credential = {
        kind: 'ExecCredential',
        apiVersion: 'client.authentication.k8s.io/v1',
        status: { token },
      };
      put('plugin', `#!/bin/sh\necho '${JSON.stringify(credential)}'\n`);
      chmodSync(path.join(folder, 'plugin'), 0o755);
    };
    print(await tokenOf('third'));
    const apiVersion = 'client.authentication.k8s.io/v1';
    connect({ exec: { apiVersion, interactiveMode: 'Never', command: './plugin' } });
    expect(await whoAmI()).toMatchObject({ username: 'system:serviceaccount:default:berth' });
    await real.client.call('DELETE', `${SECRETS}/third`);
    await expect.poll(whoAmI).toBe(401);
    print(await tokenOf('fourth'));
    expect(await whoAmI()).toMatchObject({ username: 'system:serviceaccount:default:berth' });
  });

  it('a certificate that was replaced is used', async () => {
    const write = async (commonName: string): Promise<void> => {
      const pair = await authority.issueClient({ commonName, organizations: ['team'] }, nowMs, DAY_MS);
      put('me.crt', pair.certPem);
      put('me.key', pair.keyPem);
    };
    await write('jane');
    connect({ 'client-certificate': 'me.crt', 'client-key': 'me.key' });
    expect(await whoAmI()).toMatchObject({ username: 'jane', groups: ['team', 'system:authenticated'] });
    await write('joe');
    await clock.advance(60_000);
    expect(await whoAmI()).toMatchObject({ username: 'joe' });
  });

  it('requests act as the user, UID, groups and extra of the kubeconfig', async () => {
    connect({
      token: real.token,
      as: 'jane',
      'as-uid': '17',
      'as-groups': ['team', 'a b'],
      'as-user-extra': { 'example.com/Fünf%': ['x', 'y'] },
    });
    expect(await whoAmI()).toEqual({
      username: 'jane',
      uid: '17',
      groups: ['team', 'a b', 'system:authenticated'],
      extra: { 'example.com/fünf%': ['x', 'y'] },
    });
  });

  it.each(['http', 'https', 'socks5'] as const)('a %s proxy leads there', async (scheme) => {
    const serving = await authority.issueServing(['127.0.0.1'], nowMs, DAY_MS);
    const proxies = await startRecordingProxies(serving);
    try {
      const ports = { http: proxies.httpPort, https: proxies.httpsPort, socks5: proxies.socksPort };
      const both = Buffer.from(real.caPem + authority.certPem).toString('base64');
      connect(
        { token: real.token },
        { 'certificate-authority-data': both, 'proxy-url': `${scheme}://me:pw@127.0.0.1:${ports[scheme]}` },
      );
      expect(await whoAmI()).toMatchObject({ username: 'admin' });
      expect(proxies.taken()).toMatchObject([{ proxy: scheme, login: 'me:pw' }]);
    } finally {
      connection?.close();
      await proxies.close();
    }
  });
});
