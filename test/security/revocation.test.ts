import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createHmac } from 'node:crypto';
import { connect as connectHttp2 } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import express from 'express';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BearerTokens } from '../../plugin/tokens/bearer-tokens.ts';
import { GETPARAMS_PATH, GetparamsEndpoint } from '../../plugin/getparams-endpoint.ts';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { MemoryPluginSource } from '../fakes/memory-plugin-source.ts';
import { type HttpListener, listenHttp } from '@berth/runtime/http/http-listener';
import type { ControllerHttpOptions } from '../../src/app/serve/http/controller-http-options.ts';
import { webhookRoute } from '../../src/app/serve/http/webhook-route.ts';
import { runCli } from '../../src/app/cli/program.ts';
import { TokenFile } from '../../packages/embedded-hub/src/auth/tokens/token-file.ts';
import { issueKubeconfig } from '@berth/embedded-hub/maintenance/issue-kubeconfig';
import { makeCliIo } from '../app/cli-harness.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { SteeredClock } from '../fakes/steered-clock.ts';
import { startTestHub, type TestHub } from '../../packages/embedded-hub/test/hub-harness.ts';

const LISTS = '/api/v1/namespaces/default/configmaps';
const REVOKED_WITHIN_MS = 5_000;
const ALL = { name: 'everything', groups: ['system:masters'] };

describe('a credential of the hub that was revoked', () => {
  let clock: SteeredClock;
  let log: SilentLogger;
  let hub: TestHub;
  let tokenFile: string;
  let alice: string;
  beforeEach(async () => {
    clock = new SteeredClock();
    log = new SilentLogger();
    hub = await startTestHub({ clock, log });
    tokenFile = join(hub.dataDir, 'tokens.json');
    alice = tokenOf('alice');
  });
  afterEach(() => hub.stop());

  /** As `berth hub kubeconfig` in a process of its own would. */
  function tokenOf(name: string): string {
    return new TokenFile(tokenFile).issue({ ...ALL, name });
  }
  const statusWith = async (token: string): Promise<number> =>
    (await hub.call('GET', LISTS, { token })).status;
  const berth = async (args: readonly string[], stdin = '') => {
    const { io, stdout, stderr } = makeCliIo({ stdin: Readable.from([stdin]) });
    const code = await runCli(['hub', 'revoke', '--data', hub.dataDir, ...args], io);
    return { code, stdout: stdout(), stderr: stderr() };
  };
  const problems = () =>
    log.entries.filter(({ message }) => message === 'secret file cannot be used').map(({ fields }) => fields);

  it.each<[string, () => void]>([
    ['is taken out of the token file', () => void new TokenFile(tokenFile).revoke('alice')],
    ['goes with an emptied token file', () => truncateSync(tokenFile)],
    ['goes with a deleted token file', () => rmSync(tokenFile)],
    ['goes with a token file that is half written', () => writeFileSync(tokenFile, '{"version": 1, "tok')],
    [
      'goes with a token file that is JSON of something else',
      () => writeFileSync(tokenFile, '{"tokens": 1}'),
    ],
  ])('a token that %s is refused, though no unknown token is sent', async (_name, revoke) => {
    expect(await statusWith(alice)).toBe(200);
    revoke();
    clock.skip(REVOKED_WITHIN_MS);
    await expect.poll(() => statusWith(alice)).toBe(401);
  });

  it('a broken token file denies everybody, is logged once, and counts again when it is whole', async () => {
    const whole = readFileSync(tokenFile);
    expect(await statusWith(alice)).toBe(200);
    writeFileSync(tokenFile, '');
    clock.skip(REVOKED_WITHIN_MS);
    await expect.poll(() => statusWith(alice)).toBe(401);
    expect(await statusWith(hub.token)).toBe(401);
    clock.skip(REVOKED_WITHIN_MS);
    expect(await statusWith(alice)).toBe(401);
    expect(problems()).toEqual([expect.objectContaining({ file: tokenFile, without: expect.any(String) })]);
    writeFileSync(tokenFile, whole);
    clock.skip(REVOKED_WITHIN_MS);
    await expect.poll(() => statusWith(alice)).toBe(200);
  });

  it('a pipe in the place of the token file denies and does not stop the hub', async () => {
    expect(await statusWith(alice)).toBe(200);
    rmSync(tokenFile);
    execFileSync('mkfifo', [tokenFile]);
    clock.skip(REVOKED_WITHIN_MS);
    await expect.poll(() => statusWith(alice)).toBe(401);
    expect((await hub.call('GET', '/readyz', { token: null })).status).toBe(200);
  });

  it('ends the watches that run with it, and no others', async () => {
    const bob = tokenOf('bob');
    const revoked = await hub.watch(`${LISTS}?watch=true`, { token: alice });
    const kept = await hub.watch(`${LISTS}?watch=true`, { token: bob });
    const ended = revoked.rest().then(
      () => 'ended',
      () => 'ended',
    );
    expect(await berth(['--user', 'alice'])).toMatchObject({ code: 0 });
    clock.skip(REVOKED_WITHIN_MS);
    expect(await ended).toBe('ended');
    const name = 'after-the-revocation';
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
    expect((await hub.call('POST', LISTS, { body, token: bob })).status).toBe(201);
    for (;;) if ((await kept.next()).object.metadata.name === name) break;
    kept.close();
  });

  it('loses an HTTP/2 connection that proved it, and the watch on it', async () => {
    const session = connectHttp2(hub.hub.url, { ca: hub.hub.caPem });
    const open = (path: string) => session.request({ ':path': path, authorization: `Bearer ${alice}` });
    const statusOver = (path: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const stream = open(path);
        stream.on('response', (headers) => resolve(Number(headers[':status'])));
        stream.on('error', reject);
        stream.resume();
      });
    expect(await statusOver(LISTS)).toBe(200);
    const watch = open(`${LISTS}?watch=true`);
    const ended = new Promise<void>((resolve) => watch.on('close', resolve));
    watch.on('error', () => undefined);
    await new Promise((resolve) => watch.once('response', resolve));
    watch.resume();
    expect(await berth(['--user', 'alice'])).toMatchObject({ code: 0 });
    clock.skip(REVOKED_WITHIN_MS);
    await ended;
    await expect.poll(() => statusOver(LISTS)).toBe(401);
    session.destroy();
  });

  it('berth hub revoke --token-file takes one token of a user and leaves the others', async () => {
    const other = tokenOf('alice');
    expect(await berth(['--token-file', '-'], `${alice}\n`)).toMatchObject({
      code: 0,
      stdout: 'alice: 1 token(s) revoked\n',
    });
    clock.skip(REVOKED_WITHIN_MS);
    await expect.poll(() => statusWith(alice)).toBe(401);
    expect(await statusWith(other)).toBe(200);
    expect(await berth(['--token-file', '-'], alice)).toMatchObject({ code: 2 });
  });

  it('a client certificate is refused too, one that is issued afterwards is not', async () => {
    const before = await certificateOf('alice');
    expect((await hub.call('GET', LISTS, before)).status).toBe(200);
    new TokenFile(tokenFile).revoke('alice');
    expect(await berth(['--user', 'alice'])).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('alice: certificates and service account tokens issued until now are'),
    });
    const after = await certificateOf('alice');
    clock.skip(REVOKED_WITHIN_MS);
    await expect.poll(async () => (await hub.call('GET', LISTS, before)).status).toBe(401);
    expect((await hub.call('GET', LISTS, after)).status).toBe(200);
    // Who deletes or empties the list brings no certificate back.
    rmSync(join(hub.dataDir, 'revocations.json'));
    clock.skip(REVOKED_WITHIN_MS);
    await expect.poll(() => problems().map(({ what }) => what)).toContain('revocations');
    expect((await hub.call('GET', LISTS, before)).status).toBe(401);
    const seen = log.entries.length;
    await berth(['--user', 'bob']);
    clock.skip(REVOKED_WITHIN_MS);
    const readAgain = { level: 'info', message: 'secret file was read again' };
    const fields = expect.objectContaining({ what: 'revocations' }) as object;
    await expect.poll(() => log.entries.slice(seen)).toContainEqual({ ...readAgain, fields });
    expect((await hub.call('GET', LISTS, before)).status).toBe(401);
  });

  async function certificateOf(user: string): Promise<{ cert: string; key: string; token: null }> {
    const request = { dataDir: hub.dataDir, user, groups: ALL.groups, cluster: '', certificateDays: 1 };
    const text = await issueKubeconfig(request, Date.now());
    const part = (name: string): string =>
      Buffer.from(new RegExp(`${name}: (\\S+)`).exec(text)?.[1] ?? '', 'base64').toString('utf8');
    return { cert: part('client-certificate-data'), key: part('client-key-data'), token: null };
  }

  it('stays refused after a restart, and a broken list of revocations is no empty one', async () => {
    const before = await certificateOf('alice');
    await berth(['--user', 'alice']);
    await hub.restart();
    expect((await hub.call('GET', LISTS, before)).status).toBe(401);
    writeFileSync(join(hub.dataDir, 'revocations.json'), '');
    await expect(hub.restart()).rejects.toThrow(/revocations\.json: is not a list of revocations/);
    rmSync(join(hub.dataDir, 'revocations.json'));
    await hub.restart();
  });

  it('a service account token that was signed before is refused, one signed later is not', async () => {
    const account = '/api/v1/namespaces/default/serviceaccounts';
    const metadata = { name: 'deployer' };
    await hub.call('POST', account, { body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata } });
    const signed = async (): Promise<string> => {
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
      return (await hub.call('POST', `${account}/deployer/token`, { body })).body.status.token as string;
    };
    const before = await signed();
    expect(await statusWith(before)).toBe(403);
    await berth(['--user', 'system:serviceaccount:default:deployer']);
    clock.skip(REVOKED_WITHIN_MS);
    await expect.poll(() => statusWith(before)).toBe(401);
    expect(await statusWith(await signed())).toBe(403);
  });

  it('does not come back with a token that another process issues at the same time', () => {
    const issuer = new TokenFile(tokenFile);
    new TokenFile(tokenFile).revoke('alice');
    issuer.issue({ ...ALL, name: 'carol' });
    expect(new TokenFile(tokenFile).find(alice)).toBeUndefined();
  });

  it.each([
    ['neither a user nor a token', []],
    ['both', ['--user', 'alice', '--token-file', '-']],
    ['an empty user', ['--user', '']],
    ['no token in the file', ['--token-file', '-']],
    ['a file that is not there', ['--token-file', '/nonexistent/token']],
  ])('berth hub revoke with %s is an error and revokes nothing', async (_name, args) => {
    const files = () => readFileSync(tokenFile, 'utf8');
    const before = files();
    expect(await berth(args)).toMatchObject({ code: 1 });
    expect(files()).toBe(before);
  });

  it('berth hub revoke in a directory without a hub is an error and makes no file', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'berth-no-hub-'));
    const { io, stderr } = makeCliIo();
    expect(await runCli(['hub', 'revoke', '--data', empty, '--user', 'alice'], io)).toBe(1);
    expect(stderr()).toContain('contains no hub');
    rmSync(empty, { recursive: true });
  });
});

describe('a secret that left its file while berth serve runs', () => {
  let dir: string;
  let nowMs: number;
  let log: SilentLogger;
  let listener: HttpListener;
  const file = () => join(dir, 'secrets');
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'berth-secrets-'));
    nowMs = 1_000_000;
    log = new SilentLogger();
    writeFileSync(file(), `${KEPT}\n${GONE}\n`);
    const clock = { now: () => nowMs, schedule: () => () => undefined };
    const tokens = new BearerTokens({ file: file(), clock, log });
    const endpoint = new GetparamsEndpoint({ source: nothingYet(), tokens, clock: systemClock });
    const options = { clock, log, http: { webhookSecretFiles: { github: file(), gitlab: file() } } };
    const webhooks = webhookRoute({ options, loops: [] } as unknown as ControllerHttpOptions);
    const app = express().use('/webhooks', webhooks);
    listener = await listenHttp({ host: '127.0.0.1', port: 0 }, async (request, response) => {
      if (request.url?.endsWith(GETPARAMS_PATH) === true) return endpoint.handle(request, response);
      app(request, response);
    });
  });
  afterEach(async () => {
    await listener.close();
    rmSync(dir, { recursive: true });
  });

  const post = async (path: string, headers: Record<string, string>, body = '{}'): Promise<number> =>
    (await fetch(`${listener.url}${path}`, { method: 'POST', headers, body })).status;
  const ask = (token: string) => post(GETPARAMS_PATH, { authorization: `Bearer ${token}` });
  const deliver = (secret: string) =>
    post('/webhooks/github', {
      'x-github-event': 'ping',
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update('{}').digest('hex')}`,
    });
  /** 400: an accepted token with a body that asks for nothing. */
  const accepted = async (secret: string) => ({
    plugin: (await ask(secret)) === 400,
    webhook: (await deliver(secret)) === 202,
    gitlab:
      (await post('/webhooks/gitlab', { 'x-gitlab-token': secret, 'x-gitlab-event': 'Ping Hook' })) === 202,
  });
  const ALL_ACCEPT = { plugin: true, webhook: true, gitlab: true };
  const ALL_REFUSE = { plugin: false, webhook: false, gitlab: false };

  it('is refused within five seconds, though no unknown one is sent', async () => {
    expect(await accepted(GONE)).toEqual(ALL_ACCEPT);
    writeFileSync(file(), `${KEPT}\n`);
    nowMs += REVOKED_WITHIN_MS;
    expect(await accepted(GONE)).toEqual(ALL_REFUSE);
    expect(await accepted(KEPT)).toEqual(ALL_ACCEPT);
  });

  it('is refused when the new file has the size and the time of the old one', async () => {
    expect(await accepted(GONE)).toEqual(ALL_ACCEPT);
    const { atime, mtime } = statSync(file());
    writeFileSync(file(), `${KEPT}\n${GONE.replace('x', 'y')}\n`);
    utimesSync(file(), atime, mtime);
    nowMs += REVOKED_WITHIN_MS;
    expect(await accepted(GONE)).toEqual(ALL_REFUSE);
  });

  it('is refused when the clock is set back', async () => {
    expect(await accepted(GONE)).toEqual(ALL_ACCEPT);
    writeFileSync(file(), `${KEPT}\n`);
    nowMs -= 900_000;
    expect(await accepted(GONE)).toEqual(ALL_REFUSE);
  });

  it.each<[string, () => void]>([
    ['emptied', () => truncateSync(file())],
    ['left with blank lines', () => writeFileSync(file(), '\n \n\n')],
    ['deleted', () => rmSync(file())],
    [
      'turned into a directory',
      () => {
        rmSync(file());
        mkdirSync(file());
      },
    ],
    [
      'turned into a pipe',
      () => {
        rmSync(file());
        execFileSync('mkfifo', [file()]);
      },
    ],
    ['grown beyond all measure', () => writeFileSync(file(), `${KEPT}\n`.repeat(100_000))],
  ])(
    'nothing is accepted once the file is %s, which is logged once; a whole file counts again',
    async (_name, harm) => {
      expect(await accepted(KEPT)).toEqual(ALL_ACCEPT);
      harm();
      for (const wait of [REVOKED_WITHIN_MS, REVOKED_WITHIN_MS]) {
        nowMs += wait;
        expect(await accepted(KEPT)).toEqual(ALL_REFUSE);
      }
      const said = log.entries.filter(({ message }) => message === 'secret file cannot be used');
      expect(said.map(({ fields }) => fields['what']).sort()).toEqual([
        'bearer tokens',
        'webhook secrets',
        'webhook secrets',
      ]);
      rmSync(file(), { recursive: true, force: true });
      writeFileSync(file(), `${KEPT}\n`);
      nowMs += REVOKED_WITHIN_MS;
      expect(await accepted(KEPT)).toEqual(ALL_ACCEPT);
    },
  );

  it('is refused when a mounted Secret changes: a link to a folder that is swapped', async () => {
    const mount = join(dir, 'mount');
    const publish = (version: string, secrets: readonly string[]): void => {
      mkdirSync(join(mount, version), { recursive: true });
      writeFileSync(join(mount, version, 'tokens'), secrets.join('\n'));
      symlinkSync(version, join(mount, '..data_tmp'));
      renameSync(join(mount, '..data_tmp'), join(mount, '..data'));
    };
    publish('..v1', [KEPT, GONE]);
    symlinkSync('..data/tokens', join(mount, 'tokens'));
    rmSync(file());
    symlinkSync(join(mount, 'tokens'), file());
    nowMs += REVOKED_WITHIN_MS;
    expect(await accepted(GONE)).toEqual(ALL_ACCEPT);
    publish('..v2', [KEPT]);
    nowMs += REVOKED_WITHIN_MS;
    expect(await accepted(GONE)).toEqual(ALL_REFUSE);
    expect(await accepted(KEPT)).toEqual(ALL_ACCEPT);
  });

  it('never appears in the log', async () => {
    await ask(GONE);
    writeFileSync(file(), `${KEPT} ${GONE}\n`);
    nowMs += REVOKED_WITHIN_MS;
    await ask(GONE);
    expect(log.entries.length).toBeGreaterThan(0);
    expect(JSON.stringify(log.entries)).not.toMatch(new RegExp(`${KEPT}|${GONE}`));
  });
});

const KEPT = 'a-token-that-is-kept-x';
const GONE = 'a-token-that-goes-xxxx';
const nothingYet = (): MemoryPluginSource => {
  const source = new MemoryPluginSource();
  source.trouble = 'nothing was read';
  return source;
};
