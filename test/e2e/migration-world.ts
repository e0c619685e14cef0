import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import { expect } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import {
  CONFIG_MAP,
  MANAGED_CLUSTER,
  MANIFEST_WORK,
  NAMESPACE,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { TimelineStep } from '../../src/core/timeline/timeline.ts';
import { issueKubeconfig } from '@berth/embedded-hub/maintenance/issue-kubeconfig';
import { HubSide } from '../agent/registration/hub-side.ts';
import { BreakingProxy } from '../../packages/kube/test/fakes/breaking-proxy.ts';
import { GitFixture } from '../../packages/git-reader/test/fakes/git-fixture.ts';
import { OUTAGE_PATIENCE_MS } from '@berth/test-kit/patience';
import { seeded, TEST_SEED } from '@berth/test-kit/seeded-random';
import type { AgentPlace, MatrixAgent } from '../interop/registration/matrix-agents.ts';
import { BerthProcess } from './berth-process.ts';
import { ControllerProcess } from './controller-process.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';

export const CLUSTERS = ['east', 'west'] as const;
export type ClusterName = (typeof CLUSTERS)[number];
const BOOTSTRAP_USER = 'system:serviceaccount:open-cluster-management:agent-registration-bootstrap';
const OCM = 'cluster.open-cluster-management.io';
const AGENT_NAMESPACES = ['open-cluster-management-agent', 'open-cluster-management-agent-addon'];
export type StartAgent = (place: AgentPlace) => MatrixAgent | Promise<MatrixAgent>;
export const UNREACHABLE = `${OCM}/unreachable`;
const COPY = { namespace: 'default', name: 'shop' };
/** Five of them without a renewal make a cluster unreachable. */
const LEASE_SECONDS = 2;

/** How long the placement tolerates a cluster that is unreachable, in seconds, and how it leaves one. */
export interface Tolerance {
  readonly seconds: number;
  readonly makeBeforeBreak?: boolean;
}

/** A hub, `berth serve` with all controllers of registration, and the agents of two clusters, each a process of its own. */
export class MigrationWorld {
  readonly serve: ControllerProcess;
  readonly #hub: HubProcess;
  readonly #api: HttpKubeApi;
  readonly #members: ReadonlyMap<string, HttpKubeApi>;
  readonly #git: GitFixture;
  readonly #dir: string;
  readonly #agents = new Map<ClusterName, MatrixAgent>();
  readonly #begin: StartAgent;
  readonly #networks = new Map<ClusterName, BreakingProxy>();

  private constructor(hub: HubProcess, git: GitFixture, dir: string, begin: StartAgent) {
    this.#begin = begin;
    this.#hub = hub;
    this.#git = git;
    this.#dir = dir;
    this.#api = clientOf(hub.kubeconfig);
    this.#members = new Map(CLUSTERS.map((name) => [name, clientOf(this.#member(name))]));
    this.serve = new ControllerProcess([
      ...['--kubeconfig', hub.kubeconfig, '--embedded', '--repo', git.path, '--poll', '200ms'],
      ...['--registration', 'all', '--auto-accept-user', BOOTSTRAP_USER],
    ]);
  }

  /** @param begin starts the agent of a cluster */
  static async create(begin: StartAgent): Promise<MigrationWorld> {
    const dir = mkdtempSync(join(tmpdir(), 'berth-migration-'));
    const hub = await startHubProcess(join(dir, 'hub'), ['--members', CLUSTERS.join(',')]);
    const git = new GitFixture();
    git.commit({ 'fleet.yaml': yamlOf(fleet()) });
    return new MigrationWorld(hub, git, dir, begin);
  }

  /** Until both clusters have joined; then there is the placement. */
  async start(tolerance: Tolerance): Promise<void> {
    await new HubSide(this.#api).prepareBootstrap(BOOTSTRAP_USER);
    await expect.poll(() => this.serve.readyz(), { timeout: OUTAGE_PATIENCE_MS }).toMatch(/^200 ok/);
    for (const cluster of CLUSTERS) {
      const network = new BreakingProxy(Number(new URL(this.#hub.url).port), seeded(TEST_SEED));
      this.#networks.set(cluster, network);
      await this.#writeBootstrap(cluster, await network.listen());
      for (const name of AGENT_NAMESPACES) await this.#createNamespace(cluster, name);
      await this.startAgent(cluster);
    }
    for (const cluster of CLUSTERS) await this.becomes(cluster, 'True');
    this.commit(tolerance);
  }

  async close(): Promise<void> {
    for (const cluster of CLUSTERS) {
      this.thaw(cluster);
      await this.kill(cluster);
      await this.#networks.get(cluster)?.close();
    }
    for (const client of [this.#api, ...this.#members.values()]) client.close();
    await this.serve.remove();
    await this.#hub.end('SIGKILL');
    this.#git.remove();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  commit(tolerance: Tolerance): void {
    this.#git.commit({ 'shop.yaml': yamlOf(placement(tolerance)) });
  }

  async startAgent(cluster: ClusterName): Promise<void> {
    const [hubDir, logDir] = ['hub', 'log'].map((name) => join(this.#dir, `${name}-of-${cluster}`)) as [
      string,
      string,
    ];
    for (const dir of [hubDir, logDir]) mkdirSync(dir, { recursive: true });
    const kubeconfig = this.#member(cluster);
    const place = { cluster, bootstrap: this.#bootstrap(cluster), kubeconfig, hubDir, logDir };
    this.#agents.set(cluster, await this.#begin(place));
  }

  /** OCM's agents expect them. */
  async #createNamespace(cluster: ClusterName, name: string): Promise<void> {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await this.#members.get(cluster)?.create(NAMESPACE, namespace);
  }

  async kill(cluster: ClusterName): Promise<void> {
    const agent = this.#agents.get(cluster);
    this.#agents.delete(cluster);
    await agent?.kill();
  }

  freeze(cluster: ClusterName): void {
    this.#agents.get(cluster)?.pause();
  }

  thaw(cluster: ClusterName): void {
    this.#agents.get(cluster)?.resume();
  }

  /** Between the agent and the hub. */
  network(cluster: ClusterName, mood: 'pass' | 'silent' | 'refuse'): void {
    this.#networks.get(cluster)?.set(mood);
  }

  /** Sets or removes the taint that a person gives a cluster under maintenance. */
  async maintain(cluster: ClusterName, isUnder: boolean): Promise<void> {
    const taints = isUnder ? [{ key: 'maintenance', effect: 'NoSelect' }] : null;
    await this.#api.mergePatch(MANAGED_CLUSTER, { namespace: '', name: cluster }, { spec: { taints } });
  }

  async becomes(cluster: ClusterName, available: 'True' | 'Unknown'): Promise<void> {
    const status = async () => {
      const conditions = (await this.managed(cluster))?.status?.conditions ?? [];
      return conditions.find(({ type }) => type === 'ManagedClusterConditionAvailable')?.status;
    };
    await expect.poll(status, { timeout: OUTAGE_PATIENCE_MS }).toBe(available);
  }

  async managed(name: string): Promise<ManagedCluster | undefined> {
    return (await this.#api.get(MANAGED_CLUSTER, { namespace: '', name })) as unknown as
      | ManagedCluster
      | undefined;
  }

  placement(): Promise<KubeObject | undefined> {
    return this.#api.get(PLACEMENT, { namespace: 'shop', name: 'shop' });
  }

  async taints(cluster: ClusterName): Promise<readonly string[]> {
    return ((await this.managed(cluster))?.spec?.taints ?? []).map(({ key }) => key);
  }

  async decided(): Promise<readonly string[]> {
    const { items } = await this.#api.list(PLACEMENT_DECISION, { namespace: 'shop' });
    return items
      .flatMap((item) => (item as unknown as PlacementDecision).status?.decisions ?? [])
      .map(({ clusterName }) => clusterName);
  }

  async hasCopy(cluster: ClusterName): Promise<boolean> {
    return (await this.#members.get(cluster)?.get(CONFIG_MAP, COPY)) !== undefined;
  }

  /** Until the placement has this cluster alone, and its copy is there. */
  async runsOn(cluster: ClusterName): Promise<void> {
    await expect.poll(() => this.decided(), { timeout: OUTAGE_PATIENCE_MS }).toEqual([cluster]);
    await expect.poll(() => this.hasCopy(cluster), { timeout: OUTAGE_PATIENCE_MS }).toBe(true);
  }

  async work(cluster: ClusterName): Promise<KubeObject | undefined> {
    return (await this.#api.list(MANIFEST_WORK, { namespace: cluster })).items[0];
  }

  /** What `berth history shop/shop --timeline` prints. */
  async timeline(): Promise<readonly TimelineStep[]> {
    return JSON.parse(await this.history('-o', 'json')) as readonly TimelineStep[];
  }

  async history(...args: readonly string[]): Promise<string> {
    const words = ['history', 'shop/shop', '--timeline', '--data', this.serve.data, '--limit', '1000'];
    const process = new BerthProcess([...words, ...args]);
    const { code } = await process.ended;
    expect(code, process.text).toBe(0);
    return process.text;
  }

  #member(cluster: string): string {
    return join(this.#dir, 'hub', `admin-${cluster}.kubeconfig`);
  }

  #bootstrap(cluster: string): string {
    return join(this.#dir, `bootstrap-${cluster}.kubeconfig`);
  }

  async #writeBootstrap(cluster: string, port: number): Promise<void> {
    const asked = { dataDir: join(this.#dir, 'hub'), user: BOOTSTRAP_USER, groups: [], cluster: '' };
    const text = await issueKubeconfig(asked, Date.now());
    writeFileSync(this.#bootstrap(cluster), text.replace(this.#hub.url, `https://127.0.0.1:${port}`));
  }
}

function clientOf(file: string): HttpKubeApi {
  return new HttpKubeApi({ config: loadKubeConfig({ file }), clock: systemClock });
}

function yamlOf(objects: readonly object[]): string {
  return objects.map((object) => dump(object)).join('---\n');
}

function fleet(): readonly object[] {
  const clusters = CLUSTERS.map((name) => ({
    apiVersion: `${OCM}/v1`,
    kind: 'ManagedCluster',
    metadata: { name, labels: { [`${OCM}/clusterset`]: 'shops' } },
    spec: { hubAcceptsClient: true, leaseDurationSeconds: LEASE_SECONDS },
  }));
  const bound = { clusterSet: 'shops' };
  return [
    ...clusters,
    {
      apiVersion: `${OCM}/v1beta2`,
      kind: 'ManagedClusterSet',
      metadata: { name: 'shops' },
      spec: { clusterSelector: { selectorType: 'ExclusiveClusterSetLabel' } },
    },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
    {
      apiVersion: `${OCM}/v1beta2`,
      kind: 'ManagedClusterSetBinding',
      metadata: { name: 'shops', namespace: 'shop' },
      spec: bound,
    },
    {
      apiVersion: 'work.open-cluster-management.io/v1alpha1',
      kind: 'ManifestWorkReplicaSet',
      metadata: { name: 'shop', namespace: 'shop' },
      spec: {
        placementRefs: [{ name: 'shop' }],
        manifestWorkTemplate: {
          workload: { manifests: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: COPY }] },
        },
      },
    },
  ];
}

function placement({ seconds, makeBeforeBreak = false }: Tolerance): readonly object[] {
  const annotations = {
    // Each story moves it once more.
    'berth.dev/removal-budget': '100%',
    ...(makeBeforeBreak && { 'berth.dev/move-policy': 'MakeBeforeBreak' }),
  };
  const toleration = { key: UNREACHABLE, operator: 'Exists', tolerationSeconds: seconds };
  return [
    {
      apiVersion: `${OCM}/v1beta1`,
      kind: 'Placement',
      metadata: { name: 'shop', namespace: 'shop', annotations },
      spec: { numberOfClusters: 1, tolerations: [toleration] },
    },
  ];
}
