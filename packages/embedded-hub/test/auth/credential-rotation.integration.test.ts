import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import type { KubeConfig } from '@berth/kube/config/kube-config';
import type { ExecPluginConfig } from '../../../kube/src/exec/exec-credential.ts';
import { ExecPlugin } from '../../../kube/src/exec/exec-plugin.ts';
import { KubeConnection } from '../../../kube/src/transport/kube-connection.ts';
import type { KubeResponse } from '../../../kube/src/transport/kube-transport.ts';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority, type PemPair } from '@berth/kube/x509/self-signed-authority';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { type RecordingApiServer, startRecordingApiServer } from '../fakes/recording-api-server.ts';

const DAY_MS = 86_400_000;
const A_MINUTE_MS = 60_000;
const V1 = 'client.authentication.k8s.io/v1';

const nowMs = Date.now();
const authority = new CertificateAuthority(createAuthority('rotation', nowMs));
let serving: PemPair;
let people: readonly PemPair[];
let server: RecordingApiServer;
let folder: string;
let clock: FakeClock;
let connections: KubeConnection[];
/** How often a connection reported that no credentials are accepted. */
let refusals: number;

beforeAll(async () => {
  serving = await authority.issueServing(['127.0.0.1'], nowMs, DAY_MS);
  people = await Promise.all(
    ['one', 'two'].map((commonName) =>
      authority.issueClient({ commonName, organizations: [] }, nowMs, DAY_MS),
    ),
  );
  server = await startRecordingApiServer(serving);
});
afterAll(() => server.close());
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'berth-rotation-'));
  clock = new FakeClock();
  connections = [];
  refusals = 0;
  server.refuses([]);
  server.taken();
  put('ca.crt', authority.certPem);
});
afterEach(() => {
  for (const connection of connections) connection.close();
  rmSync(folder, { recursive: true, force: true });
});

const at = (name: string): string => path.join(folder, name);
const put = (name: string, text: string): void => writeFileSync(at(name), text);
const person = (which: number): PemPair => people[which] ?? { certPem: '', keyPem: '' };
const bearer = (token: string): object => ({ authorization: [`Bearer ${token}`] });

function config(user: object, port = server.port): KubeConfig {
  const cluster = { server: `https://127.0.0.1:${port}`, 'certificate-authority': 'ca.crt' };
  const document = {
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'hub', user: 'me' } }],
    clusters: [{ name: 'hub', cluster }],
    users: [{ name: 'me', user }],
  };
  put('config', JSON.stringify(document));
  return loadKubeConfig({ file: at('config') });
}

function connect(kubeconfig: KubeConfig): KubeConnection {
  const connection = new KubeConnection({
    config: kubeconfig,
    clock,
    requestTimeoutMs: PATIENCE_MS,
    userAgent: 'berth',
    impersonate: undefined,
    outage: {
      answered: () => undefined,
      failed: () => undefined,
      refused: () => (refusals += 1),
    },
  });
  connections.push(connection);
  return connection;
}

async function ask(connection: KubeConnection): Promise<number> {
  const response = await connection.open({ method: 'GET', path: '/version' });
  response.body.resume();
  return response.statusCode;
}

const whoAsked = () => server.taken().map(({ headers, certificate }) => certificate ?? headers);

describe('a token file', () => {
  it('is read again within a minute', async () => {
    put('token', 'first');
    const connection = connect(config({ tokenFile: 'token' }));
    await ask(connection);
    put('token', 'second\n');
    await clock.advance(A_MINUTE_MS);
    await ask(connection);
    expect(whoAsked()).toEqual([bearer('first'), bearer('second')]);
  });

  it('is read at once when the server refuses the token, and the request is sent once more', async () => {
    put('token', 'first');
    const connection = connect(config({ tokenFile: 'token' }));
    await ask(connection);
    put('token', 'second');
    server.refuses(['Bearer first']);
    expect(await ask(connection)).toBe(200);
    expect(whoAsked()).toEqual([bearer('first'), bearer('first'), bearer('second')]);
    expect(refusals).toBe(0);
  });

  it('that is refused after it was read again is reported', async () => {
    put('token', 'first');
    const connection = connect(config({ tokenFile: 'token' }));
    await ask(connection);
    put('token', 'second');
    server.refuses(['Bearer first', 'Bearer second']);
    expect(await ask(connection)).toBe(401);
    expect(refusals).toBe(1);
  });

  it('that says the same is no reason to send the request again', async () => {
    put('token', 'first');
    server.refuses(['Bearer first']);
    const connection = connect(config({ tokenFile: 'token' }));
    expect(await ask(connection)).toBe(401);
    expect(whoAsked()).toEqual([bearer('first')]);
    expect(refusals).toBe(1);
  });

  it.each([
    { name: 'is empty', spoil: () => put('token', '') },
    { name: 'is gone', spoil: () => rmSync(at('token')) },
  ])('that $name for a while leaves the last token in use', async ({ spoil }) => {
    put('token', 'first');
    const connection = connect(config({ tokenFile: 'token' }));
    await ask(connection);
    spoil();
    await clock.advance(A_MINUTE_MS);
    await ask(connection);
    put('token', 'second');
    await clock.advance(A_MINUTE_MS);
    await ask(connection);
    expect(whoAsked()).toEqual([bearer('first'), bearer('first'), bearer('second')]);
  });

  it('that is gone when the server refuses the token is named', async () => {
    put('token', 'first');
    const connection = connect(config({ tokenFile: 'token' }));
    await ask(connection);
    rmSync(at('token'));
    server.refuses(['Bearer first']);
    await expect(ask(connection)).rejects.toMatchObject({
      code: 'kube.unauthorized',
      message: expect.stringMatching(
        /^GET \/version: the server answered 401, and other credentials could not be obtained: .*ENOENT.*token'$/,
      ) as string,
    });
    expect(refusals).toBe(1);
  });
});

describe('certificates', () => {
  const user = { 'client-certificate': 'me.crt', 'client-key': 'me.key' };
  const write = (cert: number, key = cert): void => {
    put('me.crt', person(cert).certPem);
    put('me.key', person(key).keyPem);
  };

  it('that change are used by new requests, while a watch goes on over its own connection', async () => {
    write(0);
    const connection = connect(config(user));
    const watch = await connection.open({ method: 'GET', path: '/watch' });
    const heard = hear(watch);
    write(1);
    await clock.advance(A_MINUTE_MS);
    expect(await ask(connection)).toBe(200);
    server.tellWatchers('still here');
    await expect.poll(() => heard.text).toContain('still here');
    expect(whoAsked()).toEqual(['one', 'two']);
  });

  it('are read at once when the server refuses them', async () => {
    write(0);
    const connection = connect(config(user));
    await ask(connection);
    write(1);
    server.refuses(['one']);
    expect(await ask(connection)).toBe(200);
    expect(whoAsked()).toEqual(['one', 'one', 'two']);
  });

  it('are not mixed: a new certificate waits for its key', async () => {
    write(0);
    const connection = connect(config(user));
    await ask(connection);
    write(1, 0);
    await clock.advance(A_MINUTE_MS);
    await ask(connection);
    write(1);
    await clock.advance(A_MINUTE_MS);
    await ask(connection);
    expect(whoAsked()).toEqual(['one', 'one', 'two']);
  });

  it('that are replaced as the kubelet replaces a Secret are used', async () => {
    const publish = (version: string, which: number): void => {
      mkdirSync(at(version));
      put(`${version}/me.crt`, person(which).certPem);
      put(`${version}/me.key`, person(which).keyPem);
      symlinkSync(version, at('data.new'));
      renameSync(at('data.new'), at('data'));
    };
    publish('v1', 0);
    const connection = connect(config({ 'client-certificate': 'data/me.crt', 'client-key': 'data/me.key' }));
    await ask(connection);
    publish('v2', 1);
    await clock.advance(A_MINUTE_MS);
    await ask(connection);
    expect(whoAsked()).toEqual(['one', 'two']);
  });

  it('of a new authority of the server are taken from its file', async () => {
    const other = new CertificateAuthority(createAuthority('next', nowMs));
    const moved = await startRecordingApiServer(await other.issueServing(['127.0.0.1'], nowMs, DAY_MS));
    try {
      const connection = connect(config({ token: 't' }, moved.port));
      await expect(ask(connection)).rejects.toThrow('unable to verify the first certificate');
      put('ca.crt', authority.certPem + other.certPem);
      await clock.advance(A_MINUTE_MS);
      expect(await ask(connection)).toBe(200);
    } finally {
      await moved.close();
    }
  });
});

describe('an exec plugin', () => {
  const exec = { apiVersion: V1, interactiveMode: 'Never', command: './plugin' };
  const plugin = (body: string): void => {
    put('plugin', `#!/bin/sh\ncd "${folder}"\necho $$ >> runs\n${body}\n`);
    chmodSync(at('plugin'), 0o755);
  };
  const prints = (token: string, expiresAtMs?: number): void => {
    const expirationTimestamp = expiresAtMs === undefined ? undefined : new Date(expiresAtMs).toISOString();
    put(
      'credential',
      JSON.stringify({ kind: 'ExecCredential', apiVersion: V1, status: { token, expirationTimestamp } }),
    );
  };
  const runs = (): readonly number[] =>
    existsSync(at('runs')) ? readFileSync(at('runs'), 'utf8').trim().split('\n').map(Number) : [];

  it('runs once for all who ask at the same time, and for all clients of a kubeconfig', async () => {
    plugin('cat credential');
    prints('first');
    const kubeconfig = config({ exec });
    const [one, two] = [connect(kubeconfig), connect(kubeconfig)];
    await Promise.all([ask(one), ask(one), ask(two), ask(two)]);
    await clock.advance(10 * A_MINUTE_MS);
    await ask(one);
    expect(runs()).toHaveLength(1);
  });

  it('runs again when what it printed has expired', async () => {
    plugin('cat credential');
    prints('first', clock.now() + A_MINUTE_MS);
    const connection = connect(config({ exec }));
    await ask(connection);
    prints('second');
    await clock.advance(A_MINUTE_MS - 1000);
    await ask(connection);
    await clock.advance(2000);
    await ask(connection);
    expect(whoAsked()).toEqual([bearer('first'), bearer('first'), bearer('second')]);
    expect(runs()).toHaveLength(2);
  });

  it('runs again when the server refuses what it printed, once for all clients, and the request is sent once more', async () => {
    plugin('cat credential');
    prints('first');
    const kubeconfig = config({ exec });
    const [one, two] = [connect(kubeconfig), connect(kubeconfig)];
    await Promise.all([ask(one), ask(two)]);
    prints('second');
    server.refuses(['Bearer first']);
    expect(await ask(one)).toBe(200);
    expect(await ask(two)).toBe(200);
    expect(runs()).toHaveLength(2);
  });

  it('that fails when the server refuses what it printed is named', async () => {
    plugin('cat credential');
    prints('s3cret');
    const connection = connect(config({ exec }));
    await ask(connection);
    plugin('echo s3cret; exit 7');
    server.refuses(['Bearer s3cret']);
    const failed = ask(connection);
    await expect(failed).rejects.toThrow(
      `the server answered 401, and other credentials could not be obtained: user "me" of the kubeconfig: ` +
        `exec plugin "${at('plugin')}" ended with exit code 7`,
    );
    await expect(failed).rejects.not.toThrow(/s3cret/);
  });

  it('that hangs is given up after a minute, with what it started', async () => {
    plugin('sleep 100000 & echo $! >> runs; wait');
    const connection = connect(config({ exec }));
    const failed = expect(ask(connection)).rejects.toThrow(
      `user "me" of the kubeconfig: exec plugin "${at('plugin')}" did not end within 60 s`,
    );
    await expect.poll(runs).toHaveLength(2);
    await clock.advance(A_MINUTE_MS);
    await failed;
    await expect.poll(() => runs().filter(isAlive)).toEqual([]);
  });

  it('ends with the client that waits for it', async () => {
    plugin('sleep 100000 & echo $! >> runs; wait');
    const connection = connect(config({ exec }));
    const failed = ask(connection).catch(String);
    await expect.poll(runs).toHaveLength(2);
    connection.close();
    expect(await failed).toMatch(/the client was closed/);
    await expect.poll(() => runs().filter(isAlive)).toEqual([]);
  });

  it('goes on while anybody waits for it', async () => {
    plugin('sleep 100000 & echo $! >> runs; wait');
    const { users } = config({ exec });
    const shared = new ExecPlugin({
      user: 'me',
      config: users[0]?.exec as ExecPluginConfig,
      env: process.env,
      isTerminal: () => false,
    });
    const [one, two] = [new AbortController(), new AbortController()];
    const asked = [one, two].map(({ signal }) =>
      shared.credential({ clock, cluster: { server: '' }, signal }).catch(String),
    );
    await expect.poll(runs).toHaveLength(2);
    one.abort(new Error('one left'));
    expect(await asked[0]).toBe('Error: one left');
    expect(runs().filter(isAlive)).toEqual(runs());
    two.abort(new Error('two left'));
    expect(await asked[1]).toBe('Error: two left');
    await expect.poll(() => runs().filter(isAlive)).toEqual([]);
  });

  it('that prints without end is stopped', async () => {
    plugin('yes s3cret');
    const failed = ask(connect(config({ exec })));
    await expect(failed).rejects.toThrow(/plugin" printed more than 1048576 bytes$/);
  });
});

function hear({ body }: KubeResponse): { text: string } {
  const heard = { text: '' };
  body.on('data', (chunk: Buffer) => (heard.text += chunk.toString('utf8')));
  body.on('error', () => undefined);
  return heard;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie has ended, and waits for who started it.
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}
