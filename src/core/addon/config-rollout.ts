import { isConfig, NO_DEFAULT, sameKind, sameReferent } from '@berth/addon/rules/config-references';
import type { Condition } from '@berth/kube/model/object-meta';
import type {
  AddOnConfig,
  AddOnConfigReference,
  ClusterManagementAddOn,
  ConfigKind,
  ConfigSpecHash,
  DefaultConfigReference,
  InstallConfigReference,
  InstallPlacement,
  InstallProgression,
  ManagedClusterAddOn,
} from '@berth/ocm/kind/addon';
import type { RolloutStrategy } from '@berth/ocm/kind/manifest-work-replica-set';
import type { Placement } from '@berth/ocm/kind/placement';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { compareUtf8 } from '@berth/runtime/text/utf8';
import { done, eachDone, failed, type Outcome } from '@berth/runtime/outcome';
import { planRollout, decisionGroups } from '../rollout/plan-rollout.ts';
import type { ClusterRolloutStatus, RolloutGroup, RolloutPlan } from '../rollout/rollout-plan.ts';

export interface ConfigRolloutInput {
  readonly nowMs: number;
  readonly addOn: ClusterManagementAddOn;
  /** By cluster: the add-on of this name. */
  readonly installed: ReadonlyMap<string, ManagedClusterAddOn>;
  readonly placement: (namespace: string, name: string) => Placement | undefined;
  readonly decisions: (namespace: string, name: string) => readonly PlacementDecision[];
}

export interface ConfigRollout {
  /** By cluster: what changes in the status of its add-on. */
  readonly addons: ReadonlyMap<string, ConfiguredAddOn>;
  readonly progressions: readonly InstallProgression[];
  /** When something changes by time alone. */
  readonly recheckAfterMs: number | undefined;
}

export interface ConfiguredAddOn {
  readonly configReferences: readonly AddOnConfigReference[];
  /** Undefined: the condition `Configured` stays as it is. */
  readonly configured: Condition | undefined;
}

/**
 * Which configurations the add-on of every cluster gets now, and which clusters wait. A type of configuration comes from the add-on of
 * the cluster, else from the placement of the install strategy that selects it, else from the defaults; always the complete set. Clusters of
 * a placement follow its rollout strategy, the others get theirs at once. As OCM 1.2 (pkg/addon/controllers/addonconfiguration).
 *
 * What counts are the references in the status of the ClusterManagementAddOn: their hashes are known. A strategy whose placement has no
 * entry there waits for it.
 */
export function rollOutConfigs(input: ConfigRolloutInput): Outcome<ConfigRollout> {
  const placed = placedNodes(input);
  if (!placed.ok) return placed;
  const nodes = [defaultNode(input, placed.value), ...placed.value];
  const planned = eachDone(nodes, (node) => planNode(input, node));
  if (!planned.ok) return planned;
  const byProgression = new Map(planned.value.map((node) => [node.progression, node] as const));
  const progressions = input.addOn.status?.installProgressions ?? [];
  const waits = planned.value.flatMap(({ plan }) => plan?.recheckAfterMs ?? []);
  return done({
    addons: new Map(planned.value.flatMap((node) => [...configuredAddOns(node)])),
    progressions: progressions.map((progression) => {
      const node = byProgression.get(progression);
      return node === undefined ? progression : withProgress(progression, node);
    }),
    recheckAfterMs: waits.length === 0 ? undefined : Math.min(...waits),
  });
}

/** Clusters that get the same configurations, by the same rollout. */
export interface ConfiguredClusters {
  /** Undefined: no placement selects them, and they get theirs at once. */
  readonly placement: { readonly namespace: string; readonly name: string } | undefined;
  readonly strategy: RolloutStrategy | undefined;
  readonly groups: readonly RolloutGroup[];
  /** By cluster: the configurations that its add-on has in the end. */
  readonly configs: ReadonlyMap<string, readonly DesiredConfig[]>;
}

/** Which configurations every cluster has when all rollouts are done, and by which rollout it gets them. */
export function configuredClusters(input: ConfigRolloutInput): Outcome<readonly ConfiguredClusters[]> {
  const placed = placedNodes(input);
  if (!placed.ok) return placed;
  return done(
    [defaultNode(input, placed.value), ...placed.value].map(({ progression, strategy, groups, members }) => ({
      ...{ placement: progression, strategy, groups },
      configs: new Map(members.map(({ cluster, configs }) => [cluster, [...configs.values()].flat()])),
    })),
  );
}

/** By type of configuration, as `RESOURCE.GROUP`: the configurations in their declared order. */
type Configs = ReadonlyMap<string, readonly DesiredConfig[]>;

export interface DesiredConfig extends ConfigKind {
  readonly desired: ConfigSpecHash;
}

/** Clusters that get the same configurations: those of one placement, or those of none. */
interface Node {
  /** Undefined for the clusters of no placement: they follow no rollout. */
  readonly progression: InstallProgression | undefined;
  readonly strategy: RolloutStrategy | undefined;
  /** Clusters that the placement selects, those of later placements included. */
  readonly selected: number;
  readonly groups: readonly RolloutGroup[];
  readonly members: readonly Member[];
}

/** A cluster on which the add-on is installed. */
interface Member {
  readonly cluster: string;
  readonly addon: ManagedClusterAddOn;
  readonly configs: Configs;
  readonly status: ClusterRolloutStatus;
}

interface PlannedNode extends Node {
  readonly plan: RolloutPlan | undefined;
}

function placedNodes(input: ConfigRolloutInput): Outcome<readonly Node[]> {
  const { addOn } = input;
  const strategies = addOn.spec.installStrategy;
  if (strategies?.type !== 'Placements') return done([]);
  const found = (addOn.status?.installProgressions ?? []).flatMap((progression) => {
    const strategy = strategies.placements?.find(
      ({ namespace, name }) => namespace === progression.namespace && name === progression.name,
    );
    return strategy === undefined ? [] : [{ progression, strategy }];
  });
  const selections = eachDone(found, ({ progression, strategy }) =>
    selectionOf(input, progression, strategy),
  );
  if (!selections.ok) return selections;
  return done(selections.value.map((one, at) => nodeOf(input, one, selections.value.slice(at + 1))));
}

/** A placement of the install strategy, and the clusters that it selects. */
interface Selection {
  readonly progression: InstallProgression;
  readonly strategy: RolloutStrategy;
  readonly groups: readonly RolloutGroup[];
}

function selectionOf(
  input: ConfigRolloutInput,
  progression: InstallProgression,
  { rolloutStrategy }: InstallPlacement,
): Outcome<Selection> {
  const { namespace, name } = progression;
  const placement = input.placement(namespace, name);
  if (placement === undefined)
    return failed(`placement.cluster.open-cluster-management.io "${name}" not found`);
  const groups = decisionGroups(input.decisions(namespace, name));
  if (!groups.ok) return groups;
  const strategy = rolloutStrategy ?? { type: 'All' };
  return done({ progression, strategy: withConcurrency(strategy, placement), groups: groups.value });
}

/** A cluster with the add-on belongs to the last placement that selects it. One without takes a place in each, as upstream. */
function nodeOf(input: ConfigRolloutInput, selection: Selection, later: readonly Selection[]): Node {
  const taken = new Set(later.flatMap(({ groups }) => groups.flatMap(({ clusters }) => clusters)));
  const groups = selection.groups.map((group) => ({
    ...group,
    clusters: group.clusters.filter((cluster) => !taken.has(cluster) || !input.installed.has(cluster)),
  }));
  const { progression, strategy } = selection;
  const configs = overridden(defaultsOf(input.addOn), strategyConfigs(progression.configReferences ?? []));
  const members = groups.flatMap(({ clusters }) =>
    clusters.flatMap((cluster) => memberOf(input, cluster, configs)),
  );
  const selected = new Set(selection.groups.flatMap(({ clusters }) => clusters)).size;
  return { progression, strategy, selected, groups, members };
}

function defaultNode(input: ConfigRolloutInput, placed: readonly Node[]): Node {
  const taken = new Set(placed.flatMap(({ groups }) => groups.flatMap(({ clusters }) => clusters)));
  const configs = defaultsOf(input.addOn);
  const members = [...input.installed.keys()]
    .filter((cluster) => !taken.has(cluster))
    .flatMap((cluster) => memberOf(input, cluster, configs));
  return { progression: undefined, strategy: undefined, selected: members.length, groups: [], members };
}

function memberOf(input: ConfigRolloutInput, cluster: string, inherited: Configs): readonly Member[] {
  const addon = input.installed.get(cluster);
  if (addon === undefined) return [];
  const configs = overridden(inherited, ownConfigs(addon));
  return [{ cluster, addon, configs, status: rolloutStatus(cluster, addon, configs) }];
}

function defaultsOf({ spec, status }: ClusterManagementAddOn): Configs {
  const named = (spec.defaultConfigs ?? []).filter(({ name }) => name !== NO_DEFAULT);
  return withKnownHashes(named, status?.defaultConfigReferences ?? []);
}

function strategyConfigs(references: readonly InstallConfigReference[]): Configs {
  return grouped(
    references.flatMap(({ group, resource, desiredConfig: desired }) =>
      desired === undefined || desired === null || desired.name === NO_DEFAULT
        ? []
        : [{ group, resource, desired }],
    ),
  );
}

function ownConfigs({ spec, status }: ManagedClusterAddOn): Configs {
  return withKnownHashes(spec?.configs ?? [], status?.configReferences ?? []);
}

/** A hash is known where it is in the status already. Of two entries for one object the later one counts. */
function withKnownHashes(configs: readonly AddOnConfig[], known: readonly DefaultConfigReference[]): Configs {
  return grouped(
    configs.map(({ group, resource, namespace, name }) => {
      const found = known.findLast(
        (reference) => sameKind(reference, { group, resource }) && isConfig(reference, { namespace, name }),
      );
      const specHash = found?.desiredConfig?.specHash ?? '';
      return { group, resource, desired: { ...(namespace ? { namespace } : {}), name, specHash } };
    }),
  );
}

/** Of two references to one object the later one counts, at the place of the earlier. */
function grouped(configs: readonly DesiredConfig[]): Configs {
  const byKind = new Map<string, DesiredConfig[]>();
  for (const config of configs) {
    const key = `${config.resource}.${config.group}`;
    const listed = byKind.get(key) ?? [];
    const at = listed.findIndex(({ desired }) => sameReferent(desired, config.desired));
    listed.splice(at < 0 ? listed.length : at, 1, config);
    byKind.set(key, listed);
  }
  return byKind;
}

function overridden(configs: Configs, by: Configs): Configs {
  return new Map([...configs, ...by]);
}

/** How far the configurations of a cluster's add-on are, by its own status. */
function rolloutStatus(
  cluster: string,
  { status }: ManagedClusterAddOn,
  configs: Configs,
): ClusterRolloutStatus {
  const references = status?.configReferences ?? [];
  const desired = [...configs.values()].flat();
  const isDesired = (reference: AddOnConfigReference): boolean =>
    desired.some(
      (config) =>
        sameKind(config, reference) &&
        isConfig(reference, config.desired) &&
        reference.desiredConfig?.specHash === config.desired.specHash,
    );
  if (references.length !== desired.length || !references.every(isDesired))
    return { clusterName: cluster, status: 'ToApply' };
  const progressing = status?.conditions?.find(({ type }) => type === 'Progressing');
  const since = (reasons: readonly string[]): number | undefined =>
    progressing?.lastTransitionTime !== undefined && reasons.includes(progressing.reason)
      ? Date.parse(progressing.lastTransitionTime)
      : undefined;
  if (references.every(isApplied))
    return { clusterName: cluster, status: 'Succeeded', lastTransitionMs: since(['Completed']) };
  return {
    clusterName: cluster,
    status: progressing?.reason === 'Failed' ? 'Failed' : 'Progressing',
    lastTransitionMs: since(['Progressing', 'Failed']),
  };
}

function isApplied({ desiredConfig, lastAppliedConfig }: InstallConfigReference): boolean {
  return jsonEqual(desiredConfig ?? null, lastAppliedConfig ?? null);
}

function withConcurrency(strategy: RolloutStrategy, placement: Placement): RolloutStrategy {
  if (strategy.type !== 'Progressive' || strategy.progressive?.maxConcurrency !== undefined) return strategy;
  const maxConcurrency = placement.spec?.decisionStrategy?.groupStrategy?.clustersPerDecisionGroup;
  return { ...strategy, progressive: { ...strategy.progressive, maxConcurrency } };
}

function planNode(input: ConfigRolloutInput, node: Node): Outcome<PlannedNode> {
  if (node.strategy === undefined) return done({ ...node, plan: undefined });
  const plan = planRollout({
    strategy: node.strategy,
    groups: node.groups,
    existing: node.members.map(({ status }) => status),
    nowMs: input.nowMs,
    rules: 'upstream',
  });
  return plan.ok ? done({ ...node, plan: plan.value }) : plan;
}

function* configuredAddOns(node: PlannedNode): Generator<readonly [string, ConfiguredAddOn]> {
  const inBatch = new Set(node.plan?.rollout.map(({ clusterName }) => clusterName));
  for (const { cluster, addon, configs, status } of node.members) {
    const before = addon.status?.configReferences ?? [];
    const isDone = status.status === 'Succeeded';
    if (inBatch.has(cluster) || (node.plan === undefined && !isDone))
      yield [cluster, { configReferences: mergedReferences(before, configs), configured: CONFIGURED }];
    else if (isDone) yield [cluster, { configReferences: before, configured: CONFIGURED }];
    else if (status.status === 'ToApply')
      yield [cluster, { configReferences: before, configured: NOT_CONFIGURED }];
  }
}

const CONFIGURED: Condition = {
  type: 'Configured',
  status: 'True',
  reason: 'ConfigurationsConfigured',
  message: 'Configurations configured',
};

const NOT_CONFIGURED: Condition = {
  type: 'Configured',
  status: 'False',
  reason: 'ConfigurationsNotConfigured',
  message: 'Configurations updated and not configured yet',
};

/** References that stay keep their order and what was applied last, new ones of a type come behind them. */
function mergedReferences(
  before: readonly AddOnConfigReference[],
  configs: Configs,
): readonly AddOnConfigReference[] {
  const desired = [...configs.values()].flat();
  const configFor = (reference: AddOnConfigReference): DesiredConfig | undefined =>
    desired.find((config) => sameKind(config, reference) && isConfig(reference, config.desired));
  const kept = before.flatMap((reference) => {
    const config = configFor(reference);
    return config === undefined ? [] : [{ ...reference, desiredConfig: config.desired }];
  });
  const added = desired
    .filter((config) => !kept.some((one) => sameKind(one, config) && isConfig(one, config.desired)))
    .map(
      ({ group, resource, desired: desiredConfig }): AddOnConfigReference => ({
        group,
        resource,
        lastObservedGeneration: 0,
        desiredConfig,
        lastAppliedConfig: null,
      }),
    );
  return [...kept, ...added].sort(
    (a, b) => compareUtf8(a.group, b.group) || compareUtf8(a.resource, b.resource),
  );
}

/** As OCM 1.3 counts: clusters that a later placement takes over are selected, and not configured. */
function withProgress(progression: InstallProgression, node: PlannedNode): InstallProgression {
  const batch = new Set(node.plan?.rollout.map(({ clusterName }) => clusterName));
  const inBatch = node.members.filter(({ cluster }) => batch.has(cluster)).length;
  const outside = node.members.filter(({ cluster }) => !batch.has(cluster));
  const countOf = (state: ClusterRolloutStatus['status']): number =>
    outside.filter(({ status, addon }) => status.status === state && !namesTwice(addon.spec?.configs ?? []))
      .length;
  const [succeeded, failedCount] = [countOf('Succeeded'), countOf('Failed')];
  const total = new Set(node.groups.flatMap(({ clusters }) => clusters)).size;
  const timedOut = node.plan?.timedOut.length ?? 0;
  const isComplete = total > 0 && succeeded === total;
  const count = isComplete ? succeeded : succeeded + inBatch;
  const doing = isComplete ? 'completed with no errors' : 'progressing...';
  const condition: Condition = {
    type: 'Progressing',
    status: isComplete ? 'False' : 'True',
    reason: isComplete ? 'Completed' : 'Progressing',
    message: `selected clusters ${node.selected}. configured addons ${count}/${total} ${doing}, ${failedCount} failed ${timedOut} timeout.`,
  };
  const others = (progression.conditions ?? []).filter(({ type }) => type !== 'Progressing');
  return {
    ...progression,
    conditions: [...others, condition],
    configReferences: isComplete
      ? progression.configReferences?.map((one) => ({
          ...one,
          lastAppliedConfig: one.desiredConfig,
          lastKnownGoodConfig: one.desiredConfig,
        }))
      : progression.configReferences,
  };
}

/** As upstream, an add-on that names one of its configurations twice never counts as done or failed. */
function namesTwice(configs: readonly AddOnConfig[]): boolean {
  return configs.some((config, at) =>
    configs.slice(0, at).some((earlier) => sameKind(earlier, config) && sameReferent(earlier, config)),
  );
}
