import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { serveCache } from '../../../../src/app/serve/serve-cache.ts';
import {
  type RunningClusterSecrets,
  startClusterSecrets,
} from '../../../../src/controllers/argocd/cluster-secrets/start-cluster-secrets.ts';
import type { SecretWritten } from '../../../../src/controllers/argocd/cluster-secrets/secrets-pass.ts';
import {
  APPLICATION,
  GITOPS_CLUSTERS,
  MANAGED_SERVICE_ACCOUNT,
} from '../../../../src/core/argocd/argocd-kinds.ts';
import { kind, type KindInfo, MANAGED_CLUSTER, NAMESPACE, SECRET } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { PublishedPlacements } from '../../../../src/core/publish/pages/published-placements.ts';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { startEmbeddedHub } from '../../../fakes/embedded-hub.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { cluster } from '../../../app/serve/fleet-fixture.ts';
import { crd } from '../argocd-objects.ts';

const CRD = kind('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition', 'Cluster');
const APPS = 'apps.open-cluster-management.io';
const ACCOUNTS = 'authentication.open-cluster-management.io';
const [PUSH, AGENT] = GITOPS_CLUSTERS as readonly [KindInfo, KindInfo];

/** An embedded hub with the kinds of Argo CD, and the controller on it; the test publishes. */
class World {
  published = new PublishedPlacements();
  readonly written: SecretWritten[] = [];
  readonly #hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  #running: RunningClusterSecrets | undefined;
  #supervisor: Supervisor | undefined;

  constructor(hub: Awaited<ReturnType<typeof startEmbeddedHub>>) {
    this.#hub = hub;
  }

  static async create(kinds: readonly KubeObject[] = ALL_KINDS): Promise<World> {
    const world = new World(await startEmbeddedHub());
    for (const one of kinds) await world.make(CRD, one);
    for (const name of ['argocd', 'c1', 'c2', 'c3'])
      await world.make(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    for (const name of ['c1', 'c2', 'c3']) {
      const { spec, ...rest } = cluster(name, { labels: { region: `eu-${name}`, secret: 'no' } });
      const managedClusterClientConfigs = [{ url: `https://${name}:6443`, caBundle: 'Q0E=' }];
      await world.make(MANAGED_CLUSTER, { ...rest, spec: { ...spec, managedClusterClientConfigs } });
    }
    return world;
  }

  start(): void {
    const shared = { clock: systemClock, random: Math.random, log: new SilentLogger() };
    const { api } = this.#hub;
    const argocd = {
      namespace: 'argocd',
      refresh: false,
      clusterSecrets: true,
      pull: false,
      pluginConfigMaps: [],
      clusterLabels: [],
    };
    const options = { ...shared, api, argocd, sources: [], dataDir: '', engineVersion: 'test', env: {} };
    const history = { check: () => Promise.resolve(0), reportBreak: () => Promise.resolve() };
    const cache = serveCache(options, () => undefined, history);
    this.#supervisor = new Supervisor(shared);
    this.#running = startClusterSecrets({
      ...shared,
      ...{ hub: api, cache, published: this.published, argocdNamespace: 'argocd', labels: ['region'] },
      onWrite: (event) => this.written.push(event),
    });
    cache.start(this.#supervisor);
  }

  publish(placement: string, clusters: readonly string[]): void {
    const decisions = clusters.map((clusterName) => ({ clusterName, reason: '' }));
    this.published.set(`argocd/${placement}`, [{ name: 'page', group: { name: '', index: 0 }, decisions }]);
    this.published.markComplete();
  }

  make(of: KindInfo, object: object): Promise<KubeObject> {
    return this.#hub.api.create(of, object as KubeObject);
  }

  patch(of: KindInfo, name: string, patch: object, namespace = 'argocd'): Promise<KubeObject> {
    return this.#hub.api.mergePatch(of, { namespace, name }, patch);
  }

  status(name: string, status: object): Promise<KubeObject> {
    const key = { namespace: 'c1', name };
    return this.#hub.api.mergePatch(MANAGED_SERVICE_ACCOUNT, key, { status }, { subresource: 'status' });
  }

  delete(of: KindInfo, name: string, namespace = 'argocd'): Promise<boolean> {
    return this.#hub.api.delete(of, { namespace, name });
  }

  async statusOf(of: KindInfo, name = 'all'): Promise<unknown> {
    return (await this.#hub.api.get(of, { namespace: 'argocd', name }))?.['status'];
  }

  /** What Argo CD reads of its clusters, by name of the Secret. */
  async secrets(): Promise<Readonly<Record<string, Readonly<Record<string, string>>>>> {
    const { items } = await this.#hub.api.list(SECRET, { namespace: 'argocd' });
    return Object.fromEntries(
      items.map((secret) => {
        const data = Object.entries((secret['data'] ?? {}) as Record<string, string>);
        return [secret.metadata.name, Object.fromEntries(data.map(([key, value]) => [key, atob(value)]))];
      }),
    );
  }

  async labels(name: string): Promise<Readonly<Record<string, string>>> {
    const secret = await this.#hub.api.get(SECRET, { namespace: 'argocd', name });
    return secret?.metadata.labels ?? {};
  }

  async names(): Promise<readonly string[]> {
    return Object.keys(await this.secrets()).sort();
  }

  warnings(): string {
    return (this.#running?.warnings() ?? []).join('\n');
  }

  async stop(): Promise<void> {
    await Promise.all([this.#running?.close(), this.#supervisor?.close()]);
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#hub.close();
  }
}

const APPLICATIONS = crd('argoproj.io', 'Application', ['v1alpha1'], false);
/** The hub has both versions of GitOpsCluster. */
const ALL_KINDS = [APPLICATIONS, crd(ACCOUNTS, 'ManagedServiceAccount', ['v1beta1'])];

const gitOpsCluster = (name: string, more: object, version = 'v1beta1') => ({
  apiVersion: `${APPS}/${version}`,
  kind: 'GitOpsCluster',
  metadata: { name, namespace: 'argocd' },
  spec: { argoServer: { argoNamespace: 'argocd' }, placementRef: { name: 'fleet' }, ...more },
});
const application = (name: string, destination: object) => ({
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'Application',
  metadata: { name, namespace: 'argocd' },
  spec: { destination },
});
const BLANK = { createBlankClusterSecrets: true };

describe('the cluster secrets of Argo CD', () => {
  let world: World;
  beforeEach(async () => {
    world = await World.create();
    world.start();
  });
  afterEach(() => world.close());

  it('are those of the basic pull model where nothing is to be reached', async () => {
    await world.make(PUSH, gitOpsCluster('all', BLANK));
    world.publish('fleet', ['c1', 'c2']);
    await expect
      .poll(() => world.secrets())
      .toEqual({
        'c1-secret': { name: 'c1', server: 'https://c1-control-plane:6443' },
        'c2-secret': { name: 'c2', server: 'https://c2-control-plane:6443' },
      });
    expect(await world.labels('c1-secret')).toEqual({
      'argocd.argoproj.io/secret-type': 'cluster',
      'apps.open-cluster-management.io/cluster-name': 'c1',
      region: 'eu-c1',
    });
    await expect
      .poll(() => world.statusOf(PUSH))
      .toMatchObject({
        phase: 'successful',
        message: 'Registered in Argo CD: c1, c2',
      });
  });

  it('are not made for a cluster that is being deleted, and stay where they are', async () => {
    await world.make(PUSH, gitOpsCluster('all', BLANK));
    world.publish('fleet', ['c1']);
    await expect.poll(() => world.names()).toEqual(['c1-secret']);
    for (const name of ['c1', 'c2']) {
      await world.patch(MANAGED_CLUSTER, name, { metadata: { finalizers: ['example.org/keep'] } }, '');
      await world.delete(MANAGED_CLUSTER, name, '');
    }
    world.publish('fleet', ['c1', 'c2', 'c3']);
    await expect.poll(() => world.names()).toEqual(['c1-secret', 'c3-secret']);
    const refused = 'cluster c2: it is being deleted, so no Secret is made for it';
    await expect.poll(() => world.warnings()).toContain(refused);
    expect(await world.names()).toEqual(['c1-secret', 'c3-secret']);
  });

  it('follow the labels of the cluster, and leave those of others', async () => {
    await world.make(PUSH, gitOpsCluster('all', BLANK));
    world.publish('fleet', ['c1']);
    await expect.poll(() => world.names()).toEqual(['c1-secret']);
    await world.patch(SECRET, 'c1-secret', { metadata: { labels: { theirs: 'x' } } });
    await world.patch(MANAGED_CLUSTER, 'c1', { metadata: { labels: { region: null } } }, '');
    await expect.poll(async () => Object.keys(await world.labels('c1-secret'))).not.toContain('region');
    expect(await world.labels('c1-secret')).toMatchObject({ theirs: 'x' });
  });

  it('hold the token of a ManagedServiceAccount, and each new one', async () => {
    await world.make(PUSH, gitOpsCluster('all', { managedServiceAccountRef: 'argo' }));
    world.publish('fleet', ['c1']);
    await expect.poll(() => world.warnings()).toContain('ManagedServiceAccount c1/argo has no token yet');
    expect(await world.names()).toEqual([]);
    const account = { apiVersion: `${ACCOUNTS}/v1beta1`, kind: 'ManagedServiceAccount' };
    await world.make(MANAGED_SERVICE_ACCOUNT, { ...account, metadata: { name: 'argo', namespace: 'c1' } });
    const token = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'argo', namespace: 'c1' } };
    await world.make(SECRET, { ...token, stringData: { token: 'first', 'ca.crt': 'PEM' } });
    await world.status('argo', {
      tokenSecretRef: { name: 'argo', lastRefreshTimestamp: '2026-01-01T00:00:00Z' },
    });
    const written = (bearerToken: string) => ({
      name: 'c1',
      server: 'https://c1:6443',
      config: JSON.stringify({ bearerToken, tlsClientConfig: { insecure: false, caData: btoa('PEM') } }),
    });
    await expect.poll(() => world.secrets()).toEqual({ 'c1-argo-cluster-secret': written('first') });
    await world.patch(SECRET, 'argo', { stringData: { token: 'second' } }, 'c1');
    await world.status('argo', {
      tokenSecretRef: { name: 'argo', lastRefreshTimestamp: '2026-01-02T00:00:00Z' },
    });
    await expect.poll(() => world.secrets()).toEqual({ 'c1-argo-cluster-secret': written('second') });
  });

  it('keep their credentials when the token is gone', async () => {
    const token = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'c1-cluster-secret', namespace: 'c1' },
    };
    const config = '{"bearerToken":"given"}';
    await world.make(SECRET, { ...token, stringData: { server: 'https://c1.example/', config } });
    await world.make(PUSH, gitOpsCluster('all', {}));
    world.publish('fleet', ['c1']);
    const want = { 'c1-cluster-secret': { name: 'c1', server: 'https://c1.example', config } };
    await expect.poll(() => world.secrets()).toEqual(want);
    await world.patch(PUSH, 'all', { spec: { managedServiceAccountRef: 'none' } });
    await expect.poll(() => world.statusOf(PUSH)).toMatchObject({ phase: 'failed' });
    expect(await world.secrets()).toEqual(want);
  });

  it('of others are never touched, and the cluster counts as theirs', async () => {
    const foreign = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: 'mine',
        namespace: 'argocd',
        labels: { 'argocd.argoproj.io/secret-type': 'cluster' },
      },
      stringData: { name: 'c1', server: 'https://mine' },
    };
    await world.make(SECRET, foreign);
    // It has the name that Berth would take, but not the cluster.
    const other = { ...foreign.metadata, name: 'c2-secret', labels: { other: 'use' } };
    await world.make(SECRET, { ...foreign, metadata: other, stringData: { password: 'x' } });
    await world.make(PUSH, gitOpsCluster('all', BLANK));
    world.publish('fleet', ['c1', 'c2', 'c3']);
    await expect.poll(() => world.names()).toContain('c3-secret');
    await expect.poll(() => world.warnings()).toContain('Secret mine of somebody else registers it already');
    expect(world.warnings()).toContain('cluster c2: ');
    world.publish('fleet', []);
    await expect.poll(() => world.names()).toEqual(['c2-secret', 'mine']);
    expect(await world.secrets()).toEqual({
      mine: { name: 'c1', server: 'https://mine' },
      'c2-secret': { password: 'x' },
    });
  });

  it('go when no Application needs them, or when a person allowed it', async () => {
    await world.make(PUSH, gitOpsCluster('all', BLANK));
    await world.make(APPLICATION, application('web-c1', { name: 'c1' }));
    await world.make(APPLICATION, application('web-c2', { server: 'https://c2-control-plane:6443' }));
    world.publish('fleet', ['c1', 'c2', 'c3']);
    await expect.poll(() => world.names()).toEqual(['c1-secret', 'c2-secret', 'c3-secret']);
    world.publish('fleet', []);
    await expect.poll(() => world.names()).toEqual(['c1-secret', 'c2-secret']);
    await expect
      .poll(() => world.warnings())
      .toContain(
        'cluster c1 is no longer selected, its Secret c1-secret stays: Applications use it: argocd/web-c1; annotate it with berth.dev/prune=enabled to remove it anyway',
      );
    await world.delete(APPLICATION, 'web-c2');
    await expect.poll(() => world.names()).toEqual(['c1-secret']);
    await world.patch(SECRET, 'c1-secret', { metadata: { annotations: { 'berth.dev/prune': 'enabled' } } });
    await expect.poll(() => world.names()).toEqual([]);
    await expect.poll(() => world.warnings()).toBe('');
    expect(world.written.filter(({ action }) => action === 'deleted').map((one) => one.cluster)).toEqual([
      'c3',
      'c2',
      'c1',
    ]);
  });

  it('stay while it is not known what is selected, and go with their GitOpsCluster', async () => {
    await world.make(PUSH, gitOpsCluster('all', BLANK));
    world.publish('fleet', ['c1']);
    await expect.poll(() => world.names()).toEqual(['c1-secret']);
    world.published.set('argocd/fleet', []);
    await expect.poll(() => world.warnings()).toContain('nothing is published for placement argocd/fleet');
    expect(await world.names()).toEqual(['c1-secret']);
    await world.delete(PUSH, 'all');
    await expect.poll(() => world.names()).toEqual([]);
  });

  it('are not written again by the next process', async () => {
    await world.make(PUSH, gitOpsCluster('all', BLANK));
    world.publish('fleet', ['c1', 'c2']);
    await expect.poll(() => world.statusOf(PUSH)).toMatchObject({ phase: 'successful' });
    await world.stop();
    world.written.length = 0;
    world.published = new PublishedPlacements();
    world.start();
    world.publish('fleet', ['c1', 'c2', 'c3']);
    const written = () => world.written.map(({ action, cluster: name }) => [action, name]);
    await expect.poll(written).toEqual([['created', 'c3']]);
  });

  it('of the agent have its labels, and the conditions tell of them', async () => {
    const spec = {
      placementRef: { kind: 'Placement', name: 'fleet' },
      argoCDAgentAddon: { mode: 'managed' },
    };
    await world.make(AGENT, { ...gitOpsCluster('all', {}, 'v1alpha1'), spec });
    world.publish('fleet', ['c1']);
    await expect
      .poll(() => world.secrets())
      .toEqual({
        'cluster-c1': { name: 'c1', server: 'https://c1-control-plane' },
      });
    expect(await world.labels('cluster-c1')).toMatchObject({
      'argocd-agent.argoproj-labs.io/agent-name': 'c1',
      'placement-name': 'fleet',
    });
    await expect
      .poll(() => world.statusOf(AGENT))
      .toMatchObject({
        conditions: [
          { type: 'PlacementEvaluated', status: 'True', reason: 'Success' },
          { type: 'ClustersImported', status: 'True', reason: 'Success' },
          { type: 'RemovedClustersCleanedUp', status: 'True', reason: 'Success' },
        ],
      });
  });
});

describe('a hub that lacks kinds', () => {
  let world: World | undefined;
  afterEach(() => world?.close());

  it('works with one version of GitOpsCluster, and without ManagedServiceAccounts', async () => {
    world = await World.create([APPLICATIONS, crd(APPS, 'GitOpsCluster', ['v1beta1'])]);
    world.start();
    await world.make(PUSH, gitOpsCluster('all', BLANK));
    world.publish('fleet', ['c1']);
    await expect.poll(() => world?.names()).toEqual(['c1-secret']);
    world.publish('fleet', []);
    await expect.poll(() => world?.names()).toEqual([]);
  });

  it('removes nothing when Applications cannot be listed', async () => {
    world = await World.create([]);
    world.start();
    await world.make(PUSH, gitOpsCluster('all', BLANK));
    world.publish('fleet', ['c1']);
    await expect.poll(() => world?.names()).toEqual(['c1-secret']);
    world.publish('fleet', []);
    await expect.poll(() => world?.warnings()).toContain('Applications cannot be listed');
    expect(await world.names()).toEqual(['c1-secret']);
  });
});
