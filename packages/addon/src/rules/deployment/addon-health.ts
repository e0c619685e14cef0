import { matchesWildcard } from '@berth/agent/rules/manifests/manifest-config';
import { findCondition } from '@berth/kube/model/condition-list';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { groupVersionOf } from '@berth/kube/model/object-ref';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type {
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
 * @param probe undefined: what the works say about themselves is all that can be known
 */
export function addonHealth(
  addon: string,
  cluster: ManagedCluster,
  works: readonly ManifestWork[],
  probe: Probe | undefined,
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
  const reported = works.flatMap(({ status }) => status?.resourceStatus?.manifests ?? []);
  const results = probe.fields.flatMap((field) => resultsOf(field, reported));
  if (probe.fields.length > 0 && results.length === 0)
    return available('Unknown', 'NoProbeResult', 'Probe results are not returned');
  const problem = probe.check(results);
  return problem === undefined
    ? available('True', 'ProbeAvailable', `${addon} add-on is available.`)
    : available('False', 'ProbeUnavailable', `Probe addon unavailable with err ${problem}`);
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
export function workloadConfigs(manifests: readonly KubeObject[]): readonly ManifestConfig[] {
  return manifests.flatMap((manifest) => {
    const resourceIdentifier = workloadOf(manifest);
    return resourceIdentifier === undefined
      ? []
      : [{ resourceIdentifier, feedbackRules: [{ type: 'WellKnownStatus' as const }] }];
  });
}

/** Available when the Deployments and DaemonSets run. A Deployment without replicas is not asked. */
export function workloadProbe(manifests: readonly KubeObject[]): Probe {
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
