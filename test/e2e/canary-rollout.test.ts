import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { DEPLOYMENT, MANIFEST_WORK_REPLICA_SET } from '@berth/kube/model/kinds';
import { PATIENCE_MS } from '@berth/test-kit/patience';

const MAIN = path.join(import.meta.dirname, '../../dist/src/app/cli/main.js');
const CLUSTERS = ['canary-1', 'prod-1', 'prod-2', 'prod-3', 'prod-4'];

/** The example as its README tells it: a repository, the hub with its members, the controller, each a process of its own. */
describe('examples/canary-rollout, from Git to the clusters', () => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'berth-canary-'));
  const repo = path.join(dir, 'repo');
  const kubeconfig = path.join(dir, 'hub/admin.kubeconfig');
  const processes: ChildProcess[] = [];
  const apis = new Map<string, HttpKubeApi>();

  const git = (...args: string[]): void => {
    const identity = [
      '-c',
      'user.name=Ada',
      '-c',
      'user.email=ada@example.com',
      '-c',
      'commit.gpgsign=false',
    ];
    execFileSync('git', ['-C', repo, ...identity, ...args], { stdio: 'pipe' });
  };
  const edit = (file: string, change: (text: string) => string): void =>
    writeFileSync(path.join(repo, file), change(readFileSync(path.join(repo, file), 'utf8')));
  const start = (...args: string[]): { readonly stdout: () => string; readonly stderr: () => string } => {
    const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    processes.push(child);
    const texts = { out: '', err: '' };
    child.stdout.on('data', (chunk: Buffer) => (texts.out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (texts.err += chunk.toString()));
    return { stdout: () => texts.out, stderr: () => texts.err };
  };

  beforeAll(async () => {
    cpSync('examples/canary-rollout', repo, { recursive: true });
    git('init', '-q', '-b', 'main');
    // The story is the same with a shorter time of success.
    edit('shop/rollout.yaml', (text) => text.replace('minSuccessTime: 10s', 'minSuccessTime: 1s'));
    git('add', '-A');
    git('commit', '-qm', 'v1');
    const hub = start(
      'hub',
      '--data',
      path.join(dir, 'hub'),
      '--listen',
      '127.0.0.1:0',
      '--members',
      CLUSTERS.join(','),
      '--agents',
    );
    await eventually(() => Promise.resolve(hub.stdout().trim() !== ''), true);
    for (const context of ['hub', ...CLUSTERS])
      apis.set(
        context,
        new HttpKubeApi({ config: loadKubeConfig({ file: kubeconfig, context }), clock: systemClock }),
      );
    start(
      'serve',
      '--repo',
      repo,
      '--data',
      path.join(dir, 'data'),
      '--kubeconfig',
      kubeconfig,
      '--embedded',
      '--poll',
      '1s',
    );
  });

  afterAll(async () => {
    for (const api of apis.values()) api.close();
    for (const child of processes.reverse()) {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      if (child.exitCode === null && child.kill('SIGTERM')) await gone;
    }
    rmSync(dir, { recursive: true, force: true });
  });

  async function eventually<T>(look: () => Promise<T>, want: T): Promise<void> {
    const until = Date.now() + PATIENCE_MS;
    let got = await look();
    while (JSON.stringify(got) !== JSON.stringify(want) && Date.now() < until) {
      // fixed wait: the pace of a poll
      await new Promise((resolve) => setTimeout(resolve, 200));
      got = await look();
    }
    expect(got).toEqual(want);
  }

  const versions = async (): Promise<string> => {
    const all = CLUSTERS.map(async (name) => {
      const found = await apis.get(name)?.get(DEPLOYMENT, { namespace: 'shop', name: 'shop' });
      return /shop:(v\d)/.exec(JSON.stringify(found?.['spec'] ?? ''))?.[1] ?? '-';
    });
    return (await Promise.all(all)).join(' ');
  };
  const rolledOut = async (): Promise<{ readonly status?: string; readonly message?: string }> => {
    const live = await apis.get('hub')?.get(MANIFEST_WORK_REPLICA_SET, { namespace: 'shop', name: 'shop' });
    const { conditions = [] } = (live?.['status'] ?? {}) as {
      conditions?: { type: string; status: string; message: string }[];
    };
    return conditions.find(({ type }) => type === 'PlacementRolledOut') ?? {};
  };

  it('rolls out, stops at the cluster that fails, and goes on when it is repaired', async () => {
    await eventually(versions, 'v1 v1 v1 v1 v1');
    await eventually(async () => (await rolledOut()).status, 'True');
    edit('apps/shop/deployment.yaml', (text) => text.replace('shop:v1', 'shop:v2'));
    edit('clusters/prod-2.yaml', (text) =>
      text.replace('    ring: prod', '    ring: prod\n    simulate: fail'),
    );
    git('commit', '-qam', 'v2, with a cluster that cannot run it');
    await eventually(async () => /failed: prod-2; stopped/.test((await rolledOut()).message ?? ''), true);
    await eventually(versions, 'v2 v2 v2 v1 v1');
    edit('clusters/prod-2.yaml', (text) => text.replace('\n    simulate: fail', ''));
    git('commit', '-qam', 'prod-2 is repaired');
    await eventually(versions, 'v2 v2 v2 v2 v2');
    await eventually(async () => (await rolledOut()).status, 'True');
  });
});
