import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { makeCliIo } from '../../app/cli-harness.ts';
import type { TestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';

let directory: string;
let hub: TestHub;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'berth-care-'));
  hub = await startTestHub({ members: ['east'] });
  for (const prefix of ['', '/clusters/east'])
    await hub.call('POST', `${prefix}/api/v1/namespaces/default/configmaps`, {
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept' }, data: { where: prefix } },
    });
});
afterEach(async () => {
  await hub.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function berth(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const { io, stdout, stderr } = makeCliIo();
  const code = await runCli(args, io);
  return { code, out: stdout(), err: stderr() };
}

const file = () => join(directory, 'hub.backup');

describe('backup and restore', () => {
  it('carry everything, keys and tokens too, into a hub whose versions are all newer', async () => {
    const before = await hub.call('GET', '/api/v1/namespaces/default/configmaps/kept');
    const backup = await berth('hub', 'backup', '--data', hub.dataDir, file());
    expect(backup).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^hub: \d+ objects.*\neast: \d+ objects/),
    });
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    const later = await hub.call('PATCH', '/api/v1/namespaces/default/configmaps/kept', {
      type: 'application/merge-patch+json',
      body: { data: { lost: 'yes' } },
    });
    const dataDir = join(directory, 'new');
    expect(await berth('hub', 'restore', '--data', dataDir, file())).toMatchObject({ code: 0 });
    const restored = await startTestHub({ dataDir, members: ['east'] });
    const read = await restored.call('GET', '/api/v1/namespaces/default/configmaps/kept', {
      token: hub.token,
    });
    expect(read.body).toEqual(before.body);
    expect(restored.hub.caPem).toBe(hub.hub.caPem);
    const list = await restored.call('GET', '/api/v1/configmaps');
    expect(Number(list.body.metadata.resourceVersion)).toBeGreaterThan(
      Number(later.body.metadata.resourceVersion),
    );
    const stale = await restored.watch(
      `/api/v1/configmaps?watch=true&resourceVersion=${later.body.metadata.resourceVersion as string}`,
    );
    expect((await stale.next()).object.code).toBe(410);
    await restored.stop();
  });

  it('refuse a target that is not empty, and a file that is damaged', async () => {
    await berth('hub', 'backup', '--data', hub.dataDir, file());
    expect(await berth('hub', 'restore', '--data', hub.dataDir, file())).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not empty'),
    });
    const bytes = readFileSync(file());
    writeFileSync(file(), bytes.subarray(0, bytes.length - 20));
    const target = join(directory, 'other');
    expect(await berth('hub', 'restore', '--data', target, file())).toMatchObject({
      code: 1,
      err: expect.stringContaining('cannot be read as a backup'),
    });
    expect(existsSync(target)).toBe(false);
  });
});

describe('check', () => {
  it('says good beside a running hub, and names what is damaged', async () => {
    expect(await berth('hub', 'check', '--data', hub.dataDir)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/hub: good, \d+ objects at version \d+\neast: good/),
    });
    await hub.hub.close();
    const log = join(
      hub.dataDir,
      'hub',
      readdirSync(join(hub.dataDir, 'hub')).find((name) => name.startsWith('log-')) ?? '',
    );
    const bytes = readFileSync(log);
    bytes[Math.floor(bytes.length / 2)] = 0x00;
    writeFileSync(log, bytes);
    const damaged = await berth('hub', 'check', '--data', hub.dataDir, '-o', 'json');
    expect(damaged.code).toBe(1);
    expect(JSON.parse(damaged.out)[0].problems[0]).toContain('is damaged at byte');
    await expect(startTestHub({ dataDir: hub.dataDir })).rejects.toThrow('is damaged at byte');
    expect(readFileSync(log).equals(bytes)).toBe(true);
  });

  it('refuses a directory that contains no hub', async () => {
    expect(await berth('hub', 'check', '--data', directory)).toMatchObject({
      code: 1,
      err: expect.stringContaining('contains no hub'),
    });
  });
});

describe('compact', () => {
  it('leaves a snapshot and an empty log, and works only while the hub is down', async () => {
    expect(await berth('hub', 'compact', '--data', hub.dataDir)).toMatchObject({
      code: 1,
      err: expect.stringContaining('is in use'),
    });
    await hub.hub.close();
    expect((await berth('hub', 'compact', '--data', hub.dataDir)).code).toBe(0);
    const files = readdirSync(join(hub.dataDir, 'hub'));
    expect(files.filter((name) => name.startsWith('log-'))).toHaveLength(1);
    await hub.restart();
    expect((await hub.call('GET', '/api/v1/namespaces/default/configmaps/kept')).status).toBe(200);
  });
});

describe('kubeconfig', () => {
  it('makes a user that a running hub knows at once, by token or by certificate', async () => {
    const byToken = await berth(
      'hub',
      'kubeconfig',
      '--data',
      hub.dataDir,
      '--user',
      'alice',
      '--group',
      'system:masters',
    );
    const token = /token: (\S+)/.exec(byToken.out)?.[1] ?? '';
    expect((await hub.call('GET', '/api/v1/secrets', { token })).status).toBe(200);
    const byCertificate = await berth(
      'hub',
      'kubeconfig',
      '--data',
      hub.dataDir,
      '--user',
      'bob',
      '--certificate-days',
      '1',
      '--cluster',
      'east',
    );
    const part = (name: string) =>
      Buffer.from(new RegExp(`${name}: (\\S+)`).exec(byCertificate.out)?.[1] ?? '', 'base64').toString();
    const credentials = { token: null, cert: part('client-certificate-data'), key: part('client-key-data') };
    expect((await hub.call('GET', '/clusters/east/api', credentials)).status).toBe(200);
    expect((await hub.call('GET', '/clusters/east/api/v1/secrets', credentials)).status).toBe(403);
    expect(byCertificate.out).toContain(`${hub.hub.url}/clusters/east`);
  });

  it.each([
    [['--user', 'x', '--cluster', 'north'], 'expected one of hub, east'],
    [['--user', 'x', '--certificate-days', 'many'], 'expected a whole number from 1 to 9999'],
  ])('refuses %j', async (args, message) => {
    expect(await berth('hub', 'kubeconfig', '--data', hub.dataDir, ...args)).toMatchObject({
      code: 1,
      err: expect.stringContaining(message),
    });
  });
});

describe('flags of berth hub', () => {
  it.each([
    [['--listen', 'nonsense'], 'expected HOST:PORT'],
    [['--listen', '127.0.0.1:99999'], 'expected HOST:PORT'],
    [['--members', 'a,,b'], 'expected a number, or different names'],
    [['--members', 'a,a'], 'expected a number, or different names'],
    [['--members', 'Bad_Name', '--listen', '127.0.0.1:0'], 'expected a DNS label'],
    [['--members', '100000'], 'at most 1000'],
    [['--max-connections', '0'], 'expected a whole number from 1 to 9999999'],
    [['--max-connections-per-address', 'many'], 'expected a whole number from 1 to 9999999'],
    [['--audit', 'some'], 'expected off, writes or all'],
  ])('%j is refused', async (args, message) => {
    expect(await berth('hub', '--data', join(directory, 'd'), ...args)).toMatchObject({
      code: 1,
      err: expect.stringContaining(message),
    });
    expect(existsSync(join(directory, 'd', 'pki'))).toBe(false);
  });
});
