import { TemplateDeployment } from '@berth/addon/manager/template-source';
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import {
  ADDON_TEMPLATE,
  apiVersionOf,
  CLUSTER_MANAGEMENT_ADDON,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
  NAMESPACE,
} from '@berth/kube/model/kinds';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import type { ManagedClusterAddOn } from '@berth/ocm/kind/addon';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { WatchEvent, WatchOptions } from '@berth/kube/model/kube-api';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { InterceptedKubeApi } from '@berth/test-kit/intercepted-kube-api';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { serveCache } from '../../../src/app/serve/serve-cache.ts';
import { AddOnDeployer } from '@berth/addon/manager/addon-deployer';
import { type RunningControllers, runControllers } from '@berth/kube/controller/run-controllers';
import { configSpecHash } from '@berth/addon/rules/config-hash';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';

const ADDON = 'addon.open-cluster-management.io';
const MANAGER = { fieldManager: 'test' } as const;
const ON_C1 = { namespace: 'c1', name: 'web' };
const DEPLOY = { namespace: 'c1', name: 'addon-web-deploy-0' };
const HOOK = { namespace: 'c1', name: 'addon-web-pre-delete' };

function condition(type: string, status: Condition['status'] = 'True'): Condition {
  return { type, status, reason: 'Test', message: '', lastTransitionTime: '2026-03-01T12:00:00Z' };
}

/** Of works it shows each change late, so that a pass sees some of the works that the one before made. */
class LateWatches extends InterceptedKubeApi {
  protected write<T>(request: () => Promise<T>): Promise<T> {
    return request();
  }

  override async *watch(kind: KindInfo, options: WatchOptions): AsyncGenerator<WatchEvent> {
    for await (const event of this.inner.watch(kind, options)) {
      // fixed wait: longer than a pass
      if (kind === MANIFEST_WORK) await setTimeout(100);
      yield event;
    }
  }
}

class CountedDeployment extends TemplateDeployment {
  renders = 0;

  override render(of: Parameters<TemplateDeployment['render']>[0]): ReturnType<TemplateDeployment['render']> {
    this.renders += 1;
    return super.render(of);
  }
}

/** An embedded hub with a cluster and an add-on of a template, and the controller that deploys it. */
class DeploymentWorld {
  readonly hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  deployment: CountedDeployment | undefined;
  #running: RunningControllers | undefined;
  #supervisor: Supervisor | undefined;

  private constructor(hub: DeploymentWorld['hub']) {
    this.hub = hub;
  }

  static async create(): Promise<DeploymentWorld> {
    const world = new DeploymentWorld(await startEmbeddedHub());
    await world.make(NAMESPACE, { metadata: { name: 'c1' } });
    await world.make(MANAGED_CLUSTER, { metadata: { name: 'c1' }, spec: { hubAcceptsClient: true } });
    await world.make(CLUSTER_MANAGEMENT_ADDON, {
      metadata: { name: 'web' },
      spec: { supportedConfigs: [{ group: ADDON, resource: 'addontemplates' }] },
    });
    await world.make(MANAGED_CLUSTER_ADDON, { metadata: ON_C1, spec: {} });
    world.start();
    return world;
  }

  start(): void {
    const shared = { clock: systemClock, random: Math.random, log: new SilentLogger() };
    const api = new LateWatches(this.hub.api);
    const addons = { duties: ['deployment'] as const, clock: systemClock };
    const served = { ...shared, api, addons, sources: [], dataDir: '', engineVersion: '', env: {} };
    const history = { check: () => Promise.resolve(0), reportBreak: () => Promise.resolve() };
    const cache = serveCache(served, () => undefined, history);
    this.#supervisor = new Supervisor(shared);
    const options = { ...shared, hub: api, cache };
    this.deployment = new CountedDeployment(options);
    this.#running = runControllers(options, [new AddOnDeployer(options, this.deployment)], 'add-ons');
    cache.start(this.#supervisor);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#running?.close(), this.#supervisor?.close()]);
  }

  async close(): Promise<void> {
    await this.stop();
    await this.hub.close();
  }

  make(kind: KindInfo, object: object): Promise<KubeObject> {
    const whole = { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object };
    return this.hub.api.create(kind, whole as unknown as KubeObject, MANAGER);
  }

  /** As the configuration and the registration of the add-on do it. */
  async configure(template: KubeObject, registered: object = {}): Promise<void> {
    const desiredConfig = { name: template.metadata.name, specHash: configSpecHash(template) };
    const reference = { group: ADDON, resource: 'addontemplates', name: template.metadata.name };
    await this.status(MANAGED_CLUSTER_ADDON, ON_C1, {
      conditions: [condition('RegistrationApplied'), condition('Configured')],
      configReferences: [{ ...reference, lastObservedGeneration: 1, desiredConfig }],
      ...registered,
    });
  }

  async template(name: string, ...manifests: readonly object[]): Promise<KubeObject> {
    const spec = { addonName: 'web', agentSpec: { workload: { manifests } } };
    return this.make(ADDON_TEMPLATE, { metadata: { name }, spec });
  }

  async status(kind: KindInfo, key: { namespace: string; name: string }, status: object): Promise<void> {
    await this.hub.api.mergePatch(kind, key, { status }, { ...MANAGER, subresource: 'status' });
  }

  async addon(): Promise<ManagedClusterAddOn | undefined> {
    return (await this.hub.api.get(MANAGED_CLUSTER_ADDON, ON_C1)) as ManagedClusterAddOn | undefined;
  }

  async work(key: { namespace: string; name: string }): Promise<ManifestWork | undefined> {
    return (await this.hub.api.get(MANIFEST_WORK, key)) as ManifestWork | undefined;
  }

  async state(type: string): Promise<string | undefined> {
    const found = (await this.addon())?.status?.conditions?.find((one) => one.type === type);
    return found && `${found.status} ${found.reason}`;
  }

  /** What the cluster's agent writes to a work. */
  async report(
    key: { namespace: string; name: string },
    values: Readonly<Record<string, object>>,
  ): Promise<void> {
    const work = (await this.work(key)) ?? expect.fail(`no work ${key.name}`);
    const manifests = (work.spec?.workload?.manifests ?? []).map(
      ({ apiVersion, kind, metadata }, ordinal) => ({
        resourceMeta: {
          ...{ ordinal, kind, group: apiVersion.split('/')[0], resource: `${kind.toLowerCase()}s` },
          ...{ name: metadata.name, namespace: metadata.namespace },
        },
        conditions: [],
        statusFeedback: {
          values: Object.entries(values).map(([name, fieldValue]) => ({ name, fieldValue })),
        },
      }),
    );
    const conditions = [condition('Applied'), condition('Available')];
    await this.status(MANIFEST_WORK, key, { conditions, resourceStatus: { manifests } });
  }
}

const AGENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'agent', namespace: 'web-system' },
  spec: {
    selector: { matchLabels: { app: 'agent' } },
    template: {
      metadata: { labels: { app: 'agent' } },
      spec: { containers: [{ name: 'agent', image: 'example.com/agent:1', args: ['{{CLUSTER_NAME}}'] }] },
    },
  },
};
const CLEANER = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'clean', namespace: 'web-system', annotations: { [`${ADDON}/addon-pre-delete`]: '' } },
};
const patience = { timeout: PATIENCE_MS };

describe('the add-on of a template on a hub', () => {
  let world: DeploymentWorld;
  afterEach(() => world.close());

  it('is deployed, healthy, updated and removed after its hook, and a restart writes nothing', async () => {
    world = await DeploymentWorld.create();
    await world.configure(await world.template('web-1', AGENT, CLEANER));
    await expect.poll(() => world.work(DEPLOY), patience).toBeDefined();
    expect((await world.addon())?.metadata.finalizers).toEqual([`${ADDON}/addon-pre-delete`]);
    expect(JSON.stringify((await world.work(DEPLOY))?.spec)).toContain('"args":["c1"]');
    await expect.poll(async () => (await world.addon())?.status?.namespace, patience).toBe('web-system');
    expect((await world.addon())?.status?.healthCheck?.mode).toBe('Customized');

    const runs = { type: 'Integer', integer: 1 };
    await world.report(DEPLOY, { ReadyReplicas: runs, Replicas: runs });
    await expect.poll(() => world.state('Available'), patience).toBe('True ProbeAvailable');
    expect(await world.state('ManifestApplied')).toBe('True AddonManifestApplied');

    const before = [await world.addon(), await world.work(DEPLOY)].map(
      (one) => one?.metadata.resourceVersion,
    );
    await world.stop();
    world.start();
    const image = { name: 'agent', image: 'example.com/agent:2' };
    const { template, ...spec } = AGENT.spec;
    const next = { ...AGENT, spec: { ...spec, template: { ...template, spec: { containers: [image] } } } };
    const second = await world.template('web-2', next, CLEANER);
    const after = [await world.addon(), await world.work(DEPLOY)].map((one) => one?.metadata.resourceVersion);
    expect(after).toEqual(before);
    await world.configure(second);
    await expect.poll(async () => JSON.stringify(await world.work(DEPLOY)), patience).toContain('agent:2');

    await world.hub.api.delete(CLUSTER_MANAGEMENT_ADDON, { namespace: '', name: 'web' });
    await world.hub.api.delete(MANAGED_CLUSTER_ADDON, ON_C1);
    await expect.poll(() => world.work(HOOK), patience).toBeDefined();
    await expect
      .poll(() => world.state('HookManifestCompleted'), patience)
      .toBe('False HookManifestIsNotCompleted');
    await world.report(HOOK, { JobComplete: { type: 'String', string: 'True' } });
    await expect.poll(() => world.addon(), patience).toBeUndefined();
    await expect.poll(async () => (await world.hub.api.list(MANIFEST_WORK)).items, patience).toEqual([]);
  });

  it('is planned once when its first work is stored as it was sent', async () => {
    world = await DeploymentWorld.create();
    const template = await world.template('web-1', AGENT);
    await world.configure(template, { namespace: 'web-system', healthCheck: { mode: 'Customized' } });
    await expect.poll(() => world.work(DEPLOY), patience).toBeDefined();
    // fixed wait: the watch has shown the work
    await setTimeout(500);
    expect(world.deployment?.renders).toBe(1);
    await world.report(DEPLOY, {});
    await expect.poll(() => world.state('ManifestApplied'), patience).toBe('True AddonManifestApplied');
  });

  it('is spread over two works at once, and stays where it is', async () => {
    world = await DeploymentWorld.create();
    const large = (name: string, kib: number): object => ({
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'web-system' } },
      data: { text: 'x'.repeat(kib * 1024) },
    });
    await world.configure(await world.template('web-1', AGENT, large('a', 300), large('b', 200)));
    const contents = async (): Promise<object> => {
      const { items } = await world.hub.api.list(MANIFEST_WORK);
      const works = items as unknown as readonly ManifestWork[];
      const names = ({ spec }: ManifestWork) =>
        spec?.workload?.manifests?.map(({ metadata }) => metadata.name);
      return Object.fromEntries(works.map((work) => [work.metadata.name, names(work)]));
    };
    const both = { 'addon-web-deploy-0': ['a'], 'addon-web-deploy-1': ['agent', 'b'] };
    await expect.poll(contents, patience).toEqual(both);
    // fixed wait: the watch has shown both works
    await setTimeout(500);
    for (const name of Object.keys(both)) await world.report({ namespace: 'c1', name }, {});
    await expect.poll(() => world.state('ManifestApplied'), patience).toBe('True AddonManifestApplied');
    expect(await contents()).toEqual(both);
    const versions = async () =>
      (await world.hub.api.list(MANIFEST_WORK)).items.map(({ metadata }) => metadata.generation);
    expect(await versions()).toEqual([1, 1]);
  });

  it('leaves a work of somebody else alone that has the name', async () => {
    world = await DeploymentWorld.create();
    const spec = { workload: { manifests: [] } };
    const mine = await world.make(MANIFEST_WORK, { metadata: DEPLOY, spec });
    await world.configure(await world.template('web-1', AGENT));
    await expect.poll(() => world.state('ManifestApplied'), patience).toBe('False ManifestWorkApplyFailed');
    const live = await world.work(DEPLOY);
    expect([live?.metadata.uid, live?.spec]).toEqual([mine.metadata.uid, mine['spec']]);
  });

  it('waits for the rollout of a template that was edited in place', async () => {
    world = await DeploymentWorld.create();
    const template = await world.template('web-1', AGENT);
    await world.configure(template);
    await expect.poll(() => world.work(DEPLOY), patience).toBeDefined();
    const config = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'new', namespace: 'web-system' },
    };
    const manifests = [AGENT, config];
    const edited = await world.hub.api.mergePatch(
      ADDON_TEMPLATE,
      { namespace: '', name: 'web-1' },
      { spec: { agentSpec: { workload: { manifests } } } },
      MANAGER,
    );
    // Another reason for a pass: it comes after that of the template.
    const mark = { metadata: { labels: { pass: '1' } } };
    await world.hub.api.mergePatch(MANAGED_CLUSTER_ADDON, ON_C1, mark, MANAGER);
    await world.report(DEPLOY, {});
    await expect.poll(() => world.state('ManifestApplied'), patience).toBe('True AddonManifestApplied');
    expect((await world.work(DEPLOY))?.spec?.workload?.manifests).toHaveLength(1);
    await world.configure(edited);
    await expect
      .poll(async () => (await world.work(DEPLOY))?.spec?.workload?.manifests, patience)
      .toHaveLength(2);
  });
});
