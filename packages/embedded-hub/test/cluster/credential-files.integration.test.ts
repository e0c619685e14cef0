import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import type { KeyUsage } from '@berth/kube/x509/certificate-authority';
import { createAuthority, type PemPair } from '@berth/kube/x509/self-signed-authority';
import { startHub } from '../../src/start-hub.ts';
import type { TestHub } from '../hub-harness.ts';
import { startTestHub } from '../hub-harness.ts';

const DAY_MS = 86_400_000;
const REVIEW = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const ISSUER = 'https://issuer.example.com';
const NAMES = { commonName: 'carol', organizations: ['devs'] };

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const authority = createAuthority('given', Date.now());
const issuing = new CertificateAuthority(authority);

let directory: string;
const file = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};
beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'berth-given-'))));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A client certificate with these key usages alone. */
async function certificate(keyUsages: readonly KeyUsage[], lifetimeMs = DAY_MS): Promise<PemPair> {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicKeyDer = keys.publicKey.export({ type: 'spki', format: 'der' });
  const request = { subject: NAMES, publicKeyDer, keyUsages, lifetimeMs };
  const keyPem = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { certPem: await issuing.signClientKey(request, Date.now()), keyPem };
}

const whoIs = async (server: TestHub, options: object): Promise<unknown> => {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const answer = await server.call('POST', REVIEW, { body, token: null, ...options });
  return answer.status === 201 ? answer.body.status.userInfo : answer.status;
};
const shown = ({ certPem: cert, keyPem: key }: PemPair): object => ({ cert, key });
const CAROL = { username: 'carol', groups: ['devs', 'system:authenticated'] };

describe('a hub with the authorities, tokens and keys of others', () => {
  let server: TestHub;
  beforeAll(async () => {
    const given = {
      clientCa: file(
        'ca.crt',
        `# authorities\n${createAuthority('other', Date.now()).certPem}${authority.certPem}`,
      ),
      tokens: file('tokens.csv', 'secret,dave,17,"devs,ops"\n\nplain,erin,18\n,nobody,19\n'),
      tokenKeys: [file('sa.pub', publicKey.export({ type: 'spki', format: 'pem' }).toString())],
      tokenIssuers: [ISSUER],
    };
    server = await startTestHub({ providedFiles: given, members: ['east'] });
  });
  afterAll(() => server.stop());

  it.each<readonly [string, readonly KeyUsage[]]>([
    ['with both usages', ['digital signature', 'key encipherment']],
    ['without digitalSignature', ['key encipherment']],
    ['without key usages', []],
  ])('takes a client certificate %s, as Go does', async (_title, usages) => {
    expect(await whoIs(server, shown(await certificate(usages)))).toEqual(CAROL);
  });

  it('refuses certificates that an authority of no list issued, and serving certificates', async () => {
    const strangers = new CertificateAuthority(createAuthority('given', Date.now()));
    expect(await whoIs(server, shown(await strangers.issueClient(NAMES, Date.now(), DAY_MS)))).toBe(401);
    expect(await whoIs(server, shown(await issuing.issueServing(['localhost'], Date.now(), DAY_MS)))).toBe(
      401,
    );
  });

  it('refuses a certificate that has ended', async () => {
    expect(await whoIs(server, shown(await certificate([], -1000)))).toBe(401);
  });

  it('takes the static tokens, with uid and groups', async () => {
    expect(await whoIs(server, { token: 'secret' })).toEqual({
      username: 'dave',
      uid: '17',
      groups: ['devs', 'ops', 'system:authenticated'],
    });
    expect(await whoIs(server, { token: 'plain' })).toMatchObject({ username: 'erin' });
    expect(await whoIs(server, { token: 'wrong' })).toBe(401);
  });

  it('takes ServiceAccount tokens that others signed, of an issuer that was named', async () => {
    const path = '/api/v1/namespaces/default/serviceaccounts';
    const made = await server.call('POST', path, { body: { metadata: { name: 'robot' } } });
    const { uid } = made.body.metadata;
    const token = (issuer: string, account: object): Promise<string> =>
      new SignJWT({ 'kubernetes.io': { namespace: 'default', serviceaccount: account } })
        .setProtectedHeader({ alg: 'RS256' })
        .setIssuer(issuer)
        .setAudience(issuer)
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(privateKey);
    const robot = { name: 'robot', uid };
    expect(await whoIs(server, { token: await token(ISSUER, robot) })).toMatchObject({
      username: 'system:serviceaccount:default:robot',
    });
    expect(await whoIs(server, { token: await token('https://other', robot) })).toBe(401);
    expect(await whoIs(server, { token: await token(ISSUER, { ...robot, uid: 'gone' }) })).toBe(401);
  });

  it('gives none of them to a member', async () => {
    const path = `/clusters/east${REVIEW}`;
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const pair = await certificate(['digital signature']);
    for (const options of [{ token: 'secret' }, { token: null, ...shown(pair) }])
      expect((await server.call('POST', path, { body, ...options })).status).toBe(401);
  });

  it('follows the file of authorities', async () => {
    const pair = await certificate(['digital signature']);
    file('ca.crt', createAuthority('other', Date.now()).certPem);
    await expect.poll(() => whoIs(server, shown(pair))).toBe(401);
    file('ca.crt', authority.certPem);
    await expect.poll(() => whoIs(server, shown(pair))).toEqual(CAROL);
  });
});

describe('a hub with a serving certificate of others', () => {
  let server: TestHub | undefined;
  afterEach(() => server?.stop());

  it('serves with it, and says so to clients', async () => {
    const pair = await issuing.issueServing(['127.0.0.1'], Date.now(), DAY_MS);
    const serving = {
      certificate: file('tls.crt', pair.certPem + authority.certPem),
      key: file('tls.key', pair.keyPem),
    };
    server = await startTestHub({ providedFiles: { serving } });
    expect(server.hub.caPem).toContain(authority.certPem.trim());
    expect((await server.call('GET', '/api')).status).toBe(200);
  });
});

describe('files that cannot be used', () => {
  const stray = createAuthority('stray', Date.now());
  it.each([
    ['authorities', () => ({ clientCa: file('empty.crt', '') }), /contains no certificate/],
    ['missing authorities', () => ({ clientCa: join(directory, 'none.crt') }), /cannot be read/],
    ['tokens', () => ({ tokens: file('short.csv', 'a,b\n') }), /expected token,user,uid/],
    ['token keys', () => ({ tokenKeys: [file('no.key', 'text')] }), /contains no key/],
    [
      'a key of another certificate',
      () => ({
        serving: { certificate: file('a.crt', authority.certPem), key: file('a.key', stray.keyPem) },
      }),
      /is not the key of the certificate/,
    ],
  ])('%s refuse the start', async (name, given, message) => {
    const dataDir = join(directory, `data ${name}`);
    await expect(startHub({ dataDir, providedFiles: given() })).rejects.toThrow(message);
  });
});

it('issues its certificate for further names and addresses', async () => {
  const server = await startTestHub({ tlsNames: ['hub.example.org', '192.0.2.7'] });
  try {
    const { hostname, port } = new URL(server.hub.url);
    const options = { host: hostname, port: Number(port), rejectUnauthorized: false };
    const names = await new Promise<string | undefined>((resolve, reject) => {
      const socket = connect(options, () => {
        resolve(socket.getPeerX509Certificate()?.subjectAltName);
        socket.destroy();
      });
      socket.on('error', reject);
    });
    expect(names).toContain('DNS:hub.example.org');
    expect(names).toContain('IP Address:192.0.2.7');
  } finally {
    await server.stop();
  }
});
