import {
  ADDON_DEPLOYMENT_CONFIG,
  ADDON_TEMPLATE,
  CLUSTER_MANAGEMENT_ADDON,
  CLUSTER_ROLE,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
  NAMESPACE,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { seeded } from '@berth/test-kit/seeded-random';
import { expect } from 'vitest';
import { ADDON_GROUP, type AddOnWorld } from '../../controllers/addons/addon-world.ts';

const ADC = { group: ADDON_GROUP, resource: 'addondeploymentconfigs' };
const TEMPLATE = { group: ADDON_GROUP, resource: 'addontemplates' };
const CLUSTERS = ['c1', 'c2', 'c3', 'c4'];
const CONFIGS = ['small', 'big', 'own'];
const READER = 'addon-reader';

/** A change of one history, made on a hub. */
export interface Step {
  readonly what: string;
  readonly make: (world: AddOnWorld) => Promise<void>;
}

/** A random number below the given one. */
type Pick = (below: number) => number;

/**
 * One add-on of a template, with two placements, configurations and clusters of its own, and changes of all of them. All names begin
 * with that of the add-on, so that many histories share two hubs.
 */
export class AddOnHistory {
  readonly addOn: string;
  readonly #pick: Pick;
  #present: readonly string[] = [...CLUSTERS];
  readonly #decided = new Map<string, readonly string[]>();
  #listed: readonly string[] = ['p', 'q'];

  constructor(addOn: string, seed: number) {
    this.addOn = addOn;
    const random = seeded(seed);
    this.#pick = (below) => Math.floor(random() * below);
  }

  get clusters(): readonly string[] {
    return CLUSTERS.map((name) => this.#named(name));
  }

  /** Whether two placements of the strategy select the same cluster. */
  get overlaps(): boolean {
    const all = this.#listed.flatMap((name) => this.#decided.get(this.#named(name)) ?? []);
    return new Set(all).size < all.length;
  }

  async prepare(world: AddOnWorld): Promise<void> {
    const { addOn } = this;
    for (const cluster of this.clusters) await makeCluster(world, cluster);
    for (const [at, name] of ['t', 'u'].entries())
      await world.make(ADDON_TEMPLATE, {
        metadata: { name: this.#named(name) },
        spec: templateOf(addOn, at),
      });
    for (const name of CONFIGS) await world.deploymentConfig(this.#named(name), name);
    for (const name of ['p', 'q']) await world.placement(this.#named(name), []);
    await world.addOn(addOn, [{ name: this.#named('p') }, { name: this.#named('q') }], {
      supportedConfigs: [
        { ...TEMPLATE, defaultConfig: { name: this.#named('t') } },
        { ...ADC, defaultConfig: { namespace: 'default', name: this.#named('small') } },
      ],
    });
  }

  next(): Step {
    const pick = this.#pick;
    switch (pick(8)) {
      case 0:
      case 1:
        return this.#decide();
      case 2:
        return this.#changeStrategy();
      case 3:
        return this.#editConfig();
      case 4:
        return this.#nameOwnConfig();
      case 5:
        return this.#present.length > 1 ? this.#lose() : this.#join();
      case 6:
        return this.#present.length < CLUSTERS.length ? this.#join() : this.#decide();
      default:
        return this.#applyWorks();
    }
  }

  #named(name: string): string {
    return `${this.addOn}-${name}`;
  }

  #some(): readonly string[] {
    return this.#present.filter(() => this.#pick(3) > 0).map((name) => this.#named(name));
  }

  #decide(): Step {
    const placement = this.#named(['p', 'q'][this.#pick(2)] ?? 'p');
    const clusters = this.#some();
    this.#decided.set(placement, clusters);
    return {
      what: `${placement} selects ${clusters.join(' ')}`,
      make: (world) => world.decide(placement, clusters),
    };
  }

  #config(): object {
    const name = this.#named(CONFIGS[this.#pick(CONFIGS.length)] ?? 'small');
    return { ...ADC, namespace: 'default', name };
  }

  #changeStrategy(): Step {
    const pick = this.#pick;
    const configsOf = (): object => {
      const configs = [
        ...(pick(2) > 0 ? [this.#config()] : []),
        ...(pick(3) === 0 ? [{ ...TEMPLATE, name: this.#named('u') }] : []),
      ];
      return configs.length === 0 ? {} : { configs };
    };
    const placed = (name: string): object => ({
      ...{ namespace: 'default', name: this.#named(name) },
      ...configsOf(),
    });
    const order = [['p', 'q'], ['q', 'p'], ['p'], ['q']][pick(4)] ?? ['p'];
    this.#listed = order;
    const placements = order.map(placed);
    const spec = { installStrategy: { type: 'Placements', placements } };
    return {
      what: `the strategy is ${JSON.stringify(placements)}`,
      make: async (world) => {
        await world.api.mergePatch(CLUSTER_MANAGEMENT_ADDON, { namespace: '', name: this.addOn }, { spec });
      },
    };
  }

  #editConfig(): Step {
    const name = this.#named(CONFIGS[this.#pick(CONFIGS.length)] ?? 'small');
    const spec = { customizedVariables: [{ name: 'SIZE', value: `${this.#pick(1_000)}` }] };
    return {
      what: `${name} says ${spec.customizedVariables[0]?.value}`,
      make: async (world) => {
        await world.api.mergePatch(ADDON_DEPLOYMENT_CONFIG, { namespace: 'default', name }, { spec });
      },
    };
  }

  #nameOwnConfig(): Step {
    const cluster = this.#named(this.#present[this.#pick(this.#present.length)] ?? 'c1');
    const configs = this.#pick(3) > 0 ? [this.#config()] : null;
    return {
      what: `${cluster} names ${JSON.stringify(configs)}`,
      make: async (world) => {
        if ((await world.clusterAddOn(cluster, this.addOn)) === undefined) return;
        const key = { namespace: cluster, name: this.addOn };
        await world.api.mergePatch(MANAGED_CLUSTER_ADDON, key, { spec: { configs } });
      },
    };
  }

  /** The placements do not select it any more. The controller that accepts clusters deletes its namespace with all that is in it. */
  #lose(): Step {
    const name = this.#present[this.#pick(this.#present.length)] ?? 'c1';
    this.#present = this.#present.filter((one) => one !== name);
    const cluster = this.#named(name);
    const moved = [...this.#decided].filter(([, clusters]) => clusters.includes(cluster));
    for (const [placement, clusters] of moved)
      this.#decided.set(
        placement,
        clusters.filter((one) => one !== cluster),
      );
    const after = moved.map(([placement]) => [placement, this.#decided.get(placement) ?? []] as const);
    return {
      what: `${cluster} is lost`,
      make: async (world) => {
        await world.api.delete(MANAGED_CLUSTER, { namespace: '', name: cluster });
        for (const [placement, clusters] of after) await world.decide(placement, clusters);
        await world.api.delete(NAMESPACE, { namespace: '', name: cluster });
        const isThere = () => world.api.get(NAMESPACE, { namespace: '', name: cluster });
        await expect.poll(isThere).toBeUndefined();
      },
    };
  }

  #join(): Step {
    const name = CLUSTERS.find((one) => !this.#present.includes(one)) ?? 'c1';
    this.#present = [...this.#present, name].sort();
    const placement = this.#named(['p', 'q'][this.#pick(2)] ?? 'p');
    const clusters = [...(this.#decided.get(placement) ?? []), this.#named(name)].sort();
    this.#decided.set(placement, clusters);
    return {
      what: `${this.#named(name)} joins`,
      make: async (world) => {
        await makeCluster(world, this.#named(name));
        await world.decide(placement, clusters);
      },
    };
  }

  /** What the agents of some clusters report. */
  #applyWorks(): Step {
    const clusters = this.#some();
    return {
      what: `the works of ${clusters.join(' ')} are applied`,
      make: async (world) => {
        for (const namespace of clusters)
          for (const work of (await world.api.list(MANIFEST_WORK, { namespace })).items)
            await reportApplied(world, work);
      },
    };
  }
}

async function makeCluster(world: AddOnWorld, name: string): Promise<void> {
  await world.make(NAMESPACE, { metadata: { name } });
  await world.make(MANAGED_CLUSTER, { metadata: { name }, spec: { hubAcceptsClient: true } });
}

async function reportApplied(world: AddOnWorld, { metadata }: KubeObject): Promise<void> {
  const { namespace = '', name, generation } = metadata;
  const conditions = ['Applied', 'Available'].map((type) => ({
    ...{ type, status: 'True', reason: 'Test', message: '', observedGeneration: generation },
    lastTransitionTime: new Date(0).toISOString().replace('.000', ''),
  }));
  await world.api.mergePatch(
    MANIFEST_WORK,
    { namespace, name },
    { status: { conditions } },
    { subresource: 'status', fieldManager: 'agent' },
  );
}

/** A client of the hub with a right, and a manifest with a variable. */
function templateOf(addonName: string, version: number): object {
  const manifest = {
    ...{ apiVersion: 'v1', kind: 'ConfigMap' },
    metadata: { namespace: 'default', name: addonName },
    data: { version: `${version}`, size: '{{SIZE}}', cluster: '{{CLUSTER_NAME}}' },
  };
  const hubPermissions = [{ type: 'CurrentCluster', currentCluster: { clusterRoleName: READER } }];
  const registration = [{ type: 'KubeClient', kubeClient: { hubPermissions } }];
  return { addonName, agentSpec: { workload: { manifests: [manifest] } }, registration };
}

export async function makeReaderRole(world: AddOnWorld): Promise<void> {
  await world.make(CLUSTER_ROLE, { metadata: { name: READER }, rules: [] });
}
