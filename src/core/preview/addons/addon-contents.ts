import {
  DEPLOYMENT_CONFIGS,
  isManagedHere,
  readAddOn,
  readClusterAddOn,
  TEMPLATES,
} from '@berth/addon/rules/addon-versions';
import { sameKind } from '@berth/addon/rules/config-references';
import { knownSpecHash } from '@berth/addon/rules/config-hash';
import { renderAddOnTemplate, storedConfig } from '@berth/addon/rules/render-template';
import { apiVersionOf, CLUSTER_MANAGEMENT_ADDON, MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import {
  ADDON_GROUP,
  type AddOnDeploymentConfig,
  type AddOnTemplate,
  type ConfigKind,
  type ConfigReferent,
  type ManagedClusterAddOn,
} from '@berth/ocm/kind/addon';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { decisionOwner } from '@berth/placement/prior/published-clusters';
import { canonicalJson } from '@berth/runtime/json/json-equal';
import { groupBy } from '@berth/runtime/lists/group-by';
import { done, failed, type Outcome } from '@berth/runtime/outcome';
import { compareText } from '@berth/runtime/text/compare-text';
import {
  configuredClusters,
  type ConfiguredClusters,
  type DesiredConfig,
} from '../../addon/config-rollout.ts';
import { planReferences } from '@berth/addon/rules/plan-references';
import { installPlacements, selectedClusters } from '@berth/addon/rules/plan-install';
import { decisionPages } from '../effects/decision-pages.ts';
import type { FieldChange, ManifestChange, RolloutForecast } from '../effects/plan-effects.ts';
import { forecastRollout } from '../make-plan.ts';
import type { PlacedWorkload, PlanSide } from '../plan-input.ts';
import type { Plan, WorkloadPlan } from '../plan.ts';
import { manifestChanges } from '../workload-plans.ts';
import { type AddOnFutures, type HubAddOns, installedOn, Selections } from './plan-addons.ts';

/** What changes on the clusters that keep their add-ons, and how that reaches them. */
type AddOnContents = Pick<Plan, 'workloads' | 'rollouts' | 'notEvaluated'>;

/**
 * Which clusters get another configuration of an add-on, what changes of its rendered manifests there, and by which rollout, with the
 * rules of the controller. A template that is only edited reaches clusters in the same way as another one.
 */
export function withAddOnContents(
  plan: AddOnContents,
  { before, after }: Pick<AddOnFutures, 'before' | 'after'>,
  hub: HubAddOns | undefined,
): AddOnContents {
  if ((after.addOns?.size ?? 0) === 0) return plan;
  const [old, now] = [new SideContents(before, hub), new SideContents(after, hub)];
  const workloads = new Map(plan.workloads.map((one) => [keyOf(one), one]));
  const rollouts = [...plan.rollouts];
  const notEvaluated = [...plan.notEvaluated];
  for (const [identity, placed] of after.addOns ?? []) {
    const { name } = placed.object.metadata;
    const was = before.addOns?.get(identity);
    const [had, has] = [was === undefined ? done([]) : old.configured(was), now.configured(placed)];
    if (!has.ok && had.ok)
      notEvaluated.push(`No cluster gets another configuration of add-on ${name}: ${has.error}.`);
    if (!has.ok) continue;
    // Where the placements do not say it, a cluster has what it had.
    const followed = new Map((had.ok ? had.value : []).flatMap(({ configs }) => [...configs]));
    const hadOn = (cluster: string) =>
      was?.clusters.includes(cluster) === true
        ? (followed.get(cluster) ?? old.given(cluster, name))
        : undefined;
    const changed = changedClusters(hadOn, has.value);
    const known = workloads.get(keyOf({ kind: CLUSTER_MANAGEMENT_ADDON.kind, namespace: '', name }));
    const due = new Set([...changed.keys(), ...(known?.added ?? [])]);
    rollouts.push(...has.value.flatMap((node) => forecastOf(name, node, due)));
    if (changed.size === 0) continue;
    const { manifests, manifestCount, problem } = contentOf(name, changed, [old, now]);
    if (problem !== undefined)
      notEvaluated.push(`What add-on ${name} is made of is not compared: ${problem}.`);
    const content = { changedOn: [...changed.keys()].sort(compareText), manifestCount, manifests };
    const base = known ?? unmoved(placed);
    const change = base.change === 'moved' ? 'changed' : base.change;
    workloads.set(keyOf(base), { ...base, ...content, change });
  }
  const sorted = [...workloads.values()].sort((a, b) => compareText(keyOf(a), keyOf(b)));
  return { workloads: sorted, rollouts, notEvaluated };
}

function keyOf({ kind, namespace, name }: Pick<WorkloadPlan, 'kind' | 'namespace' | 'name'>): string {
  return `${kind} ${namespace}/${name}`;
}

function unmoved({ object, placements, clusters }: PlacedWorkload): WorkloadPlan {
  const { kind, metadata } = object;
  const moves = { added: [], removed: [], kept: clusters.length };
  const content = { changedOn: [], manifestCount: 0, manifests: [] };
  return { kind, namespace: '', name: metadata.name, change: 'changed', placements, ...moves, ...content };
}

/** What a cluster has of an add-on, and what it will have. */
type ConfigPair = readonly [before: readonly DesiredConfig[], after: readonly DesiredConfig[]];

/** The clusters with the add-on on both sides whose configurations differ. */
function changedClusters(
  hadOn: (cluster: string) => readonly DesiredConfig[] | undefined,
  after: readonly ConfiguredClusters[],
): ReadonlyMap<string, ConfigPair> {
  const changed = new Map<string, ConfigPair>();
  for (const [cluster, configs] of after.flatMap((node) => [...node.configs])) {
    const old = hadOn(cluster);
    if (old !== undefined && textOf(old) !== textOf(configs)) changed.set(cluster, [old, configs]);
  }
  return changed;
}

function textOf(configs: readonly DesiredConfig[]): string {
  return configs
    .map((config) => canonicalJson(config))
    .sort()
    .join();
}

/** As for replica sets. */
function forecastOf(
  name: string,
  { placement, strategy, groups, configs }: ConfiguredClusters,
  due: ReadonlySet<string>,
): readonly RolloutForecast[] {
  if (placement === undefined || strategy === undefined) return [];
  const clusters = groups.flatMap((group) => group.clusters);
  if (!clusters.some((cluster) => due.has(cluster))) return [];
  const done = new Set(clusters.filter((cluster) => !due.has(cluster) || !configs.has(cluster)));
  const type = strategy.type ?? 'All';
  const forecast = forecastRollout({ strategy: { ...strategy, type }, groups, done });
  const subject = { kind: CLUSTER_MANAGEMENT_ADDON.kind, namespace: '', name };
  return [{ ...subject, placement: namespacedName(placement), ...forecast }];
}

/** The add-ons of one side: their configurations, and what is rendered of them. */
class SideContents {
  readonly #selections: Selections;
  readonly #own: ReadonlyMap<string, KubeObject>;
  readonly #configs: ReadonlyMap<string, KubeObject>;
  readonly #clusters: ReadonlyMap<string, ManagedCluster>;
  readonly #placements: ReadonlyMap<string, PlanSide['snapshot']['placements'][number]>;
  readonly #pages: ReadonlyMap<string, PlanSide['snapshot']['decisions']>;

  constructor(side: PlanSide, hub: HubAddOns | undefined) {
    const { snapshot, onHub, objects } = side;
    this.#selections = new Selections(side);
    this.#own = new Map(
      (hub?.installed ?? []).map((object) => [
        `${object.metadata.namespace} ${object.metadata.name}`,
        object,
      ]),
    );
    const inGit = (onHub ?? objects).map(({ object }) => object);
    this.#configs = new Map(
      [...(hub?.configs ?? []), ...inGit]
        .filter(({ apiVersion }) => apiVersion.startsWith(`${ADDON_GROUP}/`))
        .map((object) => [`${object.kind} ${namespacedName(object.metadata)}`, object]),
    );
    this.#clusters = new Map(snapshot.clusters.map((cluster) => [cluster.metadata.name, cluster]));
    this.#placements = new Map(snapshot.placements.map((one) => [namespacedName(one.metadata), one]));
    this.#pages = groupBy(
      decisionPages({ ...side, existing: snapshot.decisions }),
      (page) => decisionOwner(page) ?? '',
    );
  }

  configured({ object, clusters }: PlacedWorkload): Outcome<readonly ConfiguredClusters[]> {
    const addOn = readAddOn(object);
    if (!isManagedHere(addOn)) return done([]);
    const references = planReferences({ ...addOn, status: {} }, (config) => {
      return { specHash: this.#hash(config), generation: undefined };
    });
    const placements = installPlacements(addOn);
    const { selected, unknown } = selectedClusters(placements ?? [], (one) => this.#selections.of(one));
    if (unknown !== undefined) return failed(unknown);
    // Clusters that the placements do not select keep what they have.
    const followed = clusters.filter((cluster) => placements === undefined || selected.has(cluster));
    return configuredClusters({
      ...{ nowMs: 0, addOn: { ...addOn, status: references } },
      installed: new Map(followed.map((cluster) => [cluster, this.#addOnOf(cluster, object)])),
      placement: (namespace, name) => this.#placements.get(`${namespace}/${name}`),
      decisions: (namespace, name) => this.#pages.get(`${namespace}/${name}`) ?? [],
    });
  }

  /** What the hub says that a cluster has, perhaps nothing yet; undefined if it does not say it. */
  given(cluster: string, name: string): readonly DesiredConfig[] | undefined {
    const known = this.#own.get(`${cluster} ${name}`);
    if (known === undefined) return undefined;
    const { configReferences = [] } = readClusterAddOn(known).status ?? {};
    return configReferences.flatMap(({ group, resource, desiredConfig: desired }) =>
      desired ? [{ group, resource, desired }] : [],
    );
  }

  /** Undefined: it is not made of a template. */
  render(
    name: string,
    cluster: string,
    configs: readonly DesiredConfig[],
  ): Outcome<readonly KubeObject[]> | undefined {
    if (!configs.some((config) => sameKind(config, TEMPLATES))) return undefined;
    const configReferences = configs.map(({ group, resource, desired: desiredConfig }) => ({
      ...{ group, resource, desiredConfig, lastObservedGeneration: 0 },
    }));
    const rendered = renderAddOnTemplate({
      addonName: name,
      cluster: { name: cluster, annotations: this.#clusters.get(cluster)?.metadata.annotations },
      addon: { ...this.#addOnNamed(cluster, name), status: { configReferences } },
      template: (template) =>
        this.#config(TEMPLATES.resource, { name: template }) as AddOnTemplate | undefined,
      deploymentConfig: (namespace, config) => {
        const found = this.#config(DEPLOYMENT_CONFIGS.resource, { namespace, name: config });
        return found && storedConfig(found as unknown as AddOnDeploymentConfig);
      },
    });
    return rendered.ok ? done(rendered.value.manifests) : rendered;
  }

  /** Clusters of one key get the same, but for their names. */
  keyOf(cluster: string): unknown {
    return this.#clusters.get(cluster)?.metadata.annotations;
  }

  #config(resource: string, { namespace, name }: ConfigReferent): KubeObject | undefined {
    return this.#configs.get(`${KINDS[resource] ?? resource} ${namespacedName({ namespace, name })}`);
  }

  #hash(config: ConfigKind & ConfigReferent): string {
    const found = this.#config(config.resource, config);
    return found === undefined ? '' : knownSpecHash(found);
  }

  /** With the hashes of the configurations that it names itself. */
  #addOnOf(cluster: string, { metadata }: KubeObject): ManagedClusterAddOn {
    const addOn = this.#addOnNamed(cluster, metadata.name);
    const configReferences = (addOn.spec?.configs ?? []).map(({ group, resource, ...referent }) => ({
      ...{ group, resource, lastObservedGeneration: 0 },
      desiredConfig: { ...referent, specHash: this.#hash({ group, resource, ...referent }) },
    }));
    return { ...addOn, status: { configReferences } };
  }

  #addOnNamed(namespace: string, name: string): ManagedClusterAddOn {
    const known = this.#own.get(`${namespace} ${name}`);
    return known === undefined ? installedOn(namespace, name) : readClusterAddOn(known);
  }
}

const KINDS: Readonly<Record<string, string>> = {
  [TEMPLATES.resource]: 'AddOnTemplate',
  [DEPLOYMENT_CONFIGS.resource]: 'AddOnDeploymentConfig',
};

interface ComparedContent {
  readonly manifests: readonly ManifestChange[];
  readonly manifestCount: number;
  readonly problem: string | undefined;
}

/** The differences on all clusters, each once: clusters that get the same are rendered once. */
function contentOf(
  name: string,
  changed: ReadonlyMap<string, ConfigPair>,
  [old, now]: readonly [SideContents, SideContents],
): ComparedContent {
  const alike = groupBy([...changed], ([cluster, pair]) =>
    canonicalJson([pair, old.keyOf(cluster), now.keyOf(cluster)]),
  );
  const found = new Map<string, ManifestChange>();
  let [manifestCount, problem]: [number, string | undefined] = [0, undefined];
  for (const [[cluster, [before, after]] = ['', [[], []]]] of alike.values()) {
    const rendered = [old.render(name, cluster, before), now.render(name, cluster, after)];
    const [was, is] = rendered.map((one) => (one?.ok === true ? one.value : []));
    problem ??= rendered.flatMap((one) => (one?.ok === false ? one.error : []))[0];
    const isRendered = rendered.some((one) => one !== undefined);
    const parts = problem === undefined ? manifestChanges(was ?? [], is ?? []) : [];
    for (const part of [...configChange(name, before, after, isRendered), ...parts])
      found.set(canonicalJson(part), part);
    manifestCount = Math.max(manifestCount, is?.length ?? 0);
  }
  return { manifests: [...found.values()], manifestCount, problem };
}

/** The configurations that a cluster gets instead of others. What an edit of one changes is seen in what is rendered of it. */
function configChange(
  name: string,
  before: readonly DesiredConfig[],
  after: readonly DesiredConfig[],
  isRendered: boolean,
): readonly ManifestChange[] {
  const namesOf = (configs: readonly DesiredConfig[], resource: string): string | undefined => {
    const own = configs.filter((config) => config.resource === resource);
    return own.length === 0 ? undefined : own.map(({ desired }) => namespacedName(desired)).join(', ');
  };
  const resources = [...new Set([...before, ...after].map(({ resource }) => resource))].sort(compareText);
  const fields = resources.flatMap((resource): readonly FieldChange[] => {
    const [old, now] = [namesOf(before, resource), namesOf(after, resource)];
    const path = KINDS[resource] ?? resource;
    if (old !== now) return [{ path, before: old && JSON.stringify(old), after: now && JSON.stringify(now) }];
    const of = (configs: readonly DesiredConfig[]) =>
      configs.filter((config) => config.resource === resource);
    const isEdited = canonicalJson(of(before)) !== canonicalJson(of(after));
    return isEdited && !isRendered
      ? [{ path: `content of ${path} ${now ?? ''}`, before: undefined, after: undefined }]
      : [];
  });
  const { kind } = MANAGED_CLUSTER_ADDON;
  const ref = { apiVersion: apiVersionOf(MANAGED_CLUSTER_ADDON), kind, namespace: '', name };
  return fields.length === 0 ? [] : [{ change: 'changed', ref, fields }];
}
