import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GitServer, serveHttp } from '../../packages/git-reader/test/git-servers.ts';
import { copyChart } from '../deploy/render-chart.ts';
import { CLUSTER, FLEET, hasNodesAndHelm, Nodes, PATIENT, PLACE } from './nodes.ts';

const WEBHOOKS = 'validatingwebhookconfiguration,mutatingwebhookconfiguration';

describe.skipIf(!hasNodesAndHelm)('the chart on a cluster with nodes', () => {
  const nodes = new Nodes();
  let server: GitServer;
  /** Whether the Git server answers nobody. */
  let isDown = false;
  let chart: string;
  beforeAll(async () => {
    chart = copyChart(nodes.dir);
    nodes.git.commit({ 'README.md': 'The fleet.\n' });
    const intercept = (_request: unknown, response: ServerResponse): boolean => {
      if (isDown) response.writeHead(503).end();
      return isDown;
    };
    server = await serveHttp(nodes.git.path, { host: nodes.hostname, intercept });
  });
  afterAll(async () => {
    await server.close();
    await nodes.close();
  });

  const replicas = (): readonly string[] =>
    nodes.kubectl('get', 'pods', ...PLACE, '-l', 'app=berth', '-o', 'name').split('\n');

  /** Two replicas, of which one writes; their webhooks are there. */
  const install = async (): Promise<void> => {
    const serve = [`repo={${server.url}}`, 'ref=main', 'poll=1s', 'leaderElect=true'];
    const values = ['controller.replicas=2', ...serve.map((value) => `serve.${value}`)];
    await nodes.helm('install', 'berth', chart, '--create-namespace', '--wait', '--set', values.join());
    // Those of an earlier installation end a little later.
    await expect.poll(replicas, PATIENT).toHaveLength(2);
    await expect.poll(() => nodes.read(WEBHOOKS, 'berth-admission', '-o', 'name'), PATIENT).toMatch(/\n/);
  };

  it('installs two replicas, which place a workload by a commit', async () => {
    await install();
    await nodes.join();
    nodes.git.commit({ 'fleet.yaml': FLEET });
    await nodes.runs();
  });

  it('says in Events that its source fails, and that it recovered', async () => {
    const reasons = () => nodes.read('events', ...PLACE, '-o', 'jsonpath={.items[*].reason}').split(' ');
    isDown = true;
    await expect.poll(reasons, PATIENT).toContain('SourceFailing');
    expect(reasons()).not.toContain('SourceRecovered');
    isDown = false;
    await expect.poll(reasons, PATIENT).toContain('SourceRecovered');
    expect(reasons().filter((reason) => reason === 'SourceFailing')).toHaveLength(1);
  });

  it('replaces them while each request is answered, and leaves the workload alone', async () => {
    const before = await nodes.runs();
    const address = nodes.serviceAddress();
    const [failures, stop] = [[] as string[], new AbortController()];
    let answered = 0;
    const asking = (async () => {
      while (!stop.signal.aborted) {
        // Each with a connection of its own, as of a client that has just begun.
        const asked = fetch(`http://${address}/healthz`, { headers: { connection: 'close' } });
        await asked.then(
          ({ status }) => (status === 200 ? (answered += 1) : failures.push(String(status))),
          (error: unknown) => failures.push(String((error as { cause?: unknown }).cause)),
        );
      }
    })();
    const old = replicas();
    await nodes.helm(
      'upgrade',
      'berth',
      chart,
      '--reset-then-reuse-values',
      '--wait',
      '--set',
      'controller.podAnnotations.upgrade=next',
    );
    await expect.poll(() => replicas().some((name) => old.includes(name)), PATIENT).toBe(false);
    stop.abort();
    await asking;
    expect(answered).toBeGreaterThan(0);
    expect(failures).toEqual([]);
    expect(await nodes.runs()).toEqual(before);
    await nodes.helm('rollback', 'berth', '--wait');
    expect(await nodes.runs()).toEqual(before);
  });

  it('uninstalls: the workload stays, and the hub accepts new clusters', async () => {
    const before = await nodes.runs();
    await nodes.helm('uninstall', 'berth', '--wait');
    await expect.poll(() => nodes.read(WEBHOOKS, '-o', 'name'), PATIENT).toBe('');
    await expect
      .poll(() => nodes.read('secret', 'berth-admission', ...PLACE, '-o', 'name'), PATIENT)
      .toBe('');
    expect(await nodes.runs()).toEqual(before);
    expect(nodes.cluster('.metadata.name')).toBe(CLUSTER);
    nodes.apply({
      ...{ apiVersion: 'cluster.open-cluster-management.io/v1', kind: 'ManagedCluster' },
      ...{ metadata: { name: 'later' }, spec: { hubAcceptsClient: false } },
    });
  });

  it('goes on after another installation, and lets the cluster leave', async () => {
    const before = await nodes.runs();
    await install();
    expect(await nodes.runs()).toEqual(before);
    await nodes.leave('later');
  });
});
