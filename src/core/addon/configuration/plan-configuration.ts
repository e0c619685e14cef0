import {
  DEPLOYMENT_CONFIGS,
  isManagedHere,
  isOfTemplate,
  TEMPLATES,
} from '@berth/addon/rules/addon-versions';
import { type ConfigLookup, sameKind, withOwnHashes } from '@berth/addon/rules/config-references';
import { configHashes } from '@berth/addon/rules/deployment/addon-work';
import {
  installPlacements,
  type PlacementSelection,
  selectedClusters,
} from '@berth/addon/rules/plan-install';
import { planReferences } from '@berth/addon/rules/plan-references';
import { findCondition, setCondition } from '@berth/kube/model/condition-list';
import type { Condition } from '@berth/kube/model/object-meta';
import {
  type AddOnConfigReference,
  type ClusterManagementAddOn,
  type ClusterManagementAddOnStatus,
  CONFIG_HASH_ANNOTATION,
  type ConfigKind,
  HOSTING_CLUSTER_ANNOTATION,
  type InstallPlacement,
  type InstallProgression,
  type ManagedClusterAddOn,
  type ManagedClusterAddOnStatus,
} from '@berth/ocm/kind/addon';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { Placement } from '@berth/ocm/kind/placement';
import { addonNames } from '@berth/ocm/registration/addon-names';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { rollOutConfigs } from '../config-rollout.ts';

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

/**
 * How far a cluster's add-on is with its configurations: the condition `Progressing`, and what was applied last. What was applied stays
 * when a work fails later, so that a rollout does not go back. As OCM 1.3 (pkg/addon/controllers/addonprogressing).
 * @param works those of the add-on, on its cluster and on the one that hosts it
 */
export function planProgress(
  addon: ManagedClusterAddOn,
  works: readonly ManifestWork[],
  now: string,
): Pick<ManagedClusterAddOnStatus, 'conditions' | 'configReferences'> {
  const { conditions = [], configReferences = [] } = addon.status ?? {};
  const condition = progressOf(addon, works);
  return {
    conditions: setCondition(conditions, condition, now),
    configReferences:
      condition.reason === 'Completed'
        ? configReferences.map((one) =>
            one.desiredConfig ? { ...one, lastAppliedConfig: one.desiredConfig } : one,
          )
        : configReferences,
  };
}

/** Whether nothing was said of its progress and its works yet. */
export function isNew({ status }: ManagedClusterAddOn): boolean {
  return ['Progressing', 'ManifestApplied'].every(
    (type) => findCondition(status?.conditions, type) === undefined,
  );
}

function progressOf(addon: ManagedClusterAddOn, works: readonly ManifestWork[]): Condition {
  const { metadata, spec, status } = addon;
  const supported = status?.supportedConfigs ?? [];
  const foreign = (spec?.configs ?? []).find((config) => !supported.some((one) => sameKind(one, config)));
  if (foreign !== undefined)
    return progressing(
      'ConfigurationUnsupported',
      `Configuration with gvr ${foreign.group}/${foreign.resource} is not supported for this addon`,
    );
  const isHosted = (metadata.annotations?.[HOSTING_CLUSTER_ANNOTATION] ?? '') !== '';
  const lacks = (type: string): boolean => findCondition(status?.conditions, type) === undefined;
  if (lacks('ManifestApplied'))
    return progressing(
      'WaitingForManifestApplied',
      'Waiting for ManagedClusterAddOn ManifestApplied condition',
    );
  if (isHosted && lacks('HostingManifestApplied'))
    return progressing(
      'WaitingForHostingManifestApplied',
      'Waiting for ManagedClusterAddOn HostingManifestApplied condition',
    );
  if (works.length === 0) return progressing('Progressing', 'progressing... no addon works');
  const preDelete = addonNames(metadata.name, metadata.namespace ?? '').preDeleteWork;
  for (const work of works.filter(({ metadata: { name } }) => !name.startsWith(preDelete))) {
    if (!hasConfigs(work, status?.configReferences ?? []))
      return progressing('Progressing', 'progressing... mca and work configs mismatch');
    if (!isReady(work)) return progressing('Progressing', 'progressing... work is not ready');
  }
  return progressing('Completed', 'completed with no errors.');
}

function progressing(reason: string, message: string): Condition {
  return { type: 'Progressing', status: reason === 'Progressing' ? 'True' : 'False', reason, message };
}

/** Whether a work was made from the configurations that its add-on should have. */
function hasConfigs({ metadata }: ManifestWork, references: readonly AddOnConfigReference[]): boolean {
  const text = metadata.annotations?.[CONFIG_HASH_ANNOTATION];
  if (text === undefined) return references.length === 0;
  const hashes = parsed(text);
  if (hashes === undefined || Object.values(hashes).includes('')) return false;
  if (references.some(({ desiredConfig }) => (desiredConfig?.specHash ?? '') === '')) return false;
  return jsonEqual(hashes, Object.fromEntries(configHashes(references)));
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}

function isReady({ metadata, status }: ManifestWork): boolean {
  return ['Available', 'Applied'].every((type) => {
    const condition = findCondition(status?.conditions, type);
    return condition?.status === 'True' && condition.observedGeneration === metadata.generation;
  });
}
