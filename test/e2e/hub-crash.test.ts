import type { LooseJson } from '../../packages/embedded-hub/test/loose-json.ts';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isAvailable } from '@berth/test-kit/needed-program';
import type { HubProcess } from './hub-process.ts';
import { startHubProcess } from './hub-process.ts';

let dataDir: string;
let hub: HubProcess | undefined;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'berth-crash-'));
});
afterEach(async () => {
  await hub?.end('SIGKILL');
  hub = undefined;
  rmSync(dataDir, { recursive: true, force: true });
});

const PATH = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string, data: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});

/** The hub in a mount namespace of its own, its log on a real file system that fills up. What it wrote is saved before that goes away. */
const TINY_FILE_SYSTEM = ((): readonly string[] | undefined => {
  const inNamespace = ['unshare', '--user', '--map-root-user', '--mount', 'bash', '-c'];
  const mount = 'mount -t tmpfs -o size=2m none';
  const [program = '', ...rest] = [...inNamespace, `${mount} /mnt`];
  const isMounted = spawnSync(program, rest).status === 0;
  if (!isAvailable('unshare', isMounted ? undefined : 'no mount namespace with a small file system here'))
    return undefined;
  return [
    ...inNamespace,
    `mkdir DIR/hub; ${mount} DIR/hub; "$@"; code=$?; cp -a DIR/hub SAVED; exit $code`,
    'hub',
  ];
})();

const SMALL_FILES = ['bash', '-c', 'ulimit -f 256; exec "$@"', 'hub'];

interface Acknowledged {
  /** Name -> the data that was acknowledged last; undefined when its deletion was. */
  readonly objects: Map<string, string | undefined>;
  /** Names whose last write was never answered: either state is right. */
  readonly unsure: Set<string>;
  maxRv: number;
}

/** Creates, changes and deletes until the hub dies; remembers only what was answered. */
async function writer(
  id: string,
  target: HubProcess,
  seen: Acknowledged,
  alive: () => boolean,
): Promise<void> {
  for (let step = 0; alive(); step += 1) {
    const name = `w${id}-${String(step % 40)}`;
    const value = `${id}-${String(step)}`;
    const present = seen.objects.get(name) !== undefined;
    const remove = present && step % 7 === 0;
    seen.unsure.add(name);
    try {
      const reply = remove
        ? await target.call('DELETE', `${PATH}/${name}`)
        : present
          ? await target.call('PATCH', `${PATH}/${name}`, { data: { value } }, 'application/merge-patch+json')
          : await target.call('POST', PATH, configMap(name, { value }));
      if (reply.status >= 300) throw new Error(`${String(reply.status)} ${JSON.stringify(reply.body)}`);
      seen.objects.set(name, remove ? undefined : value);
      seen.unsure.delete(name);
      seen.maxRv = Math.max(seen.maxRv, Number(reply.body.metadata.resourceVersion ?? 0));
    } catch (error) {
      if (alive()) throw error;
      return;
    }
  }
}

async function verify(target: HubProcess, seen: Acknowledged): Promise<number> {
  const list = await target.call('GET', PATH);
  expect(Number(list.body.metadata.resourceVersion)).toBeGreaterThanOrEqual(seen.maxRv);
  const found = new Map<string, string>(
    list.body.items
      .filter((item: LooseJson) => item.metadata.name.startsWith('w'))
      .map((item: LooseJson) => [item.metadata.name, item.data.value]),
  );
  for (const [name, value] of seen.objects)
    if (!seen.unsure.has(name)) expect([name, found.get(name)]).toEqual([name, value]);
  // The next round starts from what is there.
  for (const name of seen.unsure) seen.objects.set(name, found.get(name));
  seen.unsure.clear();
  return seen.objects.size;
}

describe('a hub that is killed', () => {
  it('keeps everything it acknowledged, over several kills under load, and never goes back', async () => {
    const seen: Acknowledged = { objects: new Map(), unsure: new Set(), maxRv: 0 };
    for (let round = 0; round < 4; round += 1) {
      const running = await startHubProcess(dataDir);
      hub = running;
      await verify(running, seen);
      let alive = true;
      const writers = Array.from({ length: 16 }, (_, id) => writer(String(id), running, seen, () => alive));
      // As many as a slow machine takes its time for: a kill in the middle of a few writes would prove little.
      const enough = seen.maxRv + 150;
      // fixed wait: how long the load lasts before the kill
      do await new Promise((resolve) => setTimeout(resolve, 300 + round * 150));
      while (seen.maxRv < enough && running.child.exitCode === null);
      alive = false;
      await running.end('SIGKILL');
      await Promise.all(writers);
    }
    hub = await startHubProcess(dataDir);
    expect(await verify(hub, seen)).toBeGreaterThan(100);
    expect(seen.maxRv).toBeGreaterThan(500);
  });

  it('finishes a namespace deletion that a kill interrupted', async () => {
    hub = await startHubProcess(dataDir);
    await hub.call('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'doomed' },
    });
    const first = hub;
    const many = Array.from({ length: 300 }, (_, index) =>
      first.call('POST', '/api/v1/namespaces/doomed/configmaps', configMap(`c${String(index)}`, {})),
    );
    await Promise.all(many);
    await hub.call('DELETE', '/api/v1/namespaces/doomed');
    await hub.end('SIGKILL');
    hub = await startHubProcess(dataDir);
    const restarted = hub;
    await expect
      .poll(async () => (await restarted.call('GET', '/api/v1/namespaces/doomed')).status)
      .toBe(404);
    expect((await hub.call('GET', '/api/v1/namespaces/doomed/configmaps')).body.items).toEqual([]);
  });
});

describe('a data directory', () => {
  it('is refused to a second hub, which leaves it alone', async () => {
    hub = await startHubProcess(dataDir);
    await expect(startHubProcess(dataDir)).rejects.toThrow(/is in use: process \d+ owns it/);
    expect((await hub.call('GET', '/api/v1/namespaces/default')).status).toBe(200);
  });

  it('is given back on SIGTERM', async () => {
    hub = await startHubProcess(dataDir);
    expect(await hub.end('SIGTERM')).toBe(0);
    expect(readdirSync(dataDir)).not.toContain('lock');
  });

  describe.each([
    ['a file system of two megabytes', TINY_FILE_SYSTEM],
    ['a limit on the size of files', SMALL_FILES],
  ])('on a full disk: %s', (_how, wrapper) => {
    it.skipIf(wrapper === undefined)(
      'the hub stops, and what it acknowledged is there afterwards',
      async () => {
        const saved = `${dataDir}-saved`;
        const words = (wrapper ?? []).map((word) =>
          word.replaceAll('DIR', dataDir).replaceAll('SAVED', saved),
        );
        const limited = await startHubProcess(dataDir, ['--audit', 'off'], words);
        hub = limited;
        const acknowledged: string[] = [];
        const filler = 'x'.repeat(2000);
        for (let index = 0; index < 1500; index += 1) {
          const name = `w-full-${String(index)}`;
          const reply = await limited.call('POST', PATH, configMap(name, { filler })).catch(() => undefined);
          if (reply === undefined) break;
          expect(reply.status).toBe(201);
          acknowledged.push(name);
        }
        expect(acknowledged.length).toBeGreaterThan(20);
        expect(acknowledged.length).toBeLessThan(1500);
        expect(await limited.end('SIGCONT')).toBe(1);
        expect(limited.stderr()).toMatch(/the log could not be written: .*(ENOSPC|EFBIG)/);
        if (existsSync(saved)) {
          rmSync(join(dataDir, 'hub'), { recursive: true });
          renameSync(saved, join(dataDir, 'hub'));
        }
        hub = await startHubProcess(dataDir);
        const items = (await hub.call('GET', PATH)).body.items.map((item: LooseJson) => item.metadata.name);
        expect(items).toEqual(expect.arrayContaining(acknowledged));
      },
    );
  });
});
