import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Agent, startAgent } from '@berth/agent/start-agent';
import { readSourceFolder } from '../../../src/controllers/sources/reading/read-source-folder.ts';
import {
  startWorkloadSimulation,
  type WorkloadSimulation,
} from '@berth/agent/simulation/workload-simulation';
import {
  CONTROLLER_REVISION,
  type KindInfo,
  MANAGED_CLUSTER,
  MANIFEST_WORK,
  MANIFEST_WORK_REPLICA_SET,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { WorkControllers } from '../../../src/controllers/works/start-work-controllers.ts';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { startWorksAlone } from '../../fakes/works-alone.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { CONFIG_MAP, DEPLOYMENT } from '../../../packages/agent/test/agent-harness.ts';

const GROUPS = { canary: ['canary-1'], '': ['prod-1', 'prod-2', 'prod-3', 'prod-4'] } as const;
const CLUSTERS = [...GROUPS.canary, ...GROUPS['']];
const plain = (kind: string, plural: string, namespaced = true, group = ''): KindInfo => ({
  group,
  version: 'v1',
  kind,
  plural,
  namespaced,
});

/** The example on a hub and five clusters in memory, with the real agents, controllers and simulated workloads. */
class Shop {
  readonly hub = new FakeKubeApi();
  readonly members = new Map(CLUSTERS.map((name) => [name, new FakeKubeApi()]));
  readonly clock = new FakeClock();
  readonly log = new SilentLogger();
  #running: (Agent | WorkloadSimulation | WorkControllers)[] = [];
  #rollout: KubeObject | undefined;

  async start(): Promise<void> {
    const { clock, log } = this;
    const random = () => 0.5;
    this.hub.addKind(CONTROLLER_REVISION);
    const content = await readSourceFolder('examples/canary-rollout');
    expect(content.problems).toEqual([]);
    for (const { object } of content.objects) {
      if (object.kind === 'ManagedCluster') await this.hub.create(MANAGED_CLUSTER, object);
      if (object.kind === 'Placement') await this.hub.create(PLACEMENT, object);
      if (object.kind === 'ManifestWorkReplicaSet')
        this.#rollout = await this.hub.create(MANIFEST_WORK_REPLICA_SET, object);
    }
    await this.decide();
    this.#running.push(startWorksAlone({ hub: this.hub, clock, log, random }));
    for (const [clusterName, cluster] of this.members) {
      for (const kind of [
        CONFIG_MAP,
        DEPLOYMENT,
        plain('Service', 'services'),
        plain('Namespace', 'namespaces', false),
      ])
        cluster.addKind(kind);
      this.#running.push(startAgent({ hub: this.hub, cluster, clusterName, clock, log, random }));
      this.#running.push(startWorkloadSimulation({ cluster, clock, log, random, readyAfterMs: 3_000 }));
    }
    await this.pass(5_000);
  }

  async decide(): Promise<void> {
    for (const [index, [name, clusters]] of Object.entries(GROUPS).entries()) {
      const labels = {
        'cluster.open-cluster-management.io/placement': 'shops',
        'cluster.open-cluster-management.io/decision-group-index': String(index),
        'cluster.open-cluster-management.io/decision-group-name': name,
      };
      const metadata = { name: `shops-decision-${index + 1}`, namespace: 'shop', labels };
      await this.hub.create(PLACEMENT_DECISION, {
        apiVersion: 'cluster.open-cluster-management.io/v1beta1',
        kind: 'PlacementDecision',
        metadata,
      });
      const decisions = clusters.map((clusterName) => ({ clusterName, reason: '' }));
      await this.hub.mergePatch(
        PLACEMENT_DECISION,
        metadata,
        { status: { decisions } },
        { subresource: 'status' },
      );
    }
    const status = { numberOfSelectedClusters: CLUSTERS.length };
    await this.hub.mergePatch(
      PLACEMENT,
      { namespace: 'shop', name: 'shops' },
      { status },
      { subresource: 'status' },
    );
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.map((part) => part.close()));
    this.#running = [];
  }

  async pass(ms: number): Promise<void> {
    for (let done = 0; done < ms; done += 1_000) await this.clock.advance(1_000);
  }

  async setImage(version: string): Promise<void> {
    const text = JSON.stringify(this.#rollout?.['spec']).replace(
      /ghcr.io\/example\/shop:v\d/,
      `ghcr.io/example/shop:${version}`,
    );
    await this.patch(
      MANIFEST_WORK_REPLICA_SET,
      { namespace: 'shop', name: 'shop' },
      { spec: JSON.parse(text) as object },
    );
  }

  async patch(kind: KindInfo, key: { namespace: string; name: string }, patch: object): Promise<void> {
    await this.hub.mergePatch(kind, key, patch);
  }

  /** `v1 v1 v1 - -`: the version that each cluster runs, in the order of CLUSTERS. */
  async versions(): Promise<string> {
    const versions = CLUSTERS.map(async (name) => {
      const found = await this.members.get(name)?.get(DEPLOYMENT, { namespace: 'shop', name: 'shop' });
      return /shop:(v\d)/.exec(JSON.stringify(found?.['spec'] ?? ''))?.[1] ?? '-';
    });
    return (await Promise.all(versions)).join(' ');
  }

  async rolledOut(): Promise<Condition | undefined> {
    const live = await this.hub.get(MANIFEST_WORK_REPLICA_SET, { namespace: 'shop', name: 'shop' });
    const { conditions = [] } = (live?.['status'] ?? {}) as { conditions?: Condition[] };
    return conditions.find(({ type }) => type === 'PlacementRolledOut');
  }
}

describe('examples/canary-rollout', () => {
  let shop: Shop;
  beforeEach(async () => {
    shop = new Shop();
    await shop.start();
  });
  afterEach(() => shop.stop());

  it('goes to the canary first, then to two clusters at a time', async () => {
    expect(await shop.versions()).toBe('v1 - - - -');
    const seen = new Set<string>();
    for (let second = 0; second < 180; second++) {
      await shop.pass(1_000);
      seen.add(await shop.versions());
    }
    expect([...seen]).toEqual(['v1 - - - -', 'v1 v1 v1 - -', 'v1 v1 v1 v1 v1']);
    expect(await shop.rolledOut()).toMatchObject({ status: 'True', reason: 'Complete' });
    const settings = await shop.members
      .get('prod-3')
      ?.get(CONFIG_MAP, { namespace: 'shop', name: 'settings' });
    expect(settings?.['data']).toEqual({ cluster: 'prod-3', region: 'us', currency: 'EUR' });
  });

  it('stops at the cluster that fails, goes on when it is repaired, goes back when it is aborted', async () => {
    await shop.pass(180_000);
    const prod2 = { namespace: '', name: 'prod-2' };
    await shop.patch(MANAGED_CLUSTER, prod2, { metadata: { labels: { simulate: 'fail' } } });
    await shop.setImage('v2');
    await shop.pass(600_000);
    expect(await shop.versions()).toBe('v2 v2 v2 v1 v1');
    const stopped = await shop.rolledOut();
    expect(stopped?.status).toBe('False');
    expect(stopped?.message).toContain('failed: prod-2');
    expect(stopped?.message).toContain('stopped: more failures than maxFailures allows');
    await shop.patch(
      MANIFEST_WORK_REPLICA_SET,
      { namespace: 'shop', name: 'shop' },
      { metadata: { annotations: { 'berth.dev/rollout': 'abort' } } },
    );
    await shop.pass(600_000);
    expect(await shop.versions()).toBe('v1 v1 v1 v1 v1');
    await shop.patch(MANAGED_CLUSTER, prod2, { metadata: { labels: { simulate: null } } });
    await shop.patch(
      MANIFEST_WORK_REPLICA_SET,
      { namespace: 'shop', name: 'shop' },
      { metadata: { annotations: { 'berth.dev/rollout': null } } },
    );
    await shop.pass(600_000);
    expect(await shop.versions()).toBe('v2 v2 v2 v2 v2');
    expect(await shop.rolledOut()).toMatchObject({ status: 'True', reason: 'Complete' });
    for (const work of (await shop.hub.list(MANIFEST_WORK)).items)
      expect(work.metadata.generation).toBeLessThan(8);
  });
});
