import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { startAgent } from '@berth/agent/start-agent';
import { runCli } from '../../src/app/cli/program.ts';
import { hubAdmission } from '../../src/controllers/admission/hub-admission.ts';
import { readSourceFolder } from '../../src/controllers/sources/reading/read-source-folder.ts';
import { startWorkloadSimulation } from '@berth/agent/simulation/workload-simulation';
import {
  CONFIG_MAP,
  DEPLOYMENT,
  MANAGED_CLUSTER,
  MANIFEST_WORK,
  MANIFEST_WORK_REPLICA_SET,
  NAMESPACE,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { RunningHub } from '@berth/embedded-hub/hub-options';
import { OCM_HUB } from '../fakes/embedded-hub.ts';
import { startHub } from '@berth/embedded-hub/start-hub';
import { makeCliIo } from '../app/cli-harness.ts';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { startWorksAlone } from '../fakes/works-alone.ts';

const CLUSTERS = ['canary-1', 'prod-1', 'prod-2', 'prod-3', 'prod-4'];

/** Everything real but the clusters' nodes: the embedded hub over TLS, its members, controllers, agents, the CLI. */
describe('works on the embedded hub', () => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'berth-works-'));
  const log = new SilentLogger();
  const closing: (() => unknown)[] = [];
  const members = new Map<string, HttpKubeApi>();
  let running: RunningHub;
  let hub: HttpKubeApi;

  const connect = (file: string): HttpKubeApi => {
    const api = new HttpKubeApi({ config: loadKubeConfig({ file }), clock: systemClock });
    closing.push(() => api.close());
    return api;
  };

  beforeAll(async () => {
    running = await startHub({
      ...OCM_HUB,
      dataDir: path.join(dir, 'hub'),
      members: CLUSTERS,
      admission: hubAdmission(),
    });
    hub = connect(running.adminKubeconfigPath);
    for (const name of [...CLUSTERS, 'shop'])
      await hub.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const shared = { clock: systemClock, log, random: Math.random };
    const works = startWorksAlone({ hub, ...shared });
    closing.unshift(() => works.close());
    for (const clusterName of CLUSTERS) {
      const cluster = connect(running.memberKubeconfigPath(clusterName));
      members.set(clusterName, cluster);
      const agent = startAgent({ hub, cluster, clusterName, ...shared, statusSyncIntervalMs: 500 });
      const simulation = startWorkloadSimulation({ cluster, ...shared, readyAfterMs: 200 });
      closing.unshift(
        () => agent.close(),
        () => simulation.close(),
      );
    }
  });

  afterAll(async () => {
    for (const close of closing) await close();
    await running.close();
    rmSync(dir, { recursive: true, force: true });
  });

  async function eventually<T>(look: () => Promise<T>, want: T): Promise<void> {
    const until = Date.now() + PATIENCE_MS;
    for (;;) {
      const got = await look();
      try {
        expect(got).toEqual(want);
        return;
      } catch (error) {
        if (Date.now() > until) throw error;
        // fixed wait: the pace of a poll
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  async function select(clusters: readonly string[]): Promise<void> {
    const apiVersion = 'cluster.open-cluster-management.io/v1beta1';
    const groups = [
      clusters.filter((name) => name.startsWith('canary')),
      clusters.filter((name) => name.startsWith('prod')),
    ];
    for (const [index, group] of groups.entries()) {
      const labels = {
        'cluster.open-cluster-management.io/placement': 'shops',
        'cluster.open-cluster-management.io/decision-group-index': String(index),
        'cluster.open-cluster-management.io/decision-group-name': index === 0 ? 'canary' : '',
      };
      const metadata = { name: `shops-decision-${index + 1}`, namespace: 'shop', labels };
      if ((await hub.get(PLACEMENT_DECISION, metadata)) === undefined)
        await hub.create(PLACEMENT_DECISION, { apiVersion, kind: 'PlacementDecision', metadata });
      const decisions = group.map((clusterName) => ({ clusterName, reason: '' }));
      await hub.mergePatch(
        PLACEMENT_DECISION,
        metadata,
        { status: { decisions } },
        { subresource: 'status' },
      );
    }
    const status = { numberOfSelectedClusters: clusters.length, decisionGroups: [], conditions: [] };
    await hub.mergePatch(
      PLACEMENT,
      { namespace: 'shop', name: 'shops' },
      { status },
      { subresource: 'status' },
    );
  }

  const versions = async (): Promise<string> => {
    const all = CLUSTERS.map(async (name) => {
      const found = await members.get(name)?.get(DEPLOYMENT, { namespace: 'shop', name: 'shop' });
      return /shop:(v\d)/.exec(JSON.stringify(found?.['spec'] ?? ''))?.[1] ?? '-';
    });
    return (await Promise.all(all)).join(' ');
  };
  const rolledOut = async (): Promise<string> => {
    const live = await hub.get(MANIFEST_WORK_REPLICA_SET, { namespace: 'shop', name: 'shop' });
    const { conditions = [] } = (live?.['status'] ?? {}) as {
      conditions?: { type: string; status: string }[];
    };
    return conditions
      .map(({ type, status }) => `${type}=${status}`)
      .sort()
      .join(' ');
  };

  it('rolls the example out, follows its placement, and takes everything back', async () => {
    const content = await readSourceFolder('examples/canary-rollout');
    for (const { object } of content.objects) {
      if (object.kind === 'ManagedCluster') await hub.create(MANAGED_CLUSTER, object);
      if (object.kind === 'Placement') await hub.create(PLACEMENT, object);
    }
    await select(CLUSTERS);
    const source = content.objects.find(({ object }) => object.kind === 'ManifestWorkReplicaSet')
      ?.object as KubeObject;
    const fast = JSON.parse(
      JSON.stringify(source).replace('"minSuccessTime":"10s"', '"minSuccessTime":"1s"'),
    ) as KubeObject;
    await hub.create(MANIFEST_WORK_REPLICA_SET, fast);
    await eventually(versions, 'v1 v1 v1 v1 v1');
    await eventually(rolledOut, 'ManifestworkApplied=True PlacementRolledOut=True PlacementVerified=True');
    await select(CLUSTERS.slice(0, 3));
    await eventually(versions, 'v1 v1 v1 - -');
    await hub.delete(MANIFEST_WORK_REPLICA_SET, { namespace: 'shop', name: 'shop' });
    await eventually(versions, '- - - - -');
    await eventually(async () => (await hub.list(MANIFEST_WORK)).items.length, 0);
  });

  it('works by hand: create, look, overwrite', async () => {
    const file = path.join(dir, 'web.yaml');
    const manifest = (value: string): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: by-hand, namespace: default}\ndata: {value: "${value}"}\n`;
    const berth = async (...args: string[]): Promise<{ code: number; out: string; err: string }> => {
      const { io, stdout, stderr } = makeCliIo({ env: { KUBECONFIG: running.adminKubeconfigPath } });
      return { code: await runCli(args, io), out: stdout(), err: stderr() };
    };
    const valueOn = async (name: string): Promise<unknown> =>
      (await members.get(name)?.get(CONFIG_MAP, { namespace: 'default', name: 'by-hand' }))?.['data'];
    writeFileSync(file, manifest('1'));
    const create = ['create', 'work', 'web', '-f', file, '--clusters', 'prod-1,prod-2'];
    expect(await berth(...create)).toMatchObject({
      code: 0,
      out: 'manifestwork prod-1/web created\nmanifestwork prod-2/web created\n',
    });
    await eventually(() => valueOn('prod-2'), { value: '1' });
    await eventually(async () => (await berth('get', 'works', 'web')).out.match(/True +True/g)?.length, 2);
    writeFileSync(file, manifest('2'));
    const refused = await berth(...create);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.err).toContain('--overwrite');
    expect(await berth(...create, '--overwrite')).toMatchObject({ code: 0 });
    await eventually(() => valueOn('prod-1'), { value: '2' });
    const described = await berth('describe', 'work', 'web', '--cluster', 'prod-1');
    expect(described.out).toContain('[0] ConfigMap default/by-hand');
    for (const namespace of ['prod-1', 'prod-2']) await hub.delete(MANIFEST_WORK, { namespace, name: 'web' });
    await eventually(() => valueOn('prod-1'), undefined);
  });

  const manifest = (name: string, text = ''): object => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default' },
    data: { text },
  });
  it.each([
    { name: 'no manifests', manifests: [], text: 'manifests should not be empty' },
    {
      name: 'no name',
      manifests: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }],
      text: 'name must be set in manifest',
    },
    {
      name: 'the same twice',
      manifests: [manifest('a'), manifest('a')],
      text: 'duplicate manifest for resource default/a',
    },
    { name: 'more than 500 KiB', manifests: [manifest('a', 'x'.repeat(512_000))], text: 'exceeds' },
  ])('refuses a work with $name', async ({ manifests, text }) => {
    const work = {
      apiVersion: 'work.open-cluster-management.io/v1',
      kind: 'ManifestWork',
      metadata: { name: 'bad', namespace: 'prod-1' },
      spec: { workload: { manifests } },
    };
    await expect(hub.create(MANIFEST_WORK, work as unknown as KubeObject)).rejects.toThrow(text);
  });

  it('deletes a completed work after its time', async () => {
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'once', namespace: 'default' },
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'b' }] } } },
    };
    const work = {
      apiVersion: 'work.open-cluster-management.io/v1',
      kind: 'ManifestWork',
      metadata: { name: 'once', namespace: 'prod-4' },
      spec: {
        workload: { manifests: [job] },
        deleteOption: { ttlSecondsAfterFinished: 1 },
        manifestConfigs: [
          {
            resourceIdentifier: { group: 'batch', resource: 'jobs', name: 'once', namespace: 'default' },
            conditionRules: [{ condition: 'Complete', type: 'WellKnownConditions' }],
          },
        ],
      },
    };
    await hub.create(MANIFEST_WORK, work);
    await eventually(
      async () => (await hub.get(MANIFEST_WORK, { namespace: 'prod-4', name: 'once' })) === undefined,
      true,
    );
  });
});
