import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { PLACEMENT, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { Placement } from '@berth/ocm/kind/placement';
import { baseFiles, placement, yaml } from '../app/serve/fleet-fixture.ts';
import { startEmbeddedHub } from '../fakes/embedded-hub.ts';
import { drawn } from '@berth/test-kit/seeded-random';
import { GitFixture } from '../../packages/git-reader/test/fakes/git-fixture.ts';

const MAIN = join(import.meta.dirname, '../../dist/src/app/cli/main.js');
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const stops: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

it('berth serve, killed again and again while commits arrive, brings the last commit to the hub and then rests', async () => {
  const random = drawn();
  const hub = await startEmbeddedHub();
  stops.push(hub.close);
  const git = new GitFixture();
  stops.push(() => git.remove());
  const data = mkdtempSync(join(tmpdir(), 'berth-serve-'));
  stops.push(() => rmSync(data, { recursive: true, force: true }));
  let child: ChildProcess | undefined;
  let stderr = '';
  const start = (): void => {
    const args = [
      'serve',
      '--repo',
      git.path,
      '--kubeconfig',
      hub.kubeconfig,
      '--data',
      data,
      '--embedded',
      '--poll',
      '100ms',
    ];
    child = spawn(process.execPath, [MAIN, ...args, '--removal-budget', '100%'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const dying = child;
    if (dying === undefined || dying.exitCode !== null || dying.signalCode !== null) return;
    const gone = new Promise((resolve) => dying.once('exit', resolve));
    dying.kill(signal);
    await gone;
  };
  stops.push(() => end('SIGKILL'));

  const listed = async (name: string): Promise<string[]> => {
    const labelSelector = `cluster.open-cluster-management.io/placement=${name}`;
    const { items } = await hub.api.list(PLACEMENT_DECISION, { namespace: 'team-a', labelSelector });
    return items.flatMap((item) =>
      ((item['status'] as { decisions?: { clusterName: string }[] } | undefined)?.decisions ?? []).map(
        (d) => d.clusterName,
      ),
    );
  };
  const count = (round: number) => 1 + (round % 5);
  const commit = (round: number) =>
    git.commit({
      ...baseFiles,
      'p.yaml': yaml(...['a', 'b', 'c'].map((name) => placement(name, { numberOfClusters: count(round) }))),
    });

  let rounds = 0;
  for (; rounds < 6; rounds++) {
    commit(rounds);
    start();
    // fixed wait: at which moment of its work the process is killed
    await pause(400 + random() * 1_200);
    await end('SIGKILL');
  }
  const last = rounds - 1;
  const before = stderr.length;
  start();
  // The one before may have made all of it: the signal would end one that does not listen for it yet.
  await expect.poll(() => stderr.slice(before)).toContain('read and published once');
  for (const name of ['a', 'b', 'c']) {
    await expect.poll(async () => (await listed(name)).length).toBe(count(last));
    await expect
      .poll(
        async () =>
          ((await hub.api.get(PLACEMENT, { namespace: 'team-a', name })) as unknown as Placement).status
            ?.numberOfSelectedClusters,
      )
      .toBe(count(last));
    expect(new Set(await listed(name)).size).toBe(count(last));
  }
  const restsForASecond = async (): Promise<boolean> => {
    const before = (await hub.api.list(PLACEMENT)).resourceVersion;
    // fixed wait: another process, whose rest only shows in what it does not write
    await pause(1_000);
    return (await hub.api.list(PLACEMENT)).resourceVersion === before;
  };
  await expect.poll(restsForASecond).toBe(true);
  await end('SIGTERM');
  expect(child?.exitCode).toBe(0);
  expect(stderr).not.toContain('unexpectedly');
});
