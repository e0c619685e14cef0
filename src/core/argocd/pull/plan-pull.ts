import { apiVersionOf, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { FeedbackJsonPath, ManifestConfig, ManifestWork } from '@berth/ocm/kind/manifest-work';
import { sameWorkSpec } from '@berth/ocm/kind/same-work-spec';
import { APPLY_SET_PART_OF_LABEL } from '../../sync/apply-set.ts';
import type { Application, ApplicationSpec } from '../argocd-kinds.ts';
import {
  DESTINATION_NAME_ANNOTATION,
  DESTINATION_SERVER_ANNOTATION,
  FEEDBACK_ANNOTATION,
  FROM_SET_LABEL,
  HOSTING_SET_KEY,
  hostingSet,
  HUB_NAME_ANNOTATION,
  HUB_NAMESPACE_ANNOTATION,
  PULL_CLUSTER_ANNOTATION,
  PULL_LABEL,
  PULL_NAMESPACE_ANNOTATION,
  pullCluster,
  pullWorkName,
  SKIP_RECONCILE_ANNOTATION,
} from './pull-target.ts';
import { FEEDBACK_CONDITIONS } from './read-pull-feedback.ts';
import { isRefreshRequested, operationStage } from './refresh-request.ts';

export interface PullInput {
  /** The hub's Application; undefined if there is none. */
  readonly application: Application | undefined;
  /** Works that contain it, on all clusters. */
  readonly works: readonly ManifestWork[];
  /** Whether works may be made for the cluster: it exists and is not being deleted. */
  readonly takesWork: (cluster: string) => boolean;
}

export type PullWrite =
  | { readonly type: 'none' }
  | { readonly type: 'create'; readonly work: ManifestWork }
  | { readonly type: 'update'; readonly work: ManifestWork };

export interface WorkToRemove {
  readonly work: ManifestWork;
  readonly reason: 'deleted' | 'moved' | 'replaced';
}

export interface PullPlan {
  /** The managed cluster that the Application names; undefined if no cluster pulls it. */
  readonly cluster: string | undefined;
  readonly write: PullWrite;
  /** Works that no longer contain it, and are not being deleted yet. */
  readonly leaving: readonly WorkToRemove[];
  /** The Application is being deleted and no cluster still has it: Argo CD's finalizer on the hub may be removed. */
  readonly mayFinalize: boolean;
}

const NOTHING: PullPlan = { cluster: undefined, write: { type: 'none' }, leaving: [], mayFinalize: false };

/**
 * The wanted works of one Application. An Application that lost its label keeps its work unchanged, as with OCM's
 * controller. The work is removed with the Application.
 */
export function planPull({ application, works, takesWork }: PullInput): PullPlan {
  const live = works.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (application === undefined)
    return { ...NOTHING, leaving: live.map((work) => toRemove(work, 'deleted')) };
  const cluster = pullCluster(application);
  if (cluster === undefined) return NOTHING;
  if (application.metadata.deletionTimestamp !== undefined)
    return {
      ...NOTHING,
      cluster,
      leaving: live.map((work) => toRemove(work, 'deleted')),
      mayFinalize: live.length === 0,
    };
  // A misspelt name must not remove the Application from its cluster, and neither must a move to a cluster that goes.
  if (!takesWork(cluster)) return { ...NOTHING, cluster };
  const name = pullWorkName(application.metadata);
  const current = works.find(({ metadata }) => metadata.namespace === cluster && metadata.name === name);
  const stage = operationStage(application, current);
  const isLeft = stage === 'ended' || stage === 'waits';
  const wanted = renderPullWork(isLeft ? { ...application, operation: undefined } : application, cluster);
  return {
    cluster,
    write: planWrite(wanted, current),
    leaving: live
      .filter((work) => work !== current)
      .map((work) => toRemove(work, work.metadata.namespace === cluster ? 'replaced' : 'moved')),
    mayFinalize: false,
  };
}

function toRemove(work: ManifestWork, reason: WorkToRemove['reason']): WorkToRemove {
  return { work, reason };
}

function planWrite(wanted: ManifestWork, current: ManifestWork | undefined): PullWrite {
  if (current === undefined) return { type: 'create', work: wanted };
  // It is created again after it is deleted.
  if (current.metadata.deletionTimestamp !== undefined) return { type: 'none' };
  const labels = merged(current.metadata.labels, wanted.metadata.labels, FROM_SET_LABEL);
  const annotations = merged(current.metadata.annotations, wanted.metadata.annotations, HOSTING_SET_KEY);
  const isSame =
    sameWorkSpec(current.spec, wanted.spec) &&
    sameRecord(current.metadata.labels ?? {}, labels) &&
    sameRecord(current.metadata.annotations ?? {}, annotations);
  if (isSame) return { type: 'none' };
  return {
    type: 'update',
    work: { ...current, metadata: { ...current.metadata, labels, annotations }, spec: wanted.spec },
  };
}

type Texts = Readonly<Record<string, string>>;

/**
 * Keys of others stay.
 * @param optional a key of Berth that is not always wanted
 */
function merged(current: Texts = {}, wanted: Texts = {}, optional: string): Texts {
  const { [optional]: _own, ...others } = current;
  return { ...others, ...wanted };
}

function sameRecord(left: Texts, right: Texts): boolean {
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => left[key] === right[key]);
}

/** What every agent reports, with the names of OCM's controller. */
const FEEDBACK_PATHS: readonly FeedbackJsonPath[] = [
  { name: 'healthStatus', path: '.status.health.status' },
  { name: 'syncStatus', path: '.status.sync.status' },
  { name: 'operationStateStartedAt', path: '.status.operationState.startedAt' },
  { name: 'operationStatePhase', path: '.status.operationState.phase' },
  { name: 'syncRevision', path: '.status.sync.revision' },
];

/**
 * What is reported while a work carries an operation or a refresh: a RollingSync waits for it. Argo CD writes this time
 * every few minutes, and each report is a write on the hub, so it is not always reported.
 */
const RECONCILED_PATH: FeedbackJsonPath = { name: 'reconciledAt', path: '.status.reconciledAt' };

/** What the annotation `full` adds. The last two are lists, which an agent reports as raw JSON or not at all. */
const FULL_FEEDBACK_PATHS: readonly FeedbackJsonPath[] = [
  { name: 'operationStateMessage', path: '.status.operationState.message' },
  ...FEEDBACK_CONDITIONS.map((type) => ({
    name: `condition${type}`,
    path: `.status.conditions[?(@.type=="${type}")].message`,
  })),
  { name: 'resourceSyncs', path: '.status.resources[*].status' },
  { name: 'resourceHealths', path: '.status.resources[*].health.status' },
];

/**
 * The ManifestWork that brings a hub's Application to the managed cluster. The spec of the Application does not change.
 * Source:
 * argocd-pull-integration `internal/basic/application/helper.go`; docs/argocd.md lists what differs.
 * @param cluster the managed cluster, which is the namespace of the work
 */
function renderPullWork(application: Application, cluster: string): ManifestWork {
  const { metadata } = application;
  const set = hostingSet(metadata);
  const manifest = renderManifest(application, set);
  const isWaitedFor = application.operation !== undefined || isRefreshRequested(application);
  const paths = [
    ...FEEDBACK_PATHS,
    ...(isWaitedFor ? [RECONCILED_PATH] : []),
    ...(metadata.annotations?.[FEEDBACK_ANNOTATION] === 'full' ? FULL_FEEDBACK_PATHS : []),
  ];
  return {
    apiVersion: apiVersionOf(MANIFEST_WORK),
    kind: 'ManifestWork',
    metadata: {
      name: pullWorkName(metadata),
      namespace: cluster,
      labels: { [PULL_LABEL]: 'true', ...(set !== undefined && { [FROM_SET_LABEL]: 'true' }) },
      annotations: {
        [HUB_NAMESPACE_ANNOTATION]: metadata.namespace ?? '',
        [HUB_NAME_ANNOTATION]: metadata.name,
        ...(set !== undefined && { [HOSTING_SET_KEY]: set }),
      },
    },
    spec: {
      workload: { manifests: [manifest] },
      manifestConfigs: [manifestConfig(manifest, paths)],
    },
  };
}

const DEFAULT_NAMESPACE = 'argocd';

/** Annotations for the hub, which are not copied to the managed cluster. */
const HUB_ANNOTATIONS = new Set([
  PULL_CLUSTER_ANNOTATION,
  PULL_NAMESPACE_ANNOTATION,
  SKIP_RECONCILE_ANNOTATION,
  DESTINATION_NAME_ANNOTATION,
  DESTINATION_SERVER_ANNOTATION,
]);

/** Annotations and labels of Berth's sync, for an Application from Git. */
const OWN_ANNOTATION = /^berth\.dev\//;

function renderManifest(application: Application, set: string | undefined): KubeObject {
  const { metadata, spec, operation } = application;
  const { namespace = '', name, finalizers = [] } = metadata;
  const annotations = metadata.annotations ?? {};
  const chosen = annotations[PULL_NAMESPACE_ANNOTATION] ?? '';
  const labels = entries(metadata.labels, (key) => key !== PULL_LABEL && key !== APPLY_SET_PART_OF_LABEL);
  if (set !== undefined) labels[FROM_SET_LABEL] = 'true';
  const kept = entries(annotations, (key) => !HUB_ANNOTATIONS.has(key) && !OWN_ANNOTATION.test(key));
  if (set !== undefined) kept[HOSTING_SET_KEY] = set;
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: {
      name,
      namespace: chosen === '' ? namespace || DEFAULT_NAMESPACE : chosen,
      ...(finalizers.length > 0 && { finalizers }),
      ...(Object.keys(labels).length > 0 && { labels }),
      ...(Object.keys(kept).length > 0 && { annotations: kept }),
    },
    ...(spec !== undefined && { spec: renderSpec(spec, annotations) }),
    ...(operation !== undefined && { operation }),
  };
}

const IN_CLUSTER_SERVER = 'https://kubernetes.default.svc';

function renderSpec(
  spec: ApplicationSpec,
  annotations: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  if (typeof spec.destination !== 'object') return spec;
  const name = annotations[DESTINATION_NAME_ANNOTATION];
  const server = annotations[DESTINATION_SERVER_ANNOTATION];
  const isCustom = name !== undefined || server !== undefined;
  const destination = {
    ...spec.destination,
    name: name ?? '',
    server: server ?? (isCustom ? '' : IN_CLUSTER_SERVER),
  };
  return { ...spec, destination };
}

function manifestConfig({ metadata }: KubeObject, paths: readonly FeedbackJsonPath[]): ManifestConfig {
  return {
    resourceIdentifier: {
      group: 'argoproj.io',
      resource: 'applications',
      namespace: metadata.namespace,
      name: metadata.name,
    },
    feedbackRules: paths.map((path) => ({ type: 'JSONPaths', jsonPaths: [path] })),
    updateStrategy: {
      type: 'ServerSideApply',
      serverSideApply: {
        force: true,
        // Argo CD removes the operation when it has finished it. The agent must not add it again.
        ignoreFields: [{ condition: 'OnSpokeChange', jsonPaths: ['.operation'] }],
      },
    },
  };
}

function entries(
  record: Readonly<Record<string, string>> | undefined,
  isKept: (key: string) => boolean,
): Record<string, string> {
  return Object.fromEntries(Object.entries(record ?? {}).filter(([key]) => isKept(key)));
}

/** One write to a cluster's namespace on the hub. */
export interface PulledWorkWritten {
  readonly action: 'created' | 'updated' | 'deleted';
  /** `namespace/name` of the hub's Application. */
  readonly application: string;
  readonly cluster: string;
  readonly work: string;
  readonly reason?: 'deleted' | 'moved' | 'replaced' | undefined;
}

/** Removals that are held. */
export interface PullHeld {
  /** `ApplicationSet namespace/name`, or `Applications in namespace`. */
  readonly group: string;
  readonly message: string;
  readonly token: string;
}
