import {
  ADDON_DEPLOYMENT_CONFIG,
  ADDON_TEMPLATE,
  CLUSTER_MANAGEMENT_ADDON,
  CLUSTER_ROLE,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
  NAMESPACE,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import { isConfigured, readClusterAddOn } from '@berth/addon/rules/addon-versions';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { seeded } from '@berth/test-kit/seeded-random';
import { expect } from 'vitest';
import { ADDON_GROUP, type AddOnWorld } from '../../controllers/addons/addon-world.ts';

const ADC = { group: ADDON_GROUP, resource: 'addondeploymentconfigs' };
const TEMPLATE = { group: ADDON_GROUP, resource: 'addontemplates' };
const CLUSTERS = ['c1', 'c2', 'c3', 'c4'];
const CONFIGS = ['small', 'big', 'own'];
const PLACEMENTS = ['p', 'q'] as const;
/** The groups of each placement, by their clusters. */
const GROUPS = [
  { name: 'first', clusters: ['c1', 'c2'] },
  { name: 'late', clusters: ['c3', 'c4'] },
];
const ALL = { type: 'All' };
const READER = 'addon-reader';

const isTemplate = (config: object): boolean =>
  (config as { readonly resource?: string }).resource === TEMPLATE.resource;

/** A change of one history, made on a hub. */
export interface Step {
  readonly what: string;
  readonly make: (world: AddOnWorld) => Promise<void>;
}

/** A random number below the given one. */
type Pick = (below: number) => number;

interface PlacementStrategy {
  readonly configs: readonly object[];
  readonly rolloutStrategy: { readonly type: string };
}

/**
 * One add-on of a template, with two placements, configurations and clusters of its own, and changes of all of them. All names begin
 * with that of the add-on, so that many histories share two hubs.
 */
export class AddOnHistory {
  readonly addOn: string;
  readonly #pick: Pick;
  #present: readonly string[] = [...CLUSTERS];
  readonly #decided = new Map<string, readonly string[]>();
  #listed: readonly string[] = [...PLACEMENTS];
  /** What the strategy says of each placement, also of those that it does not list now. */
  readonly #strategies = new Map<string, PlacementStrategy>();

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
    for (const name of PLACEMENTS) await this.#makePlacement(world, this.#named(name));
    await world.addOn(addOn, [{ name: this.#named('p') }, { name: this.#named('q') }], {
      supportedConfigs: [
        { ...TEMPLATE, defaultConfig: { name: this.#named('t') } },
        { ...ADC, defaultConfig: { namespace: 'default', name: this.#named('small') } },
      ],
    });
  }

  next(): Step {
    const pick = this.#pick;
    switch (pick(11)) {
      case 0:
      case 1:
        return this.#decide();
      case 2:
      case 3:
        return this.#changeStrategy();
      case 4:
      case 5:
        return this.#editConfig();
      case 6:
        return this.#nameOwnConfig();
      case 7:
        return this.#present.length > 1 ? this.#lose() : this.#join();
      case 8:
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

  async #makePlacement(world: AddOnWorld, name: string): Promise<void> {
    const decisionStrategy = { groupStrategy: { clustersPerDecisionGroup: 2 } };
    await world.make(PLACEMENT, { metadata: { namespace: 'default', name }, spec: { decisionStrategy } });
    for (const [index, group] of GROUPS.entries())
      await world.make(PLACEMENT_DECISION, {
        metadata: {
          ...{ namespace: 'default', name: `${name}-${group.name}` },
          labels: {
            [PLACEMENT_LABEL]: name,
            'cluster.open-cluster-management.io/decision-group-index': `${index}`,
            'cluster.open-cluster-management.io/decision-group-name': group.name,
          },
        },
      });
  }

  async #write(world: AddOnWorld, placement: string, clusters: readonly string[]): Promise<void> {
    for (const group of GROUPS) {
      const within = group.clusters.map((name) => this.#named(name));
      const decisions = clusters
        .filter((name) => within.includes(name))
        .map((clusterName) => ({ clusterName, reason: '' }));
      const key = { namespace: 'default', name: `${placement}-${group.name}` };
      const options = { subresource: 'status', fieldManager: 'test' } as const;
      await world.api.mergePatch(PLACEMENT_DECISION, key, { status: { decisions } }, options);
    }
  }

  /**
   * A placement whose rollout is progressive gets or loses one cluster: OCM starts each new add-on that it sees before the others are
   * made. No cluster is taken over while groups are mandatory: OCM counts it as waiting, so the others never get their turn.
   */
  #decide(): Step {
    const name = PLACEMENTS[this.#pick(2)] ?? 'p';
    const placement = this.#named(name);
    const before = this.#decided.get(placement) ?? [];
    const one = this.#named(this.#present[this.#pick(this.#present.length)] ?? 'c1');
    const toggled = before.includes(one)
      ? before.filter((cluster) => cluster !== one)
      : [...before, one].sort();
    const isProgressive = (this.#strategies.get(name)?.rolloutStrategy ?? ALL).type !== ALL.type;
    const others = this.#hasMandatory() ? this.#decidedOfOthers(placement) : [];
    const clusters = (isProgressive ? toggled : this.#some()).filter((cluster) => !others.includes(cluster));
    this.#decided.set(placement, clusters);
    return {
      what: `${placement} selects ${clusters.join(' ')}`,
      make: (world) => this.#write(world, placement, clusters),
    };
  }

  #config(): object {
    const name = this.#named(CONFIGS[this.#pick(CONFIGS.length)] ?? 'small');
    return { ...ADC, namespace: 'default', name };
  }

  /**
   * Changes either which placements the strategy lists, or the configurations or the rollout of one: OCM reads the former from the status
   * for a moment, the latter from the spec. Templates change where all rollouts are at once: OCM lets one whose configuration is not
   * applied yet go on with another template before its turn.
   */
  #changeStrategy(): Step {
    const pick = this.#pick;
    const name = PLACEMENTS[pick(2)] ?? 'p';
    const { configs = [], rolloutStrategy = ALL } = this.#strategies.get(name) ?? {};
    switch (pick(4)) {
      case 0: {
        const before = this.#listed;
        this.#listed = [['p', 'q'], ['q', 'p'], ['p'], ['q']][pick(4)] ?? ['p'];
        for (const added of this.#listed.filter((one) => !before.includes(one)))
          this.#strategies.set(added, { configs, ...this.#strategies.get(added), rolloutStrategy: ALL });
        break;
      }
      case 1: {
        const hasTemplate =
          pick(3) === 0 && !this.#strategiesHave(({ rolloutStrategy: { type } }) => type !== 'All');
        const template = hasTemplate ? [{ ...TEMPLATE, name: this.#named('u') }] : [];
        this.#strategies.set(name, {
          configs: [...(pick(2) > 0 ? [this.#config()] : []), ...template],
          rolloutStrategy,
        });
        break;
      }
      default: {
        const drawn = this.#rollout();
        const hasTemplate = this.#strategiesHave(({ configs: those }) => those.some(isTemplate));
        this.#strategies.set(name, { configs, rolloutStrategy: hasTemplate ? ALL : drawn });
      }
    }
    const placements = this.#listed.map((one) => {
      const { configs: own = [], ...strategy } = this.#strategies.get(one) ?? {};
      const at = { namespace: 'default', name: this.#named(one) };
      return { ...at, ...(own.length > 0 && { configs: own }), ...strategy };
    });
    const spec = { installStrategy: { type: 'Placements', placements } };
    return {
      what: `the strategy is ${JSON.stringify(placements)}`,
      make: async (world) => {
        await world.api.mergePatch(CLUSTER_MANAGEMENT_ADDON, { namespace: '', name: this.addOn }, { spec });
      },
    };
  }

  #hasMandatory(): boolean {
    return this.#strategiesHave(({ rolloutStrategy }) =>
      JSON.stringify(rolloutStrategy).includes('mandatoryDecisionGroups'),
    );
  }

  #decidedOfOthers(placement: string): readonly string[] {
    return [...this.#decided].flatMap(([other, clusters]) => (other === placement ? [] : clusters));
  }

  #strategiesHave(what: (strategy: PlacementStrategy) => boolean): boolean {
    return [...this.#strategies.values()].some(what);
  }

  #rollout(): PlacementStrategy['rolloutStrategy'] {
    const oneOf = <T>(...values: readonly T[]): T | undefined => values[this.#pick(values.length)];
    const isShared = PLACEMENTS.some((name) => {
      const others = this.#decidedOfOthers(this.#named(name));
      return this.#decided.get(this.#named(name))?.some((cluster) => others.includes(cluster)) === true;
    });
    const common = {
      maxFailures: oneOf<number | string | undefined>(undefined, 1, '50%'),
      progressDeadline: oneOf(undefined, undefined, '1s'),
      minSuccessTime: oneOf(undefined, undefined, '1s'),
      mandatoryDecisionGroups: isShared
        ? undefined
        : oneOf(undefined, [{ groupName: 'first' }], [{ groupIndex: 1 }]),
    };
    const maxConcurrency = oneOf<number | string | undefined>(undefined, 1, 1, 2, '50%');
    const strategies = [
      ALL,
      { type: 'Progressive', progressive: { ...common, maxConcurrency } },
      { type: 'Progressive', progressive: { ...common, maxConcurrency } },
      { type: 'ProgressivePerGroup', progressivePerGroup: common },
    ];
    return oneOf(...strategies) ?? ALL;
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
        for (const [placement, clusters] of after) await this.#write(world, placement, clusters);
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
        await this.#write(world, placement, clusters);
      },
    };
  }

  /** What the agents of some clusters report. OCM reads nothing of it while the add-on waits for its rollout. */
  #applyWorks(): Step {
    const clusters = this.#some();
    return {
      what: `the works of ${clusters.join(' ')} are applied`,
      make: async (world) => {
        // The first report may start the next cluster, whose work changes.
        const lists = await Promise.all(clusters.map((cluster) => this.#worksToApply(world, cluster)));
        for (const work of lists.flat()) await reportApplied(world, work);
      },
    };
  }

  async #worksToApply(world: AddOnWorld, namespace: string): Promise<readonly KubeObject[]> {
    const addOn = await world.clusterAddOn(namespace, this.addOn);
    if (addOn === undefined || !isConfigured(readClusterAddOn(addOn))) return [];
    return (await world.api.list(MANIFEST_WORK, { namespace })).items;
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
