import type { HttpKubeApi } from '@berth/kube/http-kube-api';
import {
  ADDON_DEPLOYMENT_CONFIG,
  ADDON_TEMPLATE,
  apiVersionOf,
  CLUSTER_MANAGEMENT_ADDON,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  NAMESPACE,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import type { AddOnDuty, AddOnEvent } from '../../../src/core/addon/addon-duties.ts';
import type { Removal } from '../../../src/core/publish/judge/removal-budget.ts';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { type AddOnMemory, runAddOns } from './run-addons.ts';

export const ADDON_GROUP = 'addon.open-cluster-management.io';
const PLACES = 'default';

/** An embedded hub with Berth's manager of add-ons, and placements that the test decides by hand. */
export class AddOnWorld {
  readonly events: AddOnEvent[] = [];
  readonly hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  readonly #removals = new Map<string, readonly Removal[]>();
  #running: ReturnType<typeof runAddOns> | undefined;

  private constructor(hub: Awaited<ReturnType<typeof startEmbeddedHub>>) {
    this.hub = hub;
  }

  static async create(duties?: readonly AddOnDuty[]): Promise<AddOnWorld> {
    const world = new AddOnWorld(await startEmbeddedHub());
    if (duties !== undefined) world.start(duties);
    return world;
  }

  get api(): HttpKubeApi {
    return this.hub.api;
  }

  start(duties: readonly AddOnDuty[], options: Pick<AddOnMemory, 'budget'> = {}): void {
    const memory = { events: this.events, removals: this.#removals, ...options };
    this.#running = runAddOns(this.api, duties, memory);
  }

  warnings(): readonly string[] {
    return this.#running?.warnings() ?? [];
  }

  async stop(): Promise<void> {
    await this.#running?.close();
  }

  async close(): Promise<void> {
    await this.stop();
    await this.hub.close();
  }

  make(kind: KindInfo, content: object): Promise<KubeObject> {
    const typed = { apiVersion: apiVersionOf(kind), kind: kind.kind, ...content };
    return this.api.create(kind, typed as unknown as KubeObject);
  }

  /** Clusters of the given names, each with its namespace. */
  async clusters(
    names: readonly string[],
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    for (const name of names) {
      await this.make(MANAGED_CLUSTER, { metadata: { name, annotations }, spec: { hubAcceptsClient: true } });
      await this.make(NAMESPACE, { metadata: { name } });
    }
  }

  /** A placement in the namespace `default`, and its decision if there is one. */
  async placement(name: string, clusters?: readonly string[]): Promise<void> {
    await this.make(PLACEMENT, { metadata: { namespace: PLACES, name }, spec: {} });
    if (clusters === undefined) return;
    const labels = {
      [PLACEMENT_LABEL]: name,
      'cluster.open-cluster-management.io/decision-group-index': '0',
      'cluster.open-cluster-management.io/decision-group-name': '',
    };
    await this.make(PLACEMENT_DECISION, {
      metadata: { namespace: PLACES, name: `${name}-decision-1`, labels },
    });
    await this.decide(name, clusters);
  }

  async decide(name: string, clusters: readonly string[]): Promise<void> {
    const decisions = clusters.map((clusterName) => ({ clusterName, reason: '' }));
    const key = { namespace: PLACES, name: `${name}-decision-1` };
    await this.api.mergePatch(
      PLACEMENT_DECISION,
      key,
      { status: { decisions } },
      { subresource: 'status', fieldManager: 'test' },
    );
  }

  /** A ClusterManagementAddOn in v1alpha1 that the placements install. */
  addOn(name: string, placements: readonly object[], spec: object = {}): Promise<KubeObject> {
    const installStrategy =
      placements.length === 0
        ? { type: 'Manual' }
        : { type: 'Placements', placements: placements.map((one) => ({ namespace: PLACES, ...one })) };
    return this.make(CLUSTER_MANAGEMENT_ADDON, { metadata: { name }, spec: { ...spec, installStrategy } });
  }

  deploymentConfig(name: string, variable: string): Promise<KubeObject> {
    const spec = { customizedVariables: [{ name: 'SIZE', value: variable }] };
    return this.make(ADDON_DEPLOYMENT_CONFIG, { metadata: { namespace: PLACES, name }, spec });
  }

  template(name: string, addonName: string): Promise<KubeObject> {
    const manifest = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name: 'of-addon' },
    };
    const spec = { addonName, agentSpec: { workload: { manifests: [manifest] } } };
    return this.make(ADDON_TEMPLATE, { metadata: { name }, spec });
  }

  async installedOn(addOn: string): Promise<readonly string[]> {
    const { items } = await this.api.list(MANAGED_CLUSTER_ADDON);
    return items
      .filter(({ metadata }) => metadata.name === addOn && metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.namespace ?? '')
      .sort();
  }

  clusterAddOn(cluster: string, name: string): Promise<KubeObject | undefined> {
    return this.api.get(MANAGED_CLUSTER_ADDON, { namespace: cluster, name });
  }

  /** `Type=Status Reason`, sorted. */
  async conditionsOf(cluster: string, name: string): Promise<readonly string[]> {
    const { conditions = [] } = ((await this.clusterAddOn(cluster, name))?.['status'] ?? {}) as {
      readonly conditions?: readonly Condition[];
    };
    return conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`).sort();
  }

  /** `RESOURCE NAME`, with the first digits of the hash. */
  async referencesOf(cluster: string, name: string): Promise<readonly string[]> {
    const { configReferences = [] } = ((await this.clusterAddOn(cluster, name))?.['status'] ?? {}) as {
      readonly configReferences?: readonly {
        readonly resource: string;
        readonly desiredConfig: { readonly name: string; readonly specHash: string };
      }[];
    };
    return configReferences.map(
      ({ resource, desiredConfig }) =>
        `${resource} ${desiredConfig.name} ${desiredConfig.specHash.slice(0, 6)}`,
    );
  }
}
