import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../src/app/cli/program.ts';
import { decodeRecord, encodeLine, encodeRecord } from '../../packages/embedded-hub/src/log/log-record.ts';
import { makeCliIo } from '../app/cli-harness.ts';
import { makeEarlierDataDirectory } from '../../packages/embedded-hub/test/fakes/earlier-data-directory.ts';
import type { TestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../packages/embedded-hub/test/hub-harness.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

let hub: TestHub;
let running: boolean;
let aside: string;
beforeEach(async () => {
  aside = mkdtempSync(join(tmpdir(), 'berth-aside-'));
  hub = await startTestHub({ members: ['east', 'west'] });
  running = true;
  await make('one');
});
afterEach(async () => {
  if (running) await hub.hub.close();
  for (const directory of [hub.dataDir, aside]) rmSync(directory, { recursive: true, force: true });
});

async function make(name: string): Promise<void> {
  const reply = await hub.call('POST', CONFIG_MAPS, {
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } },
  });
  expect(reply.status).toBe(201);
}

async function stop(): Promise<void> {
  await hub.hub.close();
  running = false;
}

/** Two snapshots, and segments before, between and after them. */
async function grow(): Promise<void> {
  for (const name of ['two', 'three']) {
    await hub.hub.compact();
    await make(name);
  }
}

const at = (...parts: string[]) => join(hub.dataDir, ...parts);
const files = (prefix: string, cluster = 'hub') =>
  readdirSync(at(cluster))
    .filter((name) => name.startsWith(prefix))
    .sort()
    .map((name) => at(cluster, name));
const last = (paths: readonly string[]) => paths.at(-1) ?? '';

async function berth(...args: string[]): Promise<{ code: number; text: string }> {
  const { io, stdout, stderr } = makeCliIo();
  const code = await runCli(args, io);
  return { code, text: `${stdout()}${stderr()}` };
}

/** `berth hub check` and a start both refuse, name what is wrong, and change nothing. */
async function expectRefused(what: string | RegExp): Promise<void> {
  const before = contents(hub.dataDir);
  const check = await berth('hub', 'check', '--data', hub.dataDir);
  expect(check.text).toMatch(what);
  expect(check.code).toBe(1);
  await expect(hub.restart()).rejects.toThrow(what);
  // The list of clusters is noted before the logs of an earlier version are read; the next start refuses as well.
  await expect(hub.restart()).rejects.toThrow(what);
  expect(contents(hub.dataDir)).toEqual(before);
}

/** Digests of all files but what is noted of clusters that are not damaged. */
function contents(directory: string): Record<string, string> {
  const paths = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name))
    .filter((path) => !/clusters\.json$|members\/.*\/manifest\.json$/.test(path));
  return Object.fromEntries(
    paths.map((path) => [path, createHash('sha256').update(readFileSync(path)).digest('hex')]),
  );
}

async function expectStarts(...names: string[]): Promise<void> {
  await hub.restart();
  running = true;
  for (const name of names) expect((await hub.call('GET', `${CONFIG_MAPS}/${name}`)).status).toBe(200);
}

describe('a hub whose log is gone', () => {
  it.each([
    [
      'the log is emptied',
      () => truncateSync(last(files('log-'))),
      /log-\d+\.jsonl: ends at byte 0, expected at least \d+/,
    ],
    [
      'the log is deleted',
      () => rmSync(last(files('log-'))),
      /log-\d+\.jsonl: is missing: .*manifest\.json names it/,
    ],
    [
      'every file of the log is deleted',
      () => files('').map((path) => rmSync(path)),
      /hub\/manifest\.json: is missing/,
    ],
    [
      'its directory is deleted',
      () => rmSync(at('hub'), { recursive: true }),
      /hub\/manifest\.json: is missing/,
    ],
    ['the manifest is deleted', () => rmSync(at('hub', 'manifest.json')), /hub\/manifest\.json: is missing/],
    ['the manifest is emptied', () => truncateSync(at('hub', 'manifest.json')), /manifest\.json: is damaged/],
    [
      'the manifest is changed',
      () =>
        writeFileSync(
          at('hub', 'manifest.json'),
          readFileSync(at('hub', 'manifest.json'), 'utf8').replace('"format":1', '"format":9'),
        ),
      /manifest\.json: is damaged/,
    ],
    ['the list of clusters is deleted', () => rmSync(at('clusters.json')), /clusters\.json: is missing/],
    [
      'the list of clusters is emptied',
      () => truncateSync(at('clusters.json')),
      /clusters\.json: is damaged/,
    ],
    [
      'all lists and all logs are deleted',
      () => {
        rmSync(at('clusters.json'));
        for (const cluster of ['hub', 'members/east', 'members/west'])
          for (const path of files('', cluster)) rmSync(path);
      },
      /hub: contains no records, although/,
    ],
    [
      'all lists and all directories of logs are deleted',
      () => {
        rmSync(at('clusters.json'));
        for (const name of ['hub', 'members']) rmSync(at(name), { recursive: true });
      },
      /hub: is missing, although a hub has served/,
    ],
    [
      'the directory of a member is deleted',
      () => rmSync(at('members', 'east'), { recursive: true }),
      /members\/east\/manifest\.json: is missing/,
    ],
  ])('does not start: %s', async (_how, attack, what) => {
    await stop();
    attack();
    await expectRefused(what);
  });
});

describe('a hub some of whose files are not what they were', () => {
  it.each([
    [
      'the end of the log is cut off at a record',
      () => cutLastRecord(last(files('log-'))),
      /ends at byte \d+, expected at least/,
    ],
    ['an older segment is deleted', () => rmSync(files('log-')[0] ?? ''), /log-\d+\.jsonl: is missing/],
    [
      'an older segment is cut off at a record',
      () => cutLastRecord(files('log-')[0] ?? ''),
      /ends at byte \d+, expected \d+/,
    ],
    [
      'a segment is longer',
      () => appendFileSync(files('log-')[0] ?? '', '\n'),
      /ends at byte \d+, expected \d+/,
    ],
    [
      'the newest snapshot is deleted',
      () => rmSync(last(files('snapshot-'))),
      /snapshot-\d+\.jsonl: is missing/,
    ],
    [
      'the newest snapshot is emptied',
      () => truncateSync(last(files('snapshot-'))),
      /snapshot-\d+\.jsonl: ends at byte 0/,
    ],
    [
      'the older snapshot is emptied',
      () => truncateSync(files('snapshot-')[0] ?? ''),
      /snapshot-\d+\.jsonl: ends at byte 0/,
    ],
    [
      'the older snapshot takes the place of the newest',
      () => cpSync(files('snapshot-')[0] ?? '', last(files('snapshot-'))),
      /snapshot-\d+\.jsonl: ends at byte/,
    ],
    [
      'a segment is there twice',
      () => cpSync(last(files('log-')), at('hub', 'log-0000000000009999.jsonl')),
      /log-0000000000009999\.jsonl: contains records, but the manifest does not name it/,
    ],
    [
      'a record in the middle is damaged',
      () => {
        const bytes = readFileSync(last(files('log-')));
        bytes[bytes.length - 20] = 0;
        writeFileSync(last(files('log-')), bytes);
      },
      /log-\d+\.jsonl: is damaged at byte \d+/,
    ],
  ])('does not start: %s', async (_how, attack, what) => {
    await grow();
    await stop();
    attack();
    await expectRefused(what);
  });

  it('does not start with a segment of another cluster in the place of its own', async () => {
    await stop();
    const own = last(files('log-'));
    const bytes = statSync(own).size;
    cpSync(last(files('log-', 'members/east')), own);
    const size = statSync(own).size;
    if (size < bytes) appendFileSync(own, Buffer.alloc(bytes - size, 0x20));
    await expectRefused(/log-\d+\.jsonl: (is damaged|is not the file that the manifest names)/);
  });

  it('does not start with the whole log of another cluster in the place of its own', async () => {
    await stop();
    rmSync(at('hub'), { recursive: true });
    cpSync(at('members', 'east'), at('hub'), { recursive: true });
    await expectRefused(/hub\/manifest\.json: belongs to the log of another cluster/);
  });

  it('does not start with an older copy of its log beside the newer manifest', async () => {
    await stop();
    cpSync(last(files('log-')), join(aside, 'older'));
    await expectStarts('one');
    await make('two');
    await stop();
    cpSync(join(aside, 'older'), last(files('log-')));
    await expectRefused(/log-\d+\.jsonl: ends at byte/);
  });

  it('does not start with other records of the same size', async () => {
    await stop();
    const path = last(files('log-'));
    const lines = readFileSync(path).toString('utf8').split('\n');
    // Two records that are as long as each other, in the other order.
    const header = lines[0] ?? '';
    const record = decodeRecord(Buffer.from(lines.at(-2) ?? ''));
    expect(record?.type).toBe('put');
    const put = record as Extract<typeof record, { type: 'put' }>;
    const object = { ...(put.object as object), data: undefined };
    const forged = encodeRecord({ ...put, timeMs: put.timeMs + 1, object, json: undefined });
    const original = `${lines.at(-2) ?? ''}\n`;
    const text = `${[header, ...lines.slice(1, -2)].join('\n')}\n${forged.padEnd(original.length)}`;
    writeFileSync(path, text);
    await expectRefused(/log-\d+\.jsonl: (is not the file|is damaged|ends at byte)/);
  });
});

describe('a hub that starts', () => {
  it('begins in a directory that is empty', async () => {
    const fresh = await startTestHub({ dataDir: join(aside, 'fresh') });
    expect((await fresh.call('GET', CONFIG_MAPS)).status).toBe(200);
    await fresh.stop();
  });

  it('takes members that are new, and those that were left out for a while', async () => {
    await stop();
    await hub.restart({ members: ['east'] });
    await hub.hub.close();
    await hub.restart({ members: ['west', 'north'] });
    running = true;
    expect((await hub.call('GET', '/clusters/north/api/v1/namespaces/default')).status).toBe(200);
    expect((await hub.call('GET', `${CONFIG_MAPS}/one`)).status).toBe(200);
  });

  it('goes on where a first start was interrupted before it served', async () => {
    const dataDir = join(aside, 'first');
    const first = await startTestHub({ dataDir });
    await first.hub.close();
    // As it was after the keys and the list of clusters, before anything else.
    for (const name of ['tokens.json', 'server.json', 'admin.kubeconfig']) rmSync(join(dataDir, name));
    rmSync(join(dataDir, 'hub'), { recursive: true });
    rmSync(join(dataDir, 'clusters.json'));
    const again = await startTestHub({ dataDir });
    expect((await again.call('GET', CONFIG_MAPS)).status).toBe(200);
    await again.stop();
  });

  it('starts from an older snapshot when the newest is damaged on the disk', async () => {
    await grow();
    await stop();
    const newest = last(files('snapshot-'));
    const bytes = readFileSync(newest);
    bytes[bytes.length - 5] = 0;
    writeFileSync(newest, bytes);
    expect((await berth('hub', 'check', '--data', hub.dataDir)).code).toBe(0);
    await expectStarts('one', 'two', 'three');
  });

  it('keeps what was written after the manifest, as a crash leaves it', async () => {
    const manifest = readFileSync(at('hub', 'manifest.json'));
    await make('late');
    await stop();
    writeFileSync(at('hub', 'manifest.json'), manifest);
    appendFileSync(last(files('log-')), '0000');
    await expectStarts('one', 'late');
  });
});

const makeEarlierRelease = () =>
  makeEarlierDataDirectory(hub.dataDir, ['hub', 'members/east', 'members/west']);

describe('a data directory of an earlier version', () => {
  it('is taken over once, whole, and is checked from then on', async () => {
    await grow();
    await stop();
    makeEarlierRelease();
    expect((await berth('hub', 'check', '--data', hub.dataDir)).code).toBe(0);
    expect(existsSync(at('clusters.json'))).toBe(false);
    await expectStarts('one', 'two', 'three');
    await make('four');
    await stop();
    await expectStarts('one', 'four');
    await hub.hub.compact();
    await hub.hub.compact();
    await stop();
    await expectStarts('one', 'four');
    await stop();
    truncateSync(last(files('log-')));
    await expectRefused(/log-\d+\.jsonl: ends at byte 0/);
  });

  it('is refused when its log was emptied', async () => {
    await stop();
    makeEarlierRelease();
    truncateSync(last(files('log-')));
    await expectRefused(/hub: contains no records, although the hub has served/);
  });

  it('is taken over where a first try was killed', async () => {
    await stop();
    makeEarlierRelease();
    cpSync(hub.dataDir, join(aside, 'before'), { recursive: true });
    await hub.restart();
    await hub.hub.close();
    // The list of clusters was written, and one of the manifests.
    const register = readFileSync(at('clusters.json'), 'utf8');
    for (const cluster of ['members/east', 'members/west']) {
      rmSync(at(cluster), { recursive: true });
      mkdirSync(at(cluster), { recursive: true });
      cpSync(join(aside, 'before', cluster), at(cluster), { recursive: true });
    }
    const body = register.slice(register.indexOf('{')).replaceAll('"ready":true', '"ready":false');
    writeFileSync(at('clusters.json'), encodeLine(body.trim()));
    await expectStarts('one');
  });
});

describe('backups, compaction and restores', () => {
  it('keep a directory that starts and is checked', async () => {
    await grow();
    expect((await berth('hub', 'backup', '--data', hub.dataDir, join(aside, 'backup'))).code).toBe(0);
    await stop();
    expect((await berth('hub', 'compact', '--data', hub.dataDir)).code).toBe(0);
    expect((await berth('hub', 'check', '--data', hub.dataDir)).code).toBe(0);
    await expectStarts('one', 'two', 'three');
    await stop();
    const dataDir = join(aside, 'restored');
    expect((await berth('hub', 'restore', '--data', dataDir, join(aside, 'backup'))).code).toBe(0);
    expect((await berth('hub', 'check', '--data', dataDir)).code).toBe(0);
    const restored = await startTestHub({ dataDir, members: ['east', 'west'] });
    expect((await restored.call('GET', `${CONFIG_MAPS}/three`, { token: hub.token })).status).toBe(200);
    await restored.hub.close();
    for (const name of readdirSync(join(dataDir, 'hub')))
      if (name !== 'manifest.json') rmSync(join(dataDir, 'hub', name));
    expect((await berth('hub', 'check', '--data', dataDir)).text).toMatch(
      /is missing: .*manifest\.json names it/,
    );
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('refuse to copy a directory whose log is gone', async () => {
    await stop();
    truncateSync(last(files('log-')));
    const backup = await berth('hub', 'backup', '--data', hub.dataDir, join(aside, 'backup'));
    expect(backup.code).toBe(1);
    expect(existsSync(join(aside, 'backup'))).toBe(false);
    const compact = await berth('hub', 'compact', '--data', hub.dataDir);
    expect(compact.text).toMatch(/ends at byte 0/);
  });

  it('and a check run beside a hub that compacts its log all the time', async () => {
    let done = false;
    const compacting = (async () => {
      for (let round = 0; !done; round += 1) {
        await make(`c${String(round)}`);
        await hub.hub.compact();
      }
    })();
    const codes: number[] = [];
    for (let round = 0; round < 10; round += 1)
      codes.push((await berth('hub', 'check', '--data', hub.dataDir)).code);
    done = true;
    await compacting;
    expect(codes).toEqual(Array.from({ length: 10 }, () => 0));
  });
});

function cutLastRecord(path: string): void {
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1));
}
