import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAvailable } from '@berth/test-kit/needed-program';
import { seeded, TEST_SEED } from '@berth/test-kit/seeded-random';
import { type GitServer, serveHttp } from '../../packages/git-reader/test/git-servers.ts';
import {
  CONTROL_PLANE_PROGRAMS,
  type ControlPlane,
  startControlPlane,
} from '../interop/peers/control-plane.ts';
import { hasPeers } from '../interop/peers/peer-programs.ts';
import { copyChart } from '../deploy/render-chart.ts';
import { hasMachine } from './faults/cluster-machine.ts';
import { ExpectedPlacements } from './faults/expected-placements.ts';
import { agents, controllers, nodeFaults, servingPods } from './faults/node-faults.ts';
import { PluginClient } from './faults/plugin-client.ts';
import { type Metadata, WatchedObjects } from './faults/watched-objects.ts';
import { CLUSTER, hasNodesAndHelm, KUBECONFIG, Nodes, PATIENT } from './nodes.ts';

const FAULTS = Number(process.env['BERTH_NODE_FAULTS'] ?? 10);
const FAR = 'far';
const MARKET = 'market';
const WORKLOADS = ['bread', 'fish', 'fruit', 'tea'];
/** Where a commit may put a workload. */
const PLACES = [[CLUSTER], [FAR], [CLUSTER, FAR]];
const canBreak = isAvailable(
  'nodes',
  hasMachine
    ? undefined
    : 'BERTH_NODES_APISERVER_PID names no API server of this machine, so no fault is made',
);

const SETUP = `
apiVersion: v1
kind: Namespace
metadata: {name: ${MARKET}}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: default, namespace: ${MARKET}}
spec: {clusterSet: default}
`;
const placed = (name: string, clusters: readonly string[]): string => `
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: ${name}, namespace: ${MARKET}}
spec:
  numberOfClusters: ${String(clusters.length)}
  predicates:
  - requiredClusterSelector:
      celSelector: {celExpressions: ['managedCluster.metadata.name in ${JSON.stringify(clusters)}']}
---
apiVersion: work.open-cluster-management.io/v1alpha1
kind: ManifestWorkReplicaSet
metadata: {name: ${name}, namespace: ${MARKET}}
spec:
  placementRefs: [{name: ${name}}]
  manifestWorkTemplate:
    workload:
      manifests:
      - apiVersion: apps/v1
        kind: Deployment
        metadata: {name: ${name}, namespace: ${MARKET}}
        spec:
          selector: {matchLabels: {app: ${name}}}
          template:
            metadata: {labels: {app: ${name}}}
            spec:
              terminationGracePeriodSeconds: 1
              containers: [{name: web, image: 'berth:0.1.0', imagePullPolicy: IfNotPresent, command: [sleep, infinity]}]
`;

/** A workload, and where a commit puts it. */
type Move = readonly [workload: string, clusters: readonly string[]];

interface Settled {
  readonly fault: string;
  readonly seconds: number;
  readonly gapMs: number;
}

describe.skipIf(!hasNodesAndHelm || !canBreak || !hasPeers(...CONTROL_PLANE_PROGRAMS))(
  'faults on a cluster with nodes',
  () => {
    const nodes = new Nodes();
    const random = seeded(TEST_SEED);
    const expected = new ExpectedPlacements();
    let server: GitServer;
    let far: ControlPlane;
    let watched: readonly (readonly [WatchedObjects, cluster?: string])[] = [];
    let plugin: PluginClient;

    const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    const commit = (moves: readonly Move[]): void => {
      for (const [workload, clusters] of moves) expected.place(workload, clusters);
      nodes.git.commit(
        Object.fromEntries(moves.map(([name, clusters]) => [`${name}.yaml`, placed(name, clusters)])),
      );
    };
    /** One workload or two, each to another place. */
    const draw = (): readonly Move[] =>
      [...new Set([one(WORKLOADS), one(WORKLOADS)])].map((name) => [
        name,
        one(PLACES.filter((clusters) => String(clusters) !== String(expected.clusters(name)))),
      ]);
    /** What Git says and is not so yet, or what is not ready. */
    const missing = async (): Promise<readonly string[]> => {
      const [replicas, serving] = [await controllers(), await servingPods()];
      const pods = [...replicas, ...(await agents())];
      // The proxies of the Service follow within a second or two.
      const isFollowed = String(serving) === String(replicas.map(({ name }) => name).sort());
      if (!isFollowed) plugin.inARow = 0;
      return [
        ...pods.filter(({ isReady }) => !isReady).map(({ name }) => `${name} is not ready`),
        ...(pods.length === 4 ? [] : [`there are ${String(pods.length)} pods`]),
        ...watched
          .filter(([each, cluster]) => String(each.pairs()) !== String(expected.pairs(cluster)))
          .map(
            ([each, cluster]) =>
              `${each.kind}: ${String(each.pairs())}, not ${String(expected.pairs(cluster))}`,
          ),
        ...(plugin.inARow < 20 ? [`the plugin answered ${String(plugin.inARow)} times in a row`] : []),
        ...WORKLOADS.filter((name) => plugin.latest(name) !== String(expected.clusters(name))).map(
          (name) =>
            `the plugin puts ${name} on ${plugin.latest(name)}, not ${String(expected.clusters(name))}`,
        ),
      ];
    };
    const problems = (): readonly string[] =>
      [plugin, ...watched.map(([each]) => each)].flatMap((each) => each.problems);
    const settle = async (): Promise<number> => {
      const startMs = performance.now();
      await expect.poll(missing, PATIENT).toEqual([]);
      expected.settle();
      return (performance.now() - startMs) / 1000;
    };

    beforeAll(async () => {
      server = await serveHttp(nodes.git.path, { host: nodes.hostname });
      far = await startControlPlane([], nodes.hostname);
    });
    afterAll(async () => {
      await plugin?.close();
      await Promise.all(watched.map(([each]) => each.close()));
      await far?.stop();
      await server?.close();
      await nodes.close();
    });

    it('places workloads on a cluster that joined, and on one whose agent is hosted', async () => {
      const token = randomBytes(16).toString('hex');
      const tokens = { tokens: [{ name: 'argocd', token, namespaces: [MARKET] }] };
      nodes.kubectl('create', 'namespace', 'berth-system');
      nodes.apply({
        ...{
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'berth-tokens', namespace: 'berth-system' },
        },
        stringData: { 'tokens.yaml': JSON.stringify(tokens) },
      });
      const serve = [`repo={${server.url}}`, 'ref=main', 'poll=1s', 'leaderElect=true'];
      const values = ['controller.replicas=2', 'tokens.secretName=berth-tokens'];
      values.push(...serve.map((value) => `serve.${value}`));
      nodes.git.commit({ 'setup.yaml': SETUP });
      await nodes.helm('install', 'berth', copyChart(nodes.dir), '--wait', '--set', values.join());
      await nodes.join();
      await nodes.join(FAR, '--mode', 'hosted', '--managed-cluster-kubeconfig', far.kubeconfig);
      await far.client.call('POST', '/api/v1/namespaces', { metadata: { name: MARKET } });
      plugin = new PluginClient({
        url: `http://${nodes.serviceAddress()}`,
        token,
        namespace: MARKET,
        expected,
      });
      watched = watchFrom(far.kubeconfig, expected);
      commit(WORKLOADS.map((name) => [name, one(PLACES)]));
      await settle();
      expect(problems()).toEqual([]);
    });

    it(
      `loses and doubles nothing in ${String(FAULTS)} faults`,
      async () => {
        console.log(`repeat with BERTH_NODE_FAULTS=${String(FAULTS)} BERTH_SEED=${String(TEST_SEED)}`);
        const kinds = nodeFaults(random);
        const settled: Settled[] = [];
        for (let number = 1; number <= FAULTS; number += 1) {
          const fault = one(kinds);
          const moves = random() < 0.7 ? draw() : [];
          plugin.restart();
          const did = await fault.make(() => {
            if (moves.length > 0) commit(moves);
          });
          const seconds = await settle();
          const gapMs = plugin.gapMs();
          settled.push({ fault: fault.name, seconds, gapMs });
          const moved = moves.map(([name, clusters]) => `, ${name} moved to ${String(clusters)}`).join('');
          const costs = `settled after ${seconds.toFixed(1)} s, no answer for ${(gapMs / 1000).toFixed(1)} s`;
          console.log(`${String(number)} ${did}${moved}: ${costs}`);
          expect(problems()).toEqual([]);
          if (fault.isHarmless) expect(plugin.refusals).toEqual([]);
        }
        console.table(figures(settled));
      },
      3 * 3_600_000,
    );

    it('lets the clusters leave', async () => {
      await plugin.close();
      commit(WORKLOADS.map((name) => [name, []]));
      await expect.poll(() => watched.flatMap(([each]) => each.pairs()), PATIENT).toEqual([]);
      nodes.kubectl('delete', 'managedcluster', CLUSTER, FAR, '--wait=false');
      await expect.poll(() => nodes.read('managedclusters', '-o', 'name'), PATIENT).toBe('');
      await nodes.berth('unjoin', '--cluster-name', CLUSTER);
      await nodes.berth('unjoin', '--cluster-name', FAR);
      await nodes.helm('uninstall', 'berth', '--wait');
      nodes.kubectl('delete', 'namespace', 'berth-system', 'open-cluster-management');
    });
  },
);

/** The works and the workloads, and the cluster that they are on where it is one. */
function watchFrom(farKubeconfig: string, expected: ExpectedPlacements) {
  const label = 'work.open-cluster-management.io/manifestworkreplicaset';
  const replicaSets = WORKLOADS.map((name) => `${MARKET}.${name}`).join();
  const [hub, far] = [
    { kubeconfig: KUBECONFIG ?? '', expected },
    { kubeconfig: farKubeconfig, expected },
  ];
  const works = {
    kind: 'manifestworks',
    path: `/apis/work.open-cluster-management.io/v1/manifestworks?labelSelector=${encodeURIComponent(`${label} in (${replicaSets})`)}`,
    workloadOf: ({ labels }: Metadata) => labels?.[label]?.split('.').at(-1) ?? '',
  };
  const deployments = {
    kind: 'deployments',
    path: `/apis/apps/v1/namespaces/${MARKET}/deployments`,
    workloadOf: ({ name }: Metadata) => name,
  };
  return [
    [new WatchedObjects({ ...hub, ...works })],
    [new WatchedObjects({ ...hub, ...deployments, cluster: CLUSTER }), CLUSTER],
    [new WatchedObjects({ ...far, ...deployments, cluster: FAR }), FAR],
  ] as const;
}

/** What the faults of each kind cost. */
function figures(settled: readonly Settled[]): Readonly<Record<string, object>> {
  const longest = (all: readonly number[]): string => Math.max(...all).toFixed(1);
  return Object.fromEntries(
    [...new Set(settled.map(({ fault }) => fault))].sort().map((kind) => {
      const all = settled.filter(({ fault }) => fault === kind);
      const costs = {
        faults: all.length,
        'longest, to settle (s)': longest(all.map(({ seconds }) => seconds)),
        'longest without an answer (s)': longest(all.map(({ gapMs }) => gapMs / 1000)),
      };
      return [kind, costs];
    }),
  );
}
