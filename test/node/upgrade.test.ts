import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAvailable } from '@berth/test-kit/needed-program';
import { type GitServer, serveHttp } from '../../packages/git-reader/test/git-servers.ts';
import { ROOT } from '../e2e/copy-checkout.ts';
import { copyChart } from '../deploy/render-chart.ts';
import { CLUSTER, FLEET, hasNodesAndHelm, Nodes, PATIENT } from './nodes.ts';

/** A commit of this repository; the nodes have its image as `berth:old`. */
const OLD = process.env['BERTH_NODES_OLD_COMMIT'];
const problem = 'BERTH_NODES_OLD_COMMIT names no commit whose image the nodes have as berth:old';
const hasOld = isAvailable('nodes', OLD === undefined ? problem : undefined);
const CHART = 'deploy/chart/berth';
/** Kinds of which nobody writes to an object again because a process was replaced. */
const KINDS = 'placements,placementdecisions,manifestworks,manifestworkreplicasets,managedclustersets';
/** Measured: none. Each new process may report something of its own. */
const WRITES = 10;

describe.skipIf(!hasNodesAndHelm || !hasOld)('an upgrade of the chart on a cluster with nodes', () => {
  const nodes = new Nodes();
  let server: GitServer;
  let charts: { readonly old: string; readonly next: string };
  beforeAll(async () => {
    const archive = execFileSync('git', ['archive', OLD ?? '', CHART], { cwd: ROOT });
    execFileSync('tar', ['-x', '-C', nodes.dir], { input: archive });
    const old = copyChart(join(nodes.dir, 'old'), join(nodes.dir, CHART));
    charts = { old, next: copyChart(nodes.dir) };
    nodes.git.commit({ 'fleet.yaml': FLEET });
    server = await serveHttp(nodes.git.path, { host: nodes.hostname });
  });
  afterAll(async () => {
    await server?.close();
    await nodes.close();
  });

  const runAgent = (tag: string): void => {
    const agent = ['deployment/klusterlet-agent', '-n', 'open-cluster-management-agent'];
    nodes.kubectl('set', 'image', ...agent, `*=berth:${tag}`);
    nodes.kubectl('rollout', 'status', ...agent, '--timeout=120s');
  };
  /** Each object: its name, uid and generation. */
  const objects = (): readonly string[] =>
    nodes
      .kubectl(
        ...['get', KINDS, '-A', '-o'],
        'jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.uid} {.metadata.generation}{"\\n"}{end}',
      )
      .split('\n');
  /** Writes to objects of OCM since the API server has started. */
  const writes = (): number =>
    nodes
      .kubectl('get', '--raw', '/metrics')
      .split('\n')
      .filter((line) => /^apiserver_request_total\{.*group="[a-z]+\.open-cluster-management\.io"/.test(line))
      .filter((line) => /verb="(POST|PUT|PATCH|APPLY|DELETE|DELETECOLLECTION)"/.test(line))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  /** What runs, one line for each. */
  const images = (): readonly string[] => {
    const path = 'jsonpath={range .items[*]}{.spec.containers[*].image}{"\\n"}{end}';
    const all = ['get', 'pods', '-A', '-l', 'app in (berth,klusterlet-agent)', '-o', path];
    return [...new Set(nodes.kubectl(...all).split('\n'))];
  };
  /** Replaces the processes, and has them follow a commit; nothing else may change. */
  const replace = async (image: string, how: () => Promise<unknown>): Promise<number> => {
    const before = { pods: await nodes.runs(), objects: objects(), writes: writes() };
    expect(before.writes).toBeGreaterThan(0);
    await how();
    await expect.poll(images, PATIENT).toEqual([image]);
    nodes.git.commit({ 'README.md': String(before.writes) });
    const head = nodes.git.run('rev-parse', 'HEAD').trim();
    const followed = () => nodes.kubectl('logs', '-n', 'berth-system', '-l', 'app=berth', '--tail=-1');
    await expect.poll(followed, PATIENT).toContain(head);
    const available = () => nodes.condition(`managedcluster ${CLUSTER}`, 'ManagedClusterConditionAvailable');
    await expect.poll(available, PATIENT).toBe('True ManagedClusterAvailable');
    expect(await nodes.runs()).toEqual(before.pods);
    expect(objects()).toEqual(before.objects);
    return writes() - before.writes;
  };

  it('begins with an older version, whose controllers and agent place a workload', async () => {
    const serve = [`repo={${server.url}}`, 'ref=main', 'poll=1s', 'leaderElect=true'];
    const values = ['image.tag=old', 'controller.replicas=2', ...serve.map((value) => `serve.${value}`)];
    await nodes.helm('install', 'berth', charts.old, '--create-namespace', '--wait', '--set', values.join());
    await nodes.join();
    runAgent('old');
    await nodes.runs();
  });

  it('removes, restarts and rewrites nothing', async () => {
    const made = await replace('berth:0.1.0', async () => {
      nodes.kubectl('apply', '--server-side', '--force-conflicts', '-f', join(charts.next, 'crds'));
      const values = ['--reset-then-reuse-values', '--set', 'image.tag='];
      await nodes.helm('upgrade', 'berth', charts.next, '--wait', ...values);
      runAgent('0.1.0');
    });
    console.log(`writes of the upgrade: ${String(made)}`);
    expect(made).toBeLessThan(WRITES);
  });

  it('nor does the rollback', async () => {
    const made = await replace('berth:old', async () => {
      await nodes.helm('rollback', 'berth', '--wait');
      runAgent('old');
    });
    console.log(`writes of the rollback: ${String(made)}`);
    expect(made).toBeLessThan(WRITES);
  });

  it('goes on to follow commits', async () => {
    const before = await nodes.runs();
    nodes.git.commit({ 'fleet.yaml': FLEET.replace('[sleep, infinity]', '[sleep, 1d]') });
    await expect.poll(() => nodes.pods().filter((pod) => before.includes(pod)), PATIENT).toEqual([]);
    await nodes.runs();
  });

  it('lets the cluster leave', () => nodes.leave());
});
