import { findCondition, setCondition } from '@berth/kube/model/condition-list';
import type { Condition } from '@berth/kube/model/object-meta';
import type {
  ClusterManagementAddOn,
  ClusterManagementAddOnStatus,
  ConfigKind,
  InstallPlacement,
  InstallProgression,
  ManagedClusterAddOn,
  ManagedClusterAddOnStatus,
} from '@berth/ocm/kind/addon';
import type { Placement } from '@berth/ocm/kind/placement';
import {
  DEPLOYMENT_CONFIGS,
  isManagedHere,
  isOfTemplate,
  TEMPLATES,
} from '@berth/addon/rules/addon-versions';
import { type ConfigLookup, sameKind, withOwnHashes } from '@berth/addon/rules/config-references';
import { rollOutConfigs } from '../config-rollout.ts';
import {
  installPlacements,
  type PlacementSelection,
  selectedClusters,
} from '@berth/addon/rules/plan-install';
import { isNew, planProgress } from './plan-progress.ts';
import { planReferences } from '@berth/addon/rules/plan-references';

export interface ConfigurationInput {
  readonly nowMs: number;
  /** RFC 3339, of the same instant. */
  readonly now: string;
  readonly addOn: ClusterManagementAddOn;
  /** By cluster: the add-on of this name. */
  readonly installed: ReadonlyMap<string, ManagedClusterAddOn>;
  readonly selectionOf: (placement: InstallPlacement) => PlacementSelection;
  readonly placement: (namespace: string, name: string) => Placement | undefined;
  readonly lookup: ConfigLookup;
}

export interface ConfigurationPlan {
  /** What the status of the ClusterManagementAddOn is then. */
  readonly status: Pick<ClusterManagementAddOnStatus, 'defaultConfigReferences' | 'installProgressions'>;
  /** By cluster, those that change only: parts of the status of its add-on. */
  readonly addons: ReadonlyMap<string, PlannedStatus>;
  readonly recheckAfterMs: number | undefined;
  /** Why no cluster gets another configuration at present, as text for users. */
  readonly problem: string | undefined;
}

type PlannedStatus = Pick<ManagedClusterAddOnStatus, 'configReferences' | 'supportedConfigs' | 'conditions'>;

/** The configurations that an add-on made of a template can have. */
const OF_TEMPLATES: readonly ConfigKind[] = [DEPLOYMENT_CONFIGS, TEMPLATES];

/**
 * One pass over the configurations of an add-on: which there are, and which cluster gets them now. Clusters that the placements do not
 * select keep what they have: they leave, or their removal is held. While a placement is unknown, all do.
 */
export function planConfiguration(input: ConfigurationInput): ConfigurationPlan {
  const { addOn, lookup, now } = input;
  const references = planReferences(addOn, lookup);
  const planned = { ...addOn, status: { ...addOn.status, ...references } };
  const unmanaged = { status: references, addons: new Map(), recheckAfterMs: undefined };
  if (!isManagedHere(addOn)) return { ...unmanaged, problem: undefined };
  const addons = new Map<string, PlannedStatus>();
  for (const [cluster, addon] of input.installed)
    if (isNew(addon)) addons.set(cluster, { conditions: planProgress(addon, [], now).conditions });
  const nothing = { ...unmanaged, addons };
  const placements = installPlacements(addOn);
  const { selected, unknown } = selectedClusters(placements ?? [], input.selectionOf);
  if (unknown !== undefined) return { ...nothing, problem: unknown };
  const followed = [...input.installed].filter(
    ([cluster]) => placements === undefined || selected.has(cluster),
  );
  const supported = isOfTemplate(addOn) ? OF_TEMPLATES : undefined;
  const installed = new Map(
    followed.map(([cluster, addon]) => [cluster, withCurrentHashes(addon, supported, lookup)] as const),
  );
  const rollout = rollOutConfigs({
    ...{ nowMs: input.nowMs, addOn: planned, installed, placement: input.placement },
    decisions: (namespace, name) => {
      const selection = input.selectionOf({ namespace, name });
      return selection.kind === 'decided' ? selection.decisions : [];
    },
  });
  if (!rollout.ok) return { ...nothing, problem: rollout.error };
  for (const [cluster, addon] of installed) {
    const change = rollout.value.addons.get(cluster);
    const { configReferences = [], conditions = [], supportedConfigs = [] } = addon.status ?? {};
    const rolledOut = change?.configReferences ?? configReferences;
    const planned = {
      configReferences: withOwnHashes(rolledOut, addon, { supported: supportedConfigs, lookup }),
      conditions:
        change?.configured === undefined ? conditions : setCondition(conditions, change.configured, now),
      ...(supported && { supportedConfigs }),
    };
    addons.set(cluster, { ...planned, conditions: withFirstProgress(addon, planned, now) });
  }
  const installProgressions = rollout.value.progressions.map((one) => withTimes(one, addOn, now));
  return {
    status: { ...references, installProgressions },
    addons,
    recheckAfterMs: rollout.value.recheckAfterMs,
    problem: undefined,
  };
}

/** A new add-on waits for its works. That is said with its configurations, in one write. */
function withFirstProgress(
  addon: ManagedClusterAddOn,
  planned: PlannedStatus,
  now: string,
): readonly Condition[] | undefined {
  if (!isNew(addon)) return planned.conditions;
  return planProgress({ ...addon, status: { ...addon.status, ...planned } }, [], now).conditions;
}

function withCurrentHashes(
  addon: ManagedClusterAddOn,
  supported: readonly ConfigKind[] | undefined,
  lookup: ConfigLookup,
): ManagedClusterAddOn {
  const { configReferences = [], supportedConfigs: known = [] } = addon.status ?? {};
  // The order of the list says nothing, so another one is not written again.
  const isKnown =
    supported?.length === known.length && supported.every((kind) => known.some((one) => sameKind(one, kind)));
  const supportedConfigs = supported === undefined || isKnown ? known : supported;
  return {
    ...addon,
    status: {
      ...addon.status,
      supportedConfigs,
      configReferences: withOwnHashes(configReferences, addon, { supported: supportedConfigs, lookup }),
    },
  };
}

/** A condition that was planned has no time yet. It keeps that of the last one with its status. */
function withTimes(
  progression: InstallProgression,
  { status }: ClusterManagementAddOn,
  now: string,
): InstallProgression {
  const before = status?.installProgressions?.find(
    ({ namespace, name }) => namespace === progression.namespace && name === progression.name,
  );
  const timed = (condition: Condition): Condition => {
    if (condition.lastTransitionTime !== undefined) return condition;
    const earlier = findCondition(before?.conditions, condition.type);
    const since = earlier?.status === condition.status ? earlier.lastTransitionTime : undefined;
    return { ...condition, lastTransitionTime: since ?? now };
  };
  const { conditions, ...rest } = progression;
  return conditions === undefined ? rest : { ...rest, conditions: conditions.map(timed) };
}
