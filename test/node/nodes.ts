import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { isAvailable } from '@berth/test-kit/needed-program';
import { OUTAGE_PATIENCE_MS } from '@berth/test-kit/patience';
import { findHelm } from '../../packages/addon/test/sources/find-helm.ts';
import { GitFixture } from '../../packages/git-reader/test/fakes/git-fixture.ts';
import { BerthProcess } from '../e2e/berth-process.ts';
import { hasKubectl } from '../e2e/kubectl-program.ts';

const run = promisify(execFile);
const helm = findHelm();
/** Where the chart installs the controllers. */
export const PLACE = ['--namespace', 'berth-system'];
/** Of an administrator of a cluster that is thrown away afterwards. Its server is an address that pods reach, too. */
export const KUBECONFIG = process.env['BERTH_NODES_KUBECONFIG'];
/** What the nodes have: Berth, under the name that `berth join` writes; the workload runs in it, too. */
const IMAGE = process.env['BERTH_NODES_IMAGE'] ?? 'berth:0.1.0';
export const CLUSTER = 'edge';
export const PATIENT = { timeout: OUTAGE_PATIENCE_MS, interval: 300 };
export const FLEET = `
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
/** A cluster with nodes that is its own hub, an agent in a pod, and a controller of this checkout beside it. */
export class Nodes {
  readonly git = new GitFixture();
  readonly dir = mkdtempSync(join(tmpdir(), 'berth-nodes-'));
  #controller: BerthProcess | undefined;

  kubectl(...args: readonly string[]): string {
    const all = ['--kubeconfig', KUBECONFIG ?? '', ...args];
    const stdio = ['ignore', 'pipe', 'ignore'] as ('ignore' | 'pipe')[];
    return execFileSync('kubectl', all, { encoding: 'utf8', maxBuffer: 1 << 26, stdio }).trim();
  }

  /** The address of this machine by which pods reach the API server, and so this machine. */
  get hostname(): string {
    return new URL(this.kubectl('config', 'view', '--minify', '-o', 'jsonpath={.clusters[0].cluster.server}'))
      .hostname;
  }

  /** Host and port of the controllers' Service. */
  serviceAddress(): string {
    const path = 'jsonpath={.spec.clusterIP}:{.spec.ports[0].port}';
    return this.read('service', 'berth', ...PLACE, '-o', path);
  }

  /** Runs helm on the controllers' release; what it prints. */
  async helm(...args: readonly string[]): Promise<string> {
    return (await run(helm ?? '', [...args, ...PLACE, '--kubeconfig', KUBECONFIG ?? ''])).stdout;
  }

  /** What it prints; '' for an object that does not exist. */
  read(...args: readonly string[]): string {
    return this.kubectl('get', '--ignore-not-found', ...args);
  }

  apply(object: object): void {
    const args = ['--kubeconfig', KUBECONFIG ?? '', 'apply', '-f', '-'];
    execFileSync('kubectl', args, { input: JSON.stringify(object), stdio: ['pipe', 'ignore', 'ignore'] });
  }

  /** @throws Error with all that the command said when it fails */
  async berth(...args: readonly string[]): Promise<string> {
    const process = new BerthProcess([...args, '--kubeconfig', KUBECONFIG ?? ''], { BERTH_HOME: this.dir });
    const { code } = await process.ended;
    if (code !== 0) throw new Error(`berth ${args[0] ?? ''} ended with ${String(code)}: ${process.text}`);
    return process.text;
  }

  /** @param more arguments of `berth join` */
  async join(cluster = CLUSTER, ...more: readonly string[]): Promise<void> {
    const text = await this.berth('get', 'token', '-o', 'json');
    const ticket = JSON.parse(text.slice(text.indexOf('{'))) as Record<string, string>;
    const hub = ['--hub-token', ticket['hub-token'] ?? '', '--hub-apiserver', ticket['hub-apiserver'] ?? ''];
    await this.berth('join', ...hub, '--cluster-name', cluster, '--wait', ...more);
    await this.berth('accept', '--clusters', cluster, '--wait');
  }

  /** Approves what is held of the placement. */
  async release(): Promise<void> {
    const path = `jsonpath={.status.conditions[?(@.type=="berth.dev/Held")].message}`;
    const message = this.read('placement', 'web', '-n', 'shop', '-o', path);
    await this.berth('release', 'shop/web', '--token', /--token (\w+)/.exec(message)?.[1] ?? '');
  }

  /** Lets the cluster leave once its removal, which is held, is approved; others are not held. Uninstalls the chart. */
  async leave(...others: readonly string[]): Promise<void> {
    const before = await this.runs();
    this.kubectl('delete', 'managedcluster', CLUSTER, ...others, '--wait=false');
    const held = () => this.condition(`managedcluster ${CLUSTER}`, 'Deleting');
    await expect.poll(held, PATIENT).toBe('False RemovalHeld');
    expect(await this.runs()).toEqual(before);
    await this.release();
    await expect.poll(() => this.read('managedclusters', '-o', 'name'), PATIENT).toBe('');
    expect(this.read('namespace', 'web')).toBe('');
    await this.berth('unjoin', '--cluster-name', CLUSTER);
    await this.helm('uninstall', 'berth', '--wait');
    // The leader lost its rights before it could release its Lease, which others respect until it lapses.
    this.kubectl('delete', 'namespace', 'berth-system', 'open-cluster-management');
  }

  serve(): void {
    this.#controller = new BerthProcess([
      ...['serve', '--repo', this.git.path, '--ref', 'main', '--poll', '1s', '--embedded'],
      ...['--registration', 'all', '--kubeconfig', KUBECONFIG ?? '', '--data', join(this.dir, 'data')],
      ...['--listen', '127.0.0.1:0'],
    ]);
  }

  /** The two pods of the workload, once they are ready. */
  async runs(): Promise<readonly string[]> {
    await expect.poll(() => this.pods(), PATIENT).toHaveLength(2);
    return this.pods();
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

/** Whether the tests on a cluster with nodes can run. */
export const hasNodes = isAvailable('nodes', KUBECONFIG === undefined ? problem : undefined) && hasKubectl();
/** The same for tests of the chart. */
export const hasNodesAndHelm = hasNodes && helm !== undefined;
