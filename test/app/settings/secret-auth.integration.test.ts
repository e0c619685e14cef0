import { SECRET, kind } from '@berth/kube/model/kinds';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { GitProgramMirror } from '../../../packages/git-reader/src/program/git-program-mirror.ts';
import { SecretAuth } from '../../../src/app/settings/secret-auth.ts';
import { serveHttp, serveSsh } from '../../../packages/git-reader/test/git-servers.ts';
import { GitFixture, tempDir } from '../../../packages/git-reader/test/git-fixture.ts';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { startForge } from '../../../packages/forge/test/fakes/forge-server.ts';
import { findProgram } from '@berth/test-kit/needed-program';

const KEY = { namespace: 'berth-system', name: 'git' };

describe('credentials from a Secret on the hub', () => {
  let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  let fixture: GitFixture;
  const dir = path.join(mkdtempSync(path.join(tmpdir(), 'berth-secret-')), 'credentials');
  const close: (() => unknown)[] = [];
  beforeAll(async () => {
    hub = await startEmbeddedHub();
    const namespace = kind('', 'v1', 'Namespace', 'Cluster');
    await hub.api.create(namespace, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: KEY.namespace },
    });
    fixture = new GitFixture();
    fixture.commit({ 'a.yaml': 'a' });
  });
  afterEach(async () => {
    for (const one of close.splice(0).reverse()) await one();
    await hub.api.delete(SECRET, KEY);
  });
  afterAll(async () => {
    await hub.close();
    fixture.remove();
    rmSync(path.dirname(dir), { recursive: true, force: true });
  });

  const put = async (values: Record<string, string>) => {
    await hub.api.delete(SECRET, KEY);
    const data = Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    );
    await hub.api.create(SECRET, { apiVersion: 'v1', kind: 'Secret', metadata: KEY, data });
  };
  const secretAuth = () => {
    const secret = new SecretAuth({ api: hub.api, key: KEY, dir, nowMs: () => Date.now() });
    close.push(() => secret.close());
    return secret;
  };
  const mirrorOf = async (url: string) => {
    const secret = secretAuth();
    const auth = { type: 'provider', get: () => secret.get() } as const;
    const mirror = await GitProgramMirror.open({ url, mirrorDir: tempDir(), ambient: process.env, auth });
    close.push(() => mirror.close());
    return mirror;
  };

  it('a user and password fetch, and a rotated Secret counts at the next fetch', async () => {
    const server = await serveHttp(fixture.dir, {
      credentials: { username: 'bot', password: 'new pässword' },
    });
    close.push(server.close);
    await put({ username: 'bot', password: 'old' });
    const mirror = await mirrorOf(server.url);
    await expect(mirror.fetch({ type: 'head' })).rejects.toMatchObject({
      name: 'InputError',
      code: 'git.auth',
    });
    await put({ username: 'bot', password: 'new pässword' });
    expect(await mirror.fetch({ type: 'head' })).toBe(fixture.tip('main'));
  });

  it('a bearer token goes as one', async () => {
    const seen: (string | undefined)[] = [];
    const server = await serveHttp(fixture.dir, {
      intercept: (request) => {
        seen.push(request.headers.authorization);
        return false;
      },
    });
    close.push(server.close);
    await put({ bearerToken: 't0ken\n' });
    await (await mirrorOf(server.url)).fetch({ type: 'head' });
    expect(new Set(seen)).toEqual(new Set(['Bearer t0ken']));
  });

  const sshd = findProgram('sshd');
  it.runIf(sshd !== undefined).each(['identity', 'ssh-privatekey'])(
    'an ssh key as %s with known_hosts fetches, and leaves no key behind',
    async (name) => {
      const server = await serveSsh(fixture.dir, sshd ?? '');
      close.push(server.close);
      await put({
        // As `kubectl create secret --from-literal` leaves it.
        [name]: readFileSync(server.keyFile, 'utf8').trimEnd(),
        known_hosts: readFileSync(server.knownHostsFile, 'utf8'),
      });
      const mirror = await mirrorOf(server.url);
      expect(await mirror.fetch({ type: 'head' })).toBe(fixture.tip('main'));
      expect(statSync(path.join(dir, 'identity')).mode & 0o777).toBe(0o600);
      for (const one of close.splice(0).reverse()) await one();
      expect(existsSync(dir)).toBe(false);
    },
  );

  it('an ssh key is no token, and asking for one touches no file that git may be using', async () => {
    await put({ identity: 'x', known_hosts: 'y' });
    await expect(secretAuth().token()).rejects.toMatchObject({
      code: 'git.credentials',
      message: expect.stringContaining('ssh key') as string,
    });
    expect(existsSync(dir)).toBe(false);
  });

  it('a GitHub App gives a token, kept until it ends or the Secret changes', async () => {
    const forge = await startForge((count) => ({
      status: 201,
      body: { token: `t${count}`, expires_at: new Date(Date.now() + 3_600_000).toISOString() },
    }));
    close.push(forge.close);
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const values = {
      githubAppID: '42',
      githubAppInstallationID: '7',
      githubAppPrivateKey: privateKey.export({ type: 'pkcs1', format: 'pem' }) as string,
      githubAppBaseURL: forge.apiUrl,
    };
    await put(values);
    const secret = secretAuth();
    expect(await secret.get()).toEqual({ type: 'password', username: 'x-access-token', password: 't1' });
    expect(await secret.token()).toBe('t1');
    await put({ ...values, githubAppInstallationID: '8' });
    expect(await secret.token()).toBe('t2');
    expect(forge.seen.map(({ url }) => url)).toEqual([
      '/app/installations/7/access_tokens',
      '/app/installations/8/access_tokens',
    ]);
  });

  it.each<[string, Record<string, string> | undefined, string]>([
    ['that is not there', undefined, 'does not exist'],
    ['without a key that is known', { pasword: 'x' }, 'contains none of the known keys'],
    ['with an ssh key and nobody to trust', { identity: 'x' }, 'without known_hosts'],
    ['with half a GitHub App', { githubAppID: '1' }, 'without githubAppInstallationID'],
    [
      'with a key that is none',
      { githubAppID: '1', githubAppInstallationID: '2', githubAppPrivateKey: 'x' },
      'private key cannot be read',
    ],
  ])('a Secret %s is an error that names it', async (_name, values, message) => {
    if (values !== undefined) await put(values);
    await expect(secretAuth().get()).rejects.toMatchObject({
      name: 'InputError',
      code: 'git.credentials',
      message: expect.stringContaining(message) as string,
    });
  });

  it('a user and password are read without the line break that files end with', async () => {
    await put({ username: 'bot\n', password: ' pass word \r\n' });
    const secret = secretAuth();
    expect(await secret.get()).toEqual({ type: 'password', username: 'bot', password: ' pass word ' });
    expect(await secret.token()).toBe(' pass word ');
  });

  it('an ssh key for an https URL, or a password for plain http elsewhere, is refused before it is sent', async () => {
    await put({ identity: 'x', known_hosts: 'y' });
    await expect((await mirrorOf('https://127.0.0.1:1/x.git')).fetch({ type: 'head' })).rejects.toMatchObject(
      {
        code: 'git.auth-mismatch',
      },
    );
    await put({ password: 'x' });
    await expect(
      (await mirrorOf('http://git.example.org/x.git')).fetch({ type: 'head' }),
    ).rejects.toMatchObject({
      code: 'git.auth-mismatch',
    });
  });
});
