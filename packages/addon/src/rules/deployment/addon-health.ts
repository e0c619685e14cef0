import { matchesWildcard } from '@berth/ocm/kind/manifest-config';
import { findCondition } from '@berth/kube/model/condition-list';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { groupVersionOf } from '@berth/kube/model/object-ref';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type {
  FeedbackRule,
  FeedbackValue,
  ManifestCondition,
  ManifestConfig,
  ManifestResourceMeta,
  ManifestWork,
  ResourceIdentifier,
} from '@berth/ocm/kind/manifest-work';
import { AVAILABLE } from '@berth/ocm/registration/cluster-conditions';

/** What a probed resource reported. */
export interface ProbeResult {
  readonly resource: ManifestResourceMeta;
  readonly values: readonly FeedbackValue[];
}

/** How an add-on shows that it is available. */
export type AddOnHealth =
  /** Its agent renews a lease on its cluster, which the cluster's agent watches. */
  | { readonly kind: 'lease' }
  /** Nobody says it. */
  | { readonly kind: 'none' }
  /** Its works are applied. */
  | { readonly kind: 'works' }
  /** Its Deployments run; with `workloads` its DaemonSets, too. */
  | { readonly kind: 'deployments' | 'workloads' }
  /** The add-on judges what the cluster's agent reports of some resources. */
  | { readonly kind: 'probe'; readonly fields: readonly ProbeField[] };

/** What the status of an add-on says of it. */
export function healthModeOf({ kind }: AddOnHealth): 'Lease' | 'Customized' {
  return kind === 'lease' ? 'Lease' : 'Customized';
}

/** A resource that is probed, and which of its values. In namespace and name `*` means any text. */
export interface ProbeField {
  readonly resource: ResourceIdentifier;
  readonly rules: readonly FeedbackRule[];
}

/** How the hub finds out whether an add-on is available. */
export interface Probe {
  /** In namespace and name `*` means any text. */
  readonly fields: readonly ResourceIdentifier[];
  /** Why the add-on is not available; undefined: it is. */
  readonly check: (results: readonly ProbeResult[]) => string | undefined;
}

/**
 * The condition Available of an add-on, from what its works report; undefined: it stays as it is.
 * Source: open-cluster-management.io/addon-framework `pkg/addonmanager/controllers/agentdeploy/healthcheck_sync.go`. As
 * there, resources that have not reported yet do not count as long as another one has.
 * @param probe undefined: what the works say about themselves is all that can be known; `applied`: it is enough
 */
export function addonHealth(
  addon: string,
  cluster: ManagedCluster,
  works: readonly ManifestWork[],
  probe: Probe | 'applied' | undefined,
): Condition | undefined {
  // The registration passes the cluster's Unknown on to its add-ons.
  if (findCondition(cluster.status?.conditions, AVAILABLE)?.status === 'Unknown') return undefined;
  if (works.length === 0) return available('Unknown', 'WorkNotFound', 'Addon manifestWork is not found');
  for (const { status } of works) {
    const reported = findCondition(status?.conditions, 'Available');
    if (reported === undefined)
      return available('Unknown', 'WorkNotApplied', 'Addon manifestWork is not applied yet');
    if (reported.status === 'False') return available('False', 'WorkNotApplied', reported.message);
  }
  if (probe === undefined) return undefined;
  if (probe === 'applied') return available('True', 'WorkApplied', 'Addon manifestWork is applied');
  const reported = works.flatMap(({ status }) => status?.resourceStatus?.manifests ?? []);
  const results = probe.fields.flatMap((field) => resultsOf(field, reported));
  if (probe.fields.length > 0 && results.length === 0)
    return available('Unknown', 'NoProbeResult', 'Probe results are not returned');
  return probed(addon, probe.check(results));
}

/** The condition Available after a probe. @param problem undefined: there is none */
export function probed(addon: string, problem: string | undefined): Condition {
  return problem === undefined
    ? available('True', 'ProbeAvailable', `${addon} add-on is available.`)
    : available('False', 'ProbeUnavailable', `Probe addon unavailable with err ${problem}`);
}

/**
 * The probe for what was rendered; undefined: nothing could be rendered, so nothing is asked.
 * @param ask called with what was reported to an add-on that judges it itself
 */
export function probeOf(
  health: AddOnHealth,
  manifests: readonly KubeObject[] | undefined,
  ask: (results: readonly ProbeResult[]) => void,
): Probe | 'applied' | undefined {
  if (manifests === undefined) return undefined;
  if (health.kind === 'works') return 'applied';
  if (health.kind === 'probe')
    return {
      fields: health.fields.map(({ resource }) => resource),
      check: (results) => {
        ask(results);
        return undefined;
      },
    };
  return workloadProbe(manifests.filter(isProbed(health)));
}

/** What the agent has to report for the health. */
export function healthConfigs(
  health: AddOnHealth,
  manifests: readonly KubeObject[],
): readonly ManifestConfig[] {
  if (health.kind === 'probe')
    return health.fields.map(({ resource, rules }) => ({
      resourceIdentifier: resource,
      feedbackRules: rules,
    }));
  return workloadConfigs(manifests.filter(isProbed(health)));
}

function isProbed({ kind }: AddOnHealth): (manifest: KubeObject) => boolean {
  if (kind === 'deployments') return (manifest) => manifest.kind === 'Deployment';
  return () => kind === 'workloads';
}

function available(status: Condition['status'], reason: string, message: string): Condition {
  return { type: 'Available', status, reason, message };
}

function resultsOf(
  field: ResourceIdentifier,
  reported: readonly ManifestCondition[],
): readonly ProbeResult[] {
  return reported.flatMap(({ resourceMeta: resource, statusFeedback }) => {
    const values = statusFeedback?.values ?? [];
    const isMeant =
      (resource.group ?? '') === (field.group ?? '') &&
      resource.resource === field.resource &&
      matchesWildcard(field.namespace ?? '', resource.namespace ?? '') &&
      matchesWildcard(field.name, resource.name ?? '');
    return isMeant && values.length > 0 ? [{ resource, values }] : [];
  });
}

const WORKLOADS: Readonly<Record<string, string>> = { Deployment: 'deployments', DaemonSet: 'daemonsets' };

/** What the agent reports of the Deployments and DaemonSets of an add-on. */
function workloadConfigs(manifests: readonly KubeObject[]): readonly ManifestConfig[] {
  return manifests.flatMap((manifest) => {
    const resourceIdentifier = workloadOf(manifest);
    return resourceIdentifier === undefined
      ? []
      : [{ resourceIdentifier, feedbackRules: [{ type: 'WellKnownStatus' as const }] }];
  });
}

/** Available when the Deployments and DaemonSets run. A Deployment without replicas is not asked. */
function workloadProbe(manifests: readonly KubeObject[]): Probe {
  const running = manifests.filter(
    (manifest) => (manifest['spec'] as { replicas?: number } | undefined)?.replicas !== 0,
  );
  return {
    fields: running.flatMap((manifest) => workloadOf(manifest) ?? []),
    check: (results) => results.map(workloadProblem).find((problem) => problem !== undefined),
  };
}

function workloadOf({ apiVersion, kind, metadata }: KubeObject): ResourceIdentifier | undefined {
  const { group } = groupVersionOf(apiVersion);
  const resource = WORKLOADS[kind];
  if (group !== 'apps' || resource === undefined) return undefined;
  return { group, resource, name: metadata.name, namespace: metadata.namespace ?? '' };
}

/** Source: open-cluster-management.io/addon-framework `pkg/utils/probe_helper.go`. */
function workloadProblem({ resource, values }: ProbeResult): string | undefined {
  const value = (...names: readonly string[]): number | undefined => {
    const found = values.findLast(({ name }) => names.includes(name));
    return found?.fieldValue.integer === undefined ? undefined : Number(found.fieldValue.integer);
  };
  const ready = value('ReadyReplicas', 'NumberReady');
  if (ready === undefined) return 'readyReplica is not probed';
  const desired = value('Replicas', 'DesiredNumberScheduled');
  if (desired === undefined) return 'desiredNumberReplicas is not probed';
  const runs = resource.resource === 'daemonsets' ? ready === desired : desired === 0 || ready >= 1;
  if (runs) return undefined;
  const { resource: kind = '', namespace = '', name = '' } = resource;
  return `desiredNumberReplicas is ${desired} but readyReplica is ${ready} for ${kind} ${namespace}/${name}`;
}
