import { setTimeout as pause } from 'node:timers/promises';
import { drawn } from '@berth/test-kit/seeded-random';
import { expect, it } from 'vitest';
import {
  NEVER,
  openAgent,
  type OpenedAgent,
  openServer,
  openTarget,
  textUntilEnd,
} from './tunnel-harness.ts';

const CLUSTERS = ['cluster1', 'cluster2', 'cluster3'];
const ROUNDS = Number(process.env['BERTH_RESTARTS'] ?? 20);

it('crosses nothing while agents come and go, and reaches all of them afterwards', async () => {
  const random = drawn();
  const server = await openServer();
  const ports = new Map<string, number>();
  for (const name of CLUSTERS) ports.set(name, await openTarget((socket) => socket.end(name.repeat(2_000))));
  // The address is the same for all: only the agent that is reached decides which target answers.
  const agents = new Map<string, OpenedAgent[]>(CLUSTERS.map((name) => [name, []]));
  const start = async (name: string): Promise<void> => {
    const resolve = () => ({ host: '127.0.0.1', port: ports.get(name) ?? 0 });
    const [others] = CLUSTERS.filter((other) => other !== name);
    agents
      .get(name)
      ?.push(await openAgent(server.agentAddress, name, { resolve, hosts: [name, others ?? ''] }));
  };
  const ask = async (name: string): Promise<string> => {
    const channel = await server.dial({ cluster: name, address: 'kubernetes:443' }, NEVER);
    const text = await textUntilEnd(channel);
    channel.end();
    return text;
  };
  for (const name of CLUSTERS) await start(name);
  const asked: Promise<void>[] = [];
  let answers = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const name = CLUSTERS[Math.floor(random() * CLUSTERS.length)] ?? '';
    for (const cluster of CLUSTERS)
      for (let at = 0; at < 5; at += 1)
        asked.push(
          ask(cluster).then(
            (text) => {
              answers += 1;
              // Cut off or whole, but of no other cluster.
              expect(cluster.repeat(2_000).startsWith(text)).toBe(true);
            },
            (error: Error & { code?: string }) => expect(error.code).toMatch(/^tunnel\./),
          ),
        );
    const stopped = random() < 0.5 ? agents.get(name)?.shift()?.stop() : start(name);
    // fixed wait: some requests meet the change, some do not
    await pause(random() * 30);
    await stopped;
  }
  await Promise.all(asked);
  expect(answers).toBeGreaterThan(0);
  for (const name of CLUSTERS) if (agents.get(name)?.length === 0) await start(name);
  for (const name of CLUSTERS) await expect.poll(() => ask(name).catch(String)).toBe(name.repeat(2_000));
});
