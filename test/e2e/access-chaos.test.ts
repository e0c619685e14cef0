import { setTimeout as sleep } from 'node:timers/promises';
import { withHub } from '@berth/addon/testing';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { OUTAGE_PATIENCE_MS } from '@berth/test-kit/patience';
import { drawn } from '@berth/test-kit/seeded-random';
import { expect, it } from 'vitest';
import { AccessProcesses } from './access-processes.ts';

/** Who sets how many also judges by the clock: the machine is then nobody else's. */
const KILLS = Number(process.env['BERTH_KILLS'] ?? 8);
const LIMIT_MS = process.env['BERTH_KILLS'] === undefined ? OUTAGE_PATIENCE_MS : 30_000;
const CLUSTERS = ['cluster1', 'cluster2', 'cluster3'];
const ITEMS = 200;
const MIB = 1024 * 1024;

it.skipIf(process.platform !== 'linux')(
  `reaches clusters after each of ${KILLS} kills: nothing hangs, crosses or stays behind`,
  async () => {
    const random = drawn();
    const oneOf = <T>(list: readonly [T, ...T[]]): T => list[Math.floor(random() * list.length)] ?? list[0];
    await withHub(
      async (world) => {
        for (const [name, cluster] of world.clusters) await fill(cluster, name);
        const access = await AccessProcesses.start(world, LIMIT_MS);
        const ticking = new AbortController();
        try {
          await access.whenBack(OUTAGE_PATIENCE_MS);
          const before = access.openFiles();
          for (const name of CLUSTERS) access.startClient(name, ITEMS);
          const ticks = [...world.clusters.values()].map((cluster) => tick(cluster, ticking.signal));
          const times: number[] = [];
          let memory = 0;
          for (let kill = 0; kill < KILLS; kill += 1) {
            // fixed wait: the time of a kill
            await sleep(random() * 1_000);
            // The last servers live long enough to show what they keep.
            const victim = oneOf(kill < KILLS / 2 ? ['server', 'agent', 'client'] : ['agent', 'client']);
            const name = oneOf(['cluster1', 'cluster2', 'cluster3']);
            const signal = random() < 0.75 ? 'SIGKILL' : 'SIGTERM';
            if (victim === 'server') await access.restartServer(oneOf([0, 1]), signal);
            else if (victim === 'agent') await access.restartAgent(name, signal);
            else {
              await access.endClient(name);
              access.startClient(name, ITEMS);
            }
            times.push(await access.whenBack(LIMIT_MS));
            if (kill === Math.floor(KILLS * 0.7)) memory = access.serverMemory();
          }
          const grown = access.serverMemory() - memory;
          ticking.abort();
          await Promise.all(ticks);
          for (const name of CLUSTERS) await access.endClient(name);
          await expect
            .poll(() => access.openFiles().every((count, at) => count <= (before[at] ?? 0)))
            .toBe(true);
          const counts = access.counts();
          console.log(
            `${KILLS} kills: back after at most ${Math.round(Math.max(...times))} ms; the servers grew by ` +
              `${Math.round(grown / MIB)} MiB; open files ${String(before)} before, ${String(access.openFiles())} after; ` +
              `good and failed: ${JSON.stringify(counts)}`,
          );
          expect(access.wrong).toEqual([]);
          expect(grown).toBeLessThan(64 * MIB);
          for (const kind of ['list', 'event', 'line', 'block']) expect(counts[kind]?.[0]).toBeGreaterThan(0);
        } finally {
          ticking.abort();
          await access.close();
        }
      },
      { clusters: CLUSTERS, patienceMs: OUTAGE_PATIENCE_MS },
    );
  },
);

/** A list of about two MiB, each of whose objects says whose it is. */
async function fill(cluster: KubeApi, name: string): Promise<void> {
  for (let at = 0; at < ITEMS; at += 1)
    await cluster.create(CONFIG_MAP, mapOf(`map${at}`, { whose: `of-${name}`, more: 'x'.repeat(10_000) }));
  await cluster.create(CONFIG_MAP, mapOf('ticks', { whose: `of-${name}` }));
}

function mapOf(name: string, data: Readonly<Record<string, string>>) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name }, data };
}

/** Changes what is watched, again and again. */
async function tick(cluster: KubeApi, signal: AbortSignal): Promise<void> {
  for (let at = 0; !signal.aborted; at += 1) {
    await cluster.mergePatch(CONFIG_MAP, { namespace: 'default', name: 'ticks' }, { data: { at: `${at}` } });
    // fixed wait: the pace of a load
    await sleep(200);
  }
}
