import { setCondition } from '@berth/kube/model/condition-list';
import {
  ADDON_DEPLOYMENT_CONFIG,
  ADDON_TEMPLATE,
  apiVersionOf,
  CLUSTER_MANAGEMENT_ADDON,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
} from '@berth/kube/model/kinds';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import type { ManagedClusterAddOn } from '@berth/ocm/kind/addon';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { MortalKubeApi } from '@berth/test-kit/mortal-kube-api';
import { TemplateDeployment } from '@berth/addon/manager/template-source';
import { describe, expect, it } from 'vitest';
import { AddOnDeployer } from '@berth/addon/manager/addon-deployer';
import type { AddOnOptions } from '@berth/addon/manager/addon-controller';
import type { HubController } from '@berth/kube/controller/cached-controller';
import { MortalManager } from './mortal-manager.ts';
import { configSpecHash } from '@berth/addon/rules/config-hash';
import {
  at,
  condition,
  configMap,
  deployment,
  hookJob,
} from '../../../packages/addon/test/rules/deployment/deployment-harness.ts';

const GROUP = 'addon.open-cluster-management.io';
const ADDON = { namespace: 'c1', name: 'web' };
const NOW = '2026-03-01T12:00:00Z';

/** More than one work can hold, a part for the hosting cluster, and hooks on both. */
function manifests(value: string): readonly KubeObject[] {
  const large = (name: string): KubeObject => configMap(name, {}, value + 'x'.repeat(250 * 1024));
  const hosted = configMap('hosted', at('hosting'), value);
  return [
    large('a'),
    large('b'),
    deployment('agent'),
    hosted,
    hookJob('here'),
    hookJob('there', at('hosting')),
  ];
}

/** A hub with a hosted add-on, and the controller that deploys it. The test is registration, configuration and agents. */
class Hub extends MortalManager {
  async setUp(): Promise<this> {
    for (const kind of [ADDON_TEMPLATE, ADDON_DEPLOYMENT_CONFIG]) this.api.addKind(kind);
    for (const name of ['c1', 'h1']) await this.#make(MANAGED_CLUSTER, { metadata: { name } });
    const supportedConfigs = [{ group: GROUP, resource: 'addontemplates' }];
    await this.#make(CLUSTER_MANAGEMENT_ADDON, { metadata: { name: 'web' }, spec: { supportedConfigs } });
    const annotations = { [`${GROUP}/hosting-cluster-name`]: 'h1' };
    await this.#make(MANAGED_CLUSTER_ADDON, { metadata: { ...ADDON, annotations } });
    return this;
  }

  protected override controllers(options: AddOnOptions): readonly HubController[] {
    return [new AddOnDeployer(options, new TemplateDeployment(options))];
  }

  async roll(name: string, value: string): Promise<void> {
    const spec = { addonName: 'web', agentSpec: { workload: { manifests: manifests(value) } } };
    const template = await this.#make(ADDON_TEMPLATE, { metadata: { name }, spec });
    const reference = { group: GROUP, resource: 'addontemplates', lastObservedGeneration: 1 };
    const desiredConfig = { name, specHash: configSpecHash(template) };
    const before = (await this.addon())?.status?.conditions ?? [];
    const wanted = [condition('RegistrationApplied', 'True'), condition('Configured', 'True')];
    const conditions = wanted.reduce<readonly Condition[]>(
      (list, one) => setCondition(list, one, NOW),
      before,
    );
    await this.#status(MANAGED_CLUSTER_ADDON, ADDON, {
      conditions,
      configReferences: [{ ...reference, desiredConfig }],
    });
  }

  /** What the agents report: everything is applied, and every Job has run. */
  async report(): Promise<void> {
    for (const { metadata, spec } of await this.works()) {
      const conditions = [condition('Applied', 'True'), condition('Available', 'True')];
      const reported = (spec?.workload?.manifests ?? []).map((manifest, ordinal) => ({
        resourceMeta: { ordinal, kind: manifest.kind, name: manifest.metadata.name, namespace: 'agent' },
        statusFeedback: { values: [{ name: 'JobComplete', fieldValue: { type: 'String', string: 'True' } }] },
      }));
      const key = { namespace: metadata.namespace ?? '', name: metadata.name };
      await this.#status(MANIFEST_WORK, key, { conditions, resourceStatus: { manifests: reported } });
    }
    await this.settle();
  }

  async addon(): Promise<ManagedClusterAddOn | undefined> {
    return (await this.api.get(MANAGED_CLUSTER_ADDON, ADDON)) as ManagedClusterAddOn | undefined;
  }

  async works(): Promise<readonly ManifestWork[]> {
    return (await this.api.list(MANIFEST_WORK)).items as unknown as readonly ManifestWork[];
  }

  /** `c1 a=2`: each manifest in a work, with the first letter of its value. */
  async contents(): Promise<readonly string[]> {
    const text = ({ metadata, ...manifest }: KubeObject): string => {
      const { value = '' } = (manifest['data'] ?? {}) as { readonly value?: string };
      return `${metadata.name}=${value.slice(0, 1)}`;
    };
    return (await this.works())
      .flatMap(({ metadata, spec }) =>
        (spec?.workload?.manifests ?? []).map((manifest) => `${metadata.namespace} ${text(manifest)}`),
      )
      .sort();
  }

  async #make(kind: KindInfo, object: object): Promise<KubeObject> {
    const there = { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object } as unknown as KubeObject;
    const { namespace = '', name } = there.metadata;
    return (await this.api.get(kind, { namespace, name })) ?? this.api.create(kind, there);
  }

  async #status(kind: KindInfo, key: { namespace: string; name: string }, status: object): Promise<void> {
    await this.api.mergePatch(kind, key, { status }, { subresource: 'status' });
  }
}

/** Each once. After a death between two new works a manifest may be in the other one. */
const DEPLOYED = ['c1 a=2', 'c1 agent=', 'c1 b=2', 'h1 hosted=2'];

describe('a controller that deploys add-ons and is killed', () => {
  it.each([true, false])(
    'continues after its death at any write (the last one done: %s)',
    async (lastIsDone) => {
      let lived = false;
      for (let writes = 1; !lived; writes += 1) {
        const hub = await new Hub().setUp();
        const life = { dead: false, writesLeft: writes, lastIsDone };
        hub.start(new MortalKubeApi(hub.api, life));
        await hub.roll('web-1', '1');
        await hub.settle();
        await hub.report();
        await hub.roll('web-2', '2');
        await hub.settle();
        const isDeleted = writes > 8;
        if (isDeleted) {
          await hub.api.delete(MANAGED_CLUSTER_ADDON, ADDON);
          await hub.settle();
          await hub.report();
        }
        lived = !life.dead;
        hub.stop();

        hub.start();
        await hub.settle();
        if (!isDeleted) {
          expect(await hub.contents()).toEqual(DEPLOYED);
          await hub.report();
          await hub.api.delete(MANAGED_CLUSTER_ADDON, ADDON);
        }
        for (let round = 0; round < 3; round += 1) await hub.report();
        expect(await hub.addon()).toBeUndefined();
        // Those on its own cluster go with the add-on, which owns them: this hub does not collect them.
        const left = (await hub.works()).filter(({ metadata }) => metadata.namespace !== 'c1');
        expect(left).toEqual([]);
        hub.stop();
        expect(writes).toBeLessThan(60);
      }
    },
  );
});
