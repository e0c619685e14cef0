import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withHub } from '@berth/addon/testing';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import { systemClock as clock } from '@berth/runtime/clock/system-clock';
import { listenAt } from '@berth/runtime/http/http-listener';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authority as ofUsers, openPath } from '../../packages/access/test/access-path.ts';
import { type AskOptions, bind, request } from '../../packages/access/test/access-world.ts';
import { Callers } from '../../packages/access/src/server/ask-hub.ts';
import { CONTROL_PLANE_PROGRAMS, type ControlPlane, startControlPlane } from './peers/control-plane.ts';
import { hasPeers } from './peers/peer-programs.ts';

const DAY_MS = 86_400_000;
const WHO = {
  ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
  body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }),
};

/** A server that says which keys sign its tokens (OpenID Connect Discovery 1.0). */
async function startIssuer() {
  const [keys, others] = [await generateKeyPair('RS256'), await generateKeyPair('RS256')];
  const pair = createAuthority('issuer', Date.now());
  const serving = await new CertificateAuthority(pair).issueServing(['127.0.0.1'], Date.now(), DAY_MS);
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  let url = '';
  const server = https.createServer({ cert: serving.certPem, key: serving.keyPem }, (asked, answer) => {
    const discovery = {
      issuer: url,
      jwks_uri: `${url}/keys`,
      id_token_signing_alg_values_supported: ['RS256'],
    };
    answer.setHeader('content-type', 'application/json');
    answer.end(JSON.stringify(asked.url === '/keys' ? { keys: [jwk] } : discovery));
  });
  url = `https://${(await listenAt(server, { host: '127.0.0.1', port: 0 })).address}`;
  const sign = (name: string, { isForged = false, endsAt = '1h' } = {}) =>
    new SignJWT({ email: name, groups: ['dev', 'system:masters'] })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .setIssuer(url)
      .setSubject(name)
      .setAudience('berth')
      .setExpirationTime(endsAt)
      .sign((isForged ? others : keys).privateKey);
  return { url, caPem: pair.certPem, sign, close: () => void (server.closeAllConnections(), server.close()) };
}

describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS))('a token of an issuer that the hub trusts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-oidc-'));
  let issuer: Awaited<ReturnType<typeof startIssuer>>;
  let plane: ControlPlane;
  beforeAll(async () => {
    issuer = await startIssuer();
    writeFileSync(join(folder, 'ca.pem'), issuer.caPem);
    plane = await startControlPlane([
      ...[
        `--oidc-issuer-url=${issuer.url}`,
        '--oidc-client-id=berth',
        `--oidc-ca-file=${join(folder, 'ca.pem')}`,
      ],
      ...['--oidc-username-claim=email', '--oidc-username-prefix=oidc:', '--oidc-groups-claim=groups'],
    ]);
  });
  afterAll(async () => {
    await plane?.stop();
    issuer?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is its user in a cluster that does not know the issuer, with the rights that the cluster gives', async () => {
    const hub = new HttpKubeApi({ config: loadKubeConfig({ file: plane.kubeconfig }), clock });
    await withHub(
      async ({ cluster, kubeconfigs }) => {
        const file = kubeconfigs.clusters.get('cluster1') ?? '';
        const path = await openPath(loadKubeConfig({ file }), new Callers(hub, clock));
        const ask = (target: string, options: AskOptions) =>
          request(`${path.url}/cluster1${target}`, ofUsers.certPem, options);
        const maps = '/api/v1/namespaces/default/configmaps';
        try {
          const token = await issuer.sign('alice@example.com');
          await expect.poll(async () => (await ask('/version', { token })).status).toBe(200);
          const who = await ask('/apis/authentication.k8s.io/v1/selfsubjectreviews', { token, ...WHO });
          const { status } = JSON.parse(who.text) as {
            status: { userInfo: { username: string; groups: string[] } };
          };
          expect(status.userInfo.username).toBe('oidc:alice@example.com');
          expect(status.userInfo.groups.sort()).toEqual([
            'cluster:hub:system:masters',
            'dev',
            'system:authenticated',
          ]);
          const unbound = await ask(maps, { token });
          expect([unbound.status, unbound.text]).toEqual([
            403,
            expect.stringContaining('oidc:alice@example.com'),
          ]);
          await bind(cluster, 'view', { kind: 'Group', name: 'dev' });
          await expect.poll(async () => (await ask(maps, { token })).status).toBe(200);
          for (const refused of [
            'garbage',
            await issuer.sign('alice@example.com', { isForged: true }),
            await issuer.sign('alice@example.com', { endsAt: '1s ago' }),
          ])
            expect((await ask(maps, { token: refused })).status).toBe(401);
        } finally {
          await path.close();
          hub.close();
        }
      },
      { ocm: false },
    );
  });
});
