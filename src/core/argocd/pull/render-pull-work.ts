import { apiVersionOf, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { Application, ApplicationSpec } from '../argo-application.ts';
import type { FeedbackJsonPath, ManifestConfig, ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { APPLY_SET_PART_OF_LABEL } from '../../sync/apply-set.ts';
import {
  DESTINATION_NAME_ANNOTATION,
  DESTINATION_SERVER_ANNOTATION,
  FEEDBACK_ANNOTATION,
  FROM_SET_LABEL,
  HOSTING_SET_KEY,
  HUB_NAME_ANNOTATION,
  HUB_NAMESPACE_ANNOTATION,
  PULL_CLUSTER_ANNOTATION,
  PULL_LABEL,
  PULL_NAMESPACE_ANNOTATION,
  SKIP_RECONCILE_ANNOTATION,
} from './pull-keys.ts';
import { hostingSet, pullWorkName } from './pull-target.ts';
import { FEEDBACK_CONDITIONS } from './read-pull-feedback.ts';
import { isRefreshRequested } from './refresh-request.ts';

const IN_CLUSTER_SERVER = 'https://kubernetes.default.svc';
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

/** What every agent reports, with the names of OCM's controller. */
export const FEEDBACK_PATHS: readonly FeedbackJsonPath[] = [
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
export function renderPullWork(application: Application, cluster: string): ManifestWork {
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
