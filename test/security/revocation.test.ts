import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../src/app/cli/program.ts';
import { TokenFile } from '../../src/hub/auth/token-file.ts';
import { issueKubeconfig } from '../../src/hub/maintenance/issue-kubeconfig.ts';
import { makeCliIo } from '../app/cli-harness.ts';
import { SilentLogger } from '../fakes/silent-logger.ts';
import { SteeredClock } from '../fakes/steered-clock.ts';
import { startTestHub, type TestHub } from '../hub/hub-harness.ts';

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
    expect(stderr()).toContain('holds no hub');
    rmSync(empty, { recursive: true });
  });
});
