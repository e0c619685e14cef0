import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { BerthProcess } from '../e2e/berth-process.ts';
import { hasKubectl } from '../e2e/kubectl-program.ts';
import { GitFixture } from '../../packages/git-reader/test/fakes/git-fixture.ts';
import { isAvailable } from '@berth/test-kit/needed-program';
import { OUTAGE_PATIENCE_MS } from '@berth/test-kit/patience';

/** Of an administrator of a cluster that is thrown away afterwards. Its server is an address that pods reach, too. */
const KUBECONFIG = process.env['BERTH_NODES_KUBECONFIG'];
/** What the nodes have: Berth, under the name that `berth join` writes; the workload runs in it, too. */
const IMAGE = process.env['BERTH_NODES_IMAGE'] ?? 'berth:0.1.0';
const CLUSTER = 'edge';
const PATIENT = { timeout: OUTAGE_PATIENCE_MS, interval: 300 };
const FLEET = `
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: default, namespace: shop}
spec: {clusterSet: default}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: web, namespace: shop}
spec: {numberOfClusters: 1}
---
apiVersion: work.open-cluster-management.io/v1alpha1
kind: ManifestWorkReplicaSet
metadata: {name: web, namespace: shop}
spec:
  placementRefs: [{name: web}]
  manifestWorkTemplate:
    workload:
      manifests:
      - {apiVersion: v1, kind: Namespace, metadata: {name: web}}
      - apiVersion: apps/v1
        kind: Deployment
        metadata: {name: web, namespace: web}
        spec:
          replicas: 2
          selector: {matchLabels: {app: web}}
          template:
            metadata: {labels: {app: web}}
            spec:
              terminationGracePeriodSeconds: 1
              containers: [{name: web, image: '${IMAGE}', imagePullPolicy: IfNotPresent, command: [sleep, infinity]}]
`;
const declared = (more: string) => `
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: ${CLUSTER}${more}
`;
const LABEL = declared(', labels: {site: berlin}}');
const DRAIN = `${declared('}')}spec: {taints: [{key: maintenance, effect: NoSelect}]}\n`;

/** A cluster with nodes that is its own hub, an agent in a pod, and a controller of this checkout beside it. */
class Nodes {
  readonly git = new GitFixture();
  readonly dir = mkdtempSync(join(tmpdir(), 'berth-nodes-'));
  #controller: BerthProcess | undefined;

  kubectl(...args: readonly string[]): string {
    const all = ['--kubeconfig', KUBECONFIG ?? '', ...args];
    return execFileSync('kubectl', all, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  }

  /** What it prints; '' for an object that does not exist. */
  read(...args: readonly string[]): string {
    return this.kubectl('get', '--ignore-not-found', ...args);
  }

  /** @throws Error with all that the command said when it fails */
  async berth(...args: readonly string[]): Promise<string> {
    const process = new BerthProcess([...args, '--kubeconfig', KUBECONFIG ?? ''], { BERTH_HOME: this.dir });
    const { code } = await process.ended;
    if (code !== 0) throw new Error(`berth ${args[0] ?? ''} ended with ${String(code)}: ${process.text}`);
    return process.text;
  }

  async join(): Promise<void> {
    const text = await this.berth('get', 'token', '-o', 'json');
    const ticket = JSON.parse(text.slice(text.indexOf('{'))) as Record<string, string>;
    const hub = ['--hub-token', ticket['hub-token'] ?? '', '--hub-apiserver', ticket['hub-apiserver'] ?? ''];
    await this.berth('join', ...hub, '--cluster-name', CLUSTER, '--wait');
    await this.berth('accept', '--clusters', CLUSTER, '--wait');
  }

  serve(): void {
    this.#controller = new BerthProcess([
      ...['serve', '--repo', this.git.path, '--ref', 'main', '--poll', '1s', '--embedded'],
      ...['--registration', 'all', '--kubeconfig', KUBECONFIG ?? '', '--data', join(this.dir, 'data')],
      ...['--listen', '127.0.0.1:0'],
    ]);
  }

  /** Name, uid and restarts of each pod of the workload, while all are ready; empty before. */
  pods(): readonly string[] {
    const { items } = JSON.parse(this.kubectl('get', 'pods', '-n', 'web', '-o', 'json')) as Pods;
    const isReady = items.every(
      ({ status }) => status.containerStatuses?.every(({ ready }) => ready) ?? false,
    );
    return isReady
      ? items
          .map(
            ({ metadata: { name, uid }, status }) =>
              `${name} ${uid} ${String(status.containerStatuses?.[0]?.restartCount)}`,
          )
          .sort()
      : [];
  }

  /** The condition of a cluster or placement, as `status reason`. */
  condition(of: string, type: string): string {
    const path = `{range .status.conditions[?(@.type=="${type}")]}{.status} {.reason}{end}`;
    return this.read(...of.split(' '), '-o', `jsonpath=${path}`);
  }

  cluster(path: string): string {
    return this.read('managedcluster', CLUSTER, '-o', `jsonpath={${path}}`);
  }

  async close(): Promise<void> {
    await this.#controller?.kill();
    this.git.remove();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

interface Pods {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly uid: string };
    readonly status: {
      readonly containerStatuses?: readonly { readonly ready: boolean; readonly restartCount: number }[];
    };
  }[];
}

const problem = 'BERTH_NODES_KUBECONFIG names no cluster with nodes, so no pod runs';
const isThere = isAvailable('nodes', KUBECONFIG === undefined ? problem : undefined);

describe.skipIf(!isThere || !hasKubectl())('a workload that runs in pods of a real cluster', () => {
  const nodes = new Nodes();
  const runs = async (): Promise<readonly string[]> => {
    await expect.poll(() => nodes.pods(), PATIENT).toHaveLength(2);
    return nodes.pods();
  };
  afterAll(() => nodes.close());

  it('is placed by a commit, after init and join have installed controllers and agent in pods', async () => {
    await nodes.berth('init', '--wait');
    await nodes.join();
    const available = () => nodes.condition(`managedcluster ${CLUSTER}`, 'ManagedClusterConditionAvailable');
    await expect.poll(available, PATIENT).toBe('True ManagedClusterAvailable');
    // Two controllers would decide the same placements.
    nodes.kubectl('delete', 'deployment', 'berth', '-n', 'berth-system');
    // Nobody answers them any more.
    const webhooks = 'validatingwebhookconfiguration,mutatingwebhookconfiguration';
    nodes.kubectl('delete', webhooks, 'berth-admission');
    nodes.git.commit({ 'fleet.yaml': FLEET });
    nodes.serve();
    await runs();
  });

  it('goes on while the deletion of its only cluster is held, ends once when that is approved, and comes back with a join', async () => {
    const [before, work] = [await runs(), nodes.read('manifestworks', '-n', CLUSTER, '-o', 'name')];
    nodes.kubectl('delete', 'managedcluster', CLUSTER, '--wait=false');
    const held = () => nodes.condition(`managedcluster ${CLUSTER}`, 'Deleting');
    await expect.poll(held, PATIENT).toBe('False RemovalHeld');
    // fixed wait: once, a held deletion ended these pods every 8 seconds; clean-up looks again every 5
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    expect([nodes.pods(), nodes.read('manifestworks', '-n', CLUSTER, '-o', 'name')]).toEqual([before, work]);

    const path = `jsonpath={.status.conditions[?(@.type=="berth.dev/Held")].message}`;
    const message = nodes.read('placement', 'web', '-n', 'shop', '-o', path);
    await nodes.berth('release', 'shop/web', '--token', /--token (\w+)/.exec(message)?.[1] ?? '');
    await expect.poll(() => nodes.cluster('.metadata.uid'), PATIENT).toBe('');
    expect(nodes.read('namespace', 'web')).toBe('');
    const log = () =>
      nodes.kubectl('logs', '-n', 'open-cluster-management-agent', 'deployment/klusterlet-agent');
    await expect.poll(log, PATIENT).toContain('the hub has deleted this cluster');

    await nodes.join();
    expect(await runs()).not.toEqual(before);
  });

  it.each([
    ['a label', LABEL],
    ['a drain, which is held,', DRAIN],
  ])('does not notice %s that a commit gives to its cluster, nor the revert', async (_, file) => {
    const [before, uid, spec] = [await runs(), nodes.cluster('.metadata.uid'), nodes.cluster('.spec')];
    nodes.git.commit({ 'cluster.yaml': file });
    const adopted = () => nodes.cluster(".metadata.annotations['berth\\.dev/adopted']");
    await expect.poll(adopted, PATIENT).toBe('true');
    if (file === DRAIN)
      await expect
        .poll(() => nodes.condition('placement web -n shop', 'berth.dev/Held'), PATIENT)
        .toBe('True WouldEmpty');
    nodes.git.commit({ 'cluster.yaml': undefined });
    await expect.poll(adopted, PATIENT).toBe('');
    expect([nodes.cluster('.metadata.uid'), nodes.cluster('.spec')]).toEqual([uid, spec]);
    expect(nodes.cluster('.metadata.deletionTimestamp')).toBe('');
    expect(nodes.pods()).toEqual(before);
  });
});
