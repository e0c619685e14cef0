import { findCondition } from '@berth/kube/model/condition-list';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { ADDON_NAMESPACE_LABEL, type ManagedClusterAddOn } from '@berth/ocm/kind/addon';
import { type ManagedCluster, takesWork } from '@berth/ocm/kind/managed-cluster';
import type { DeleteOption, ManifestConfig, ManifestWork } from '@berth/ocm/kind/manifest-work';
import { ADDON_PRE_DELETE_FINALIZER, addonNames } from '@berth/ocm/registration/addon-names';
import { failed, type Outcome } from '@berth/runtime/outcome';
import { REGISTRATION_APPLIED } from '../registration/plan-registration.ts';
import {
  type AddOnHealth,
  addonHealth,
  healthConfigs,
  healthModeOf,
  probeOf,
  type ProbeResult,
} from './addon-health.ts';
import { configHashesText, deleteOptionOf, joinConfigs, type WorkWrite, writeOf } from './addon-work.ts';
import { hookCondition, hooksAreDone, hookSpec } from './pre-delete-hooks.ts';
import { placeManifests } from './place-manifests.ts';
import { type SortedManifests, sortManifests } from './sort-manifests.ts';

/** What one cluster gets of an add-on, whatever it was made from. */
export interface RenderedAddOn {
  readonly manifests: readonly KubeObject[];
  /** Where the agent of the add-on runs. */
  readonly installNamespace: string;
  /** What happens to the manifests on the cluster when the add-on goes. Default: they go, too. */
  readonly deleteOption?: DeleteOption | undefined;
  /** How the cluster's agent applies manifests, and what it reports of them. */
  readonly manifestConfigs?: readonly ManifestConfig[] | undefined;
}

export interface DeploymentInput {
  readonly addon: ManagedClusterAddOn;
  /** The cluster of the add-on. */
  readonly cluster: ManagedCluster;
  /** The cluster that runs the add-on's agent for it, by the add-on's annotation. Undefined: its own. */
  readonly hosting: HostingCluster | undefined;
  /** All works that carry the add-on's labels, in its own and in other namespaces. */
  readonly works: readonly ManifestWork[];
  readonly rendered: Outcome<RenderedAddOn>;
  /** Whether the rollout of its configurations has reached this cluster. Until then it keeps what it has. */
  readonly isDue: boolean;
  readonly health: AddOnHealth;
}

export interface HostingCluster {
  readonly name: string;
  /** Undefined: the hub has no such cluster. */
  readonly cluster: ManagedCluster | undefined;
}

/** What one pass over an add-on writes, in this order. */
export interface DeploymentPlan {
  /** While there is one, nothing else is written: what it guards must not exist before. */
  readonly addFinalizers: readonly string[];
  readonly writes: readonly WorkWrite[];
  readonly conditions: readonly Condition[];
  /** Types of conditions that do not hold any more. */
  readonly dropped: readonly string[];
  readonly installNamespace: string | undefined;
  /** Undefined: as it is. */
  readonly healthMode: 'Lease' | 'Customized' | undefined;
  /** What the cluster's agent reported to an add-on that judges its health itself. */
  readonly asked: readonly ProbeResult[] | undefined;
  /** Only after all writes were made. */
  readonly removeFinalizers: readonly string[];
}

/** The part of a plan for one cluster. */
type Part = Pick<DeploymentPlan, 'addFinalizers' | 'writes' | 'conditions' | 'dropped' | 'removeFinalizers'>;

interface Side {
  readonly name: keyof SortedManifests;
  /** The condition that says whether the works of this side were applied. */
  readonly applied: 'ManifestApplied' | 'HostingManifestApplied';
  readonly hookFinalizer: string;
  readonly namespace: string;
  /** The add-on's works for this side, wherever they are. */
  readonly works: readonly ManifestWork[];
  readonly hookWorks: readonly ManifestWork[];
  readonly hookName: string;
  readonly workName: (index: number) => string;
}

const HOSTING_PRE_DELETE = 'addon.open-cluster-management.io/hosting-addon-pre-delete';
const HOSTING_CLEANUP = 'addon.open-cluster-management.io/hosting-manifests-cleanup';
/** Names of these finalizers before they moved to the group of add-ons. They are removed where they are seen. */
const LEGACY: ReadonlySet<string> = new Set([
  'cluster.open-cluster-management.io/addon-pre-delete',
  'cluster.open-cluster-management.io/hosting-addon-pre-delete',
  'cluster.open-cluster-management.io/hosting-manifests-cleanup',
]);

const NOTHING: Part = { addFinalizers: [], writes: [], conditions: [], dropped: [], removeFinalizers: [] };

/**
 * What the hub has to do for an add-on on one cluster: its works, hooks before its deletion, the conditions
 * that follow from the works, and its health. Nothing is deployed before the registration has been set up, and nothing is
 * removed because a template, a configuration or a hosting cluster is missing.
 * Source: open-cluster-management.io/addon-framework 1.2 `pkg/addonmanager/controllers/agentdeploy`.
 */
export function planDeployment(input: DeploymentInput): DeploymentPlan {
  const { addon, rendered } = input;
  if (!isRegistered(addon))
    return { ...NOTHING, installNamespace: undefined, healthMode: undefined, asked: undefined };
  const installNamespace = rendered.ok ? rendered.value.installNamespace : undefined;
  const healthMode = healthModeOf(input.health);
  const sorted = cargoOf(input);
  const managed = managedPart(input, sorted);
  const hosting = hostingPart(input, sorted);
  const parts = [managed, hosting];
  const changes = { ...joined(parts), installNamespace, healthMode };
  const legacy = (addon.metadata.finalizers ?? []).filter((name) => LEGACY.has(name));
  const { condition: health, asked } = healthOf(input, sorted, changes);
  return {
    ...{ ...changes, asked },
    conditions: health === undefined ? changes.conditions : [...changes.conditions, health],
    removeFinalizers: [...changes.removeFinalizers, ...legacy],
  };
}

/** Whether its registration has been set up, or failed. Until then nothing is deployed. */
export function isRegistered({ status }: ManagedClusterAddOn): boolean {
  return findCondition(status?.conditions, REGISTRATION_APPLIED) !== undefined;
}

function cargoOf({ rendered, hosting }: DeploymentInput): Outcome<SortedManifests> {
  if (!rendered.ok) return failed(`failed to get manifest from agent interface: ${rendered.error}`);
  const sorted = sortManifests(rendered.value.manifests, hosting !== undefined);
  return sorted.ok ? sorted : failed(`failed to build manifestwork: ${sorted.error}`);
}

function joined(parts: readonly Part[]): Part {
  const writes = parts.flatMap((part) => part.writes);
  return {
    addFinalizers: parts.flatMap(({ addFinalizers }) => addFinalizers),
    // What replaces something is there before the other goes.
    writes: [
      ...writes.filter((write) => write.do !== 'delete'),
      ...writes.filter(({ do: verb }) => verb === 'delete'),
    ],
    conditions: oneHookCondition(parts.flatMap(({ conditions }) => conditions)),
    dropped: parts.flatMap(({ dropped }) => dropped),
    removeFinalizers: parts.flatMap(({ removeFinalizers }) => removeFinalizers),
  };
}

/** The hooks of both clusters share a condition: it is true when all are done. */
function oneHookCondition(conditions: readonly Condition[]): readonly Condition[] {
  const [first, ...others] = conditions.filter(({ type }) => type === 'HookManifestCompleted');
  if (first === undefined) return conditions;
  const waiting = [first, ...others].find(({ status }) => status === 'False');
  return [...conditions.filter(({ type }) => type !== first.type), waiting ?? first];
}

function managedPart(input: DeploymentInput, sorted: Outcome<SortedManifests>): Part {
  const { addon, cluster } = input;
  const side = sideOf(input, 'managed', addon.metadata.namespace ?? '');
  const isGoing = addon.metadata.deletionTimestamp !== undefined || !takesWork(cluster);
  const hasHook = hasFinalizer(addon, side.hookFinalizer);
  const hooks = hookPart(input, side, sorted);
  // While hooks run, the agent still runs, and may have to change for it. Otherwise the owner's deletion cleans up.
  if (isGoing && !hasHook) return hooks;
  return joined([deployPart(input, side, sorted), hooks]);
}

function hostingPart(input: DeploymentInput, sorted: Outcome<SortedManifests>): Part {
  const { addon, cluster, hosting } = input;
  const side = sideOf(input, 'hosting', hosting?.name ?? '');
  const isDeleted = addon.metadata.deletionTimestamp !== undefined;
  if (hosting === undefined) return cleanUp(addon, side);
  const { validity, exists } = validityOf(hosting);
  // A name that leads nowhere may be a slip of the pen: what runs goes on until the add-on is deleted.
  if (!exists) return { ...(isDeleted ? cleanUp(addon, side) : NOTHING), conditions: [validity] };
  const told: Part = { ...NOTHING, conditions: [validity] };
  const hasHook = hasFinalizer(addon, side.hookFinalizer);
  if (!takesWork(hosting.cluster) || (isDeleted && !hasHook)) return joined([told, cleanUp(addon, side)]);
  if (!takesWork(cluster) && !hasHook) return told;
  const missing = !isDeleted && !hasFinalizer(addon, HOSTING_CLEANUP) ? [HOSTING_CLEANUP] : [];
  const guarded: Part = { ...told, addFinalizers: missing };
  return joined([guarded, deployPart(input, side, sorted), hookPart(input, side, sorted)]);
}

function validityOf({ name, cluster }: HostingCluster): {
  readonly validity: Condition;
  readonly exists: boolean;
} {
  const exists = cluster !== undefined;
  return {
    exists,
    validity: {
      type: 'HostingClusterValidity',
      status: exists ? 'True' : 'False',
      reason: exists ? 'HostingClusterValid' : 'HostingClusterInvalid',
      message: `hosting cluster ${name} is ${exists ? '' : 'not '}a managed cluster of the hub`,
    },
  };
}

/** Works in another namespace have no owner there, so they are deleted one by one. */
function cleanUp(addon: ManagedClusterAddOn, side: Side): Part {
  const finalizers = [HOSTING_CLEANUP, HOSTING_PRE_DELETE].filter((name) => hasFinalizer(addon, name));
  if (finalizers.length === 0) return NOTHING;
  const works = [...side.works, ...side.hookWorks];
  return { ...NOTHING, writes: works.flatMap(deletionOf), removeFinalizers: finalizers };
}

function deployPart(input: DeploymentInput, side: Side, sorted: Outcome<SortedManifests>): Part {
  const { addon, rendered } = input;
  if (!input.isDue)
    return side.works.length === 0
      ? NOTHING
      : { ...NOTHING, ...appliedChange(side.applied, addon, side.works) };
  if (!sorted.ok || !rendered.ok)
    return { ...NOTHING, conditions: [applyFailed(side.applied, sorted.ok ? '' : sorted.error)] };
  const { deploy } = sorted.value[side.name];
  // An add-on without any manifest is more likely a mistake than the wish to remove the agent everywhere.
  if (rendered.value.manifests.length === 0)
    return { ...NOTHING, conditions: [nothingToApply(side.applied)] };
  const { manifests: all, deleteOption, manifestConfigs = [] } = rendered.value;
  const options = {
    deleteOption: deleteOptionOf(deploy, deleteOption),
    manifestConfigs: joinConfigs(healthConfigs(input.health, all), manifestConfigs),
  };
  const elsewhere = side.works.filter(({ metadata }) => metadata.namespace !== side.namespace);
  const here = side.works.filter((work) => !elsewhere.includes(work));
  const places = placeManifests(deploy, here, side.workName);
  const configHashes = configHashesText(addon.status?.configReferences);
  const writes = places.flatMap(({ name, current, manifests }) => {
    if (manifests.length === 0) return current === undefined ? [] : deletionOf(current);
    const spec = { workload: { manifests }, ...options };
    return writeOf({ addon, namespace: side.namespace, name, current, spec, configHashes }) ?? [];
  });
  const needed = places.filter(({ manifests }) => manifests.length > 0).map(({ current }) => current);
  return {
    ...NOTHING,
    writes: [...writes, ...elsewhere.flatMap(deletionOf)],
    ...appliedChange(side.applied, addon, needed),
  };
}

function hookPart(input: DeploymentInput, side: Side, sorted: Outcome<SortedManifests>): Part {
  const { addon } = input;
  const isDeleted = addon.metadata.deletionTimestamp !== undefined;
  const has = hasFinalizer(addon, side.hookFinalizer);
  // What is deleted has no rollout any more: its hooks are those that it would get.
  if (!isDeleted && !input.isDue) return NOTHING;
  if (!sorted.ok)
    return isDeleted && has ? { ...NOTHING, conditions: [applyFailed(side.applied, sorted.error)] } : NOTHING;
  const { hooks } = sorted.value[side.name];
  if (hooks.length === 0) return { ...NOTHING, removeFinalizers: has ? [side.hookFinalizer] : [] };
  if (!isDeleted) return { ...NOTHING, addFinalizers: has ? [] : [side.hookFinalizer] };
  // Without the finalizer the hooks are done, or the add-on was deleted before it had any.
  if (!has) return NOTHING;
  const { namespace, hookName: name } = side;
  const current = side.hookWorks.find(({ metadata }) => metadata.namespace === namespace);
  const condition = hookCondition(name, hooksAreDone(current, hooks));
  if (condition.status === 'False') {
    const write = writeOf({ addon, namespace, name, current, spec: hookSpec(hooks) });
    return { ...NOTHING, writes: write === undefined ? [] : [write], conditions: [condition] };
  }
  const isForeign = namespace !== addon.metadata.namespace && current !== undefined;
  return {
    ...NOTHING,
    writes: isForeign ? deletionOf(current) : [],
    conditions: [condition],
    removeFinalizers: [side.hookFinalizer],
  };
}

function healthOf(
  { addon, cluster, hosting, works, health }: DeploymentInput,
  sorted: Outcome<SortedManifests>,
  { conditions, dropped }: Part,
): { readonly condition?: Condition | undefined; readonly asked: readonly ProbeResult[] | undefined } {
  const known = [
    ...(addon.status?.conditions ?? []).filter(({ type }) => !dropped.includes(type)),
    ...conditions,
  ];
  const isJudged = health.kind !== 'lease' && health.kind !== 'none';
  if (!isJudged || findCondition(known, 'ManifestApplied') === undefined) return { asked: undefined };
  const isDeployed = ({ metadata }: ManifestWork): boolean =>
    isDeployWork(addon, metadata.name) &&
    (hosting !== undefined || metadata.namespace === addon.metadata.namespace);
  const deployed = sorted.ok ? [...sorted.value.managed.deploy, ...sorted.value.hosting.deploy] : undefined;
  let asked: readonly ProbeResult[] | undefined;
  const probe = probeOf(health, deployed, (results) => {
    asked = results;
  });
  const condition = addonHealth(addon.metadata.name, cluster, works.filter(isDeployed), probe);
  // The add-on's answer to what was reported takes the place of the condition.
  return asked === undefined ? { condition, asked } : { asked };
}

function isDeployWork(addon: ManagedClusterAddOn, work: string): boolean {
  return work.startsWith(`addon-${addon.metadata.name}-deploy`);
}

function sideOf({ addon, works }: DeploymentInput, name: Side['name'], namespace: string): Side {
  const names = addonNames(addon.metadata.name, addon.metadata.namespace ?? '');
  const isManaged = name === 'managed';
  const own = works.filter(
    ({ metadata }) => (metadata.labels?.[ADDON_NAMESPACE_LABEL] === undefined) === isManaged,
  );
  const hookName = isManaged ? names.preDeleteWork : names.preDeleteHostingWork;
  return {
    name,
    namespace,
    hookName,
    applied: isManaged ? 'ManifestApplied' : 'HostingManifestApplied',
    hookFinalizer: isManaged ? ADDON_PRE_DELETE_FINALIZER : HOSTING_PRE_DELETE,
    works: own.filter(({ metadata }) => isDeployWork(addon, metadata.name)),
    hookWorks: own.filter(({ metadata }) => metadata.name === hookName),
    workName: (index) => (isManaged ? names.deployWork(index) : names.deployHostingWork(index)),
  };
}

function hasFinalizer({ metadata }: ManagedClusterAddOn, name: string): boolean {
  return (metadata.finalizers ?? []).includes(name);
}

function deletionOf(work: ManifestWork): readonly WorkWrite[] {
  return work.metadata.deletionTimestamp === undefined ? [{ do: 'delete', work }] : [];
}

/** What the works of a side say together: one that failed counts, and all must have been applied. */
function appliedChange(
  type: Side['applied'],
  addon: ManagedClusterAddOn,
  works: readonly (ManifestWork | undefined)[],
): Pick<Part, 'conditions' | 'dropped'> {
  if (works.length === 0) return { conditions: [nothingToApply(type)], dropped: [] };
  const applied = works.map((work) => findCondition(work?.status?.conditions, 'Applied')?.status);
  if (applied.some((status) => status !== undefined && status !== 'True'))
    return {
      conditions: [
        {
          type,
          status: 'False',
          reason: 'AddonManifestAppliedFailed',
          message: 'failed to apply the manifests of addon',
        },
      ],
      dropped: [],
    };
  if (applied.every((status) => status === 'True'))
    return {
      conditions: [manifestsApplied(type, 'manifests of addon are applied successfully')],
      dropped: [],
    };
  // The agent has not reported yet: an old failure says nothing about these works.
  const isStale = findCondition(addon.status?.conditions, type)?.status === 'False';
  return { conditions: [], dropped: isStale ? [type] : [] };
}

function nothingToApply(type: Side['applied']): Condition {
  return manifestsApplied(type, 'no manifest need to apply');
}

function manifestsApplied(type: Side['applied'], message: string): Condition {
  return { type, status: 'True', reason: 'AddonManifestApplied', message };
}

/** What the add-on says about works that the hub refused. */
export function workRefused({ metadata }: ManifestWork, reason: string): Condition {
  const isManaged = metadata.labels?.[ADDON_NAMESPACE_LABEL] === undefined;
  const type = isManaged ? 'ManifestApplied' : 'HostingManifestApplied';
  return applyFailed(type, `failed to apply manifestWork: ${reason}`);
}

function applyFailed(type: Side['applied'], message: string): Condition {
  return { type, status: 'False', reason: 'ManifestWorkApplyFailed', message };
}
