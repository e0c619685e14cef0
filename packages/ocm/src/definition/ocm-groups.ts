import type { JsonObject } from '@berth/runtime/json/json-value';
import { ADDON_KINDS } from './addon-kinds.ts';
import { CLUSTER_KINDS } from './cluster-kinds.ts';
import type { OcmKind, OcmVersion } from './ocm-kind.ts';
import { object, string, boolean, embeddedObject, listOf, time } from './schema-notation.ts';
import { condition } from './shared-schemas.ts';
import { WORK_KINDS } from './work-kinds.ts';

const objectReference = object(
  {
    apiVersion: string(),
    fieldPath: string(),
    kind: string(),
    name: string(),
    namespace: string(),
    resourceVersion: string(),
    uid: string(),
  },
  { 'x-kubernetes-map-type': 'atomic' },
);

/** Of v1alpha1, the add-on for argocd-agent. */
const agentFields = {
  argoCDAgentAddon: object({
    agentImage: string(),
    agentNamespace: string(),
    argoCDCRManifestWork: object({ manifests: listOf(embeddedObject()) }),
    mode: string({ default: 'managed' }),
    operatorImage: string(),
    operatorNamespace: string(),
    principalServerAddress: string(),
    principalServerPort: string(),
  }),
};

const isEither = {
  rule: 'has(self.argoServer) || has(self.argoCDAgentAddon)',
  message: 'either argoServer (push) or argoCDAgentAddon (argocd-agent) must be given',
};

/** Of v1beta1, the push model. */
const pushFields = {
  argoServer: object({ 'argoNamespace!': string(), cluster: string() }),
  createBlankClusterSecrets: boolean(),
  createPolicyTemplate: boolean(),
  gitopsAddon: object({
    argoCDAgent: object({
      enabled: boolean({ default: false }),
      mode: string(),
      propagateHubCA: boolean({ default: true }),
      serverAddress: string(),
      serverPort: string(),
    }),
    enabled: boolean({ default: false }),
    gitOpsOperatorImage: string(),
    olmSubscription: object({
      channel: string(),
      enabled: boolean({ default: false }),
      installPlanApproval: string({ enum: ['Automatic', 'Manual'] }),
      name: string(),
      namespace: string(),
      source: string(),
      sourceNamespace: string(),
    }),
    overrideExistingConfigs: boolean({ default: false }),
  }),
  managedServiceAccountRef: string(),
};

const fields: OcmVersion['fields'] = {
  'spec!': object(
    { 'placementRef!': objectReference, ...pushFields, ...agentFields },
    { 'x-kubernetes-validations': [isEither] },
  ),
  status: object({
    conditions: listOf(condition),
    lastUpdateTime: time(),
    message: string(),
    phase: string(),
  }),
};

/** Of multicloud-integrations `pkg/apis/appsetreport/v1alpha1`. It has no spec and no status. */
const reportFields: OcmVersion['fields'] = {
  statuses: object({
    clusterConditions: listOf(
      object({
        app: string(),
        cluster: string(),
        conditions: listOf(object({ message: string(), type: string() })),
        healthStatus: string(),
        operationStatePhase: string(),
        operationStateStartedAt: string(),
        syncRevision: string(),
        syncStatus: string(),
      }),
    ),
    resources: listOf(object({ apiVersion: string(), kind: string(), name: string(), namespace: string() })),
    summary: object({
      clusters: string(),
      healthy: string(),
      inProgress: string(),
      notHealthy: string(),
      notSynced: string(),
      synced: string(),
    }),
  }),
};

/**
 * The kinds of `apps.open-cluster-management.io` that Berth serves. Two projects publish a
 * definition of GitOpsCluster, each with one version, and a cluster can hold only one of them. Here
 * both versions have the fields of both, so that reading an object in the other version loses no
 * data; its fields tell which of the two it is. Sources: multicloud-integrations
 * `deploy/crds/apps.open-cluster-management.io_gitopsclusters.yaml` (v1beta1),
 * argocd-pull-integration
 * `charts/argocd-agent-addon/crds/apps.open-cluster-management.io_gitopsclusters.yaml` (v1alpha1).
 */
const GITOPS_KINDS: readonly OcmKind[] = [
  {
    kind: 'GitOpsCluster',
    short: ['goc'],
    versions: [
      { name: 'v1beta1', storage: true, status: true, fields },
      { name: 'v1alpha1', status: true, fields },
    ],
  },
  {
    kind: 'MulticlusterApplicationSetReport',
    short: ['appsetreport', 'appsetreports'],
    versions: [{ name: 'v1alpha1', storage: true, fields: reportFields }],
  },
];

/** OCM's kinds by API group: the one description of their fields. */
export const OCM_GROUPS: Readonly<Record<string, readonly OcmKind[]>> = {
  'cluster.open-cluster-management.io': CLUSTER_KINDS,
  'work.open-cluster-management.io': WORK_KINDS,
  'addon.open-cluster-management.io': ADDON_KINDS,
  'apps.open-cluster-management.io': GITOPS_KINDS,
};

/** The `openAPIV3Schema` of one version. */
export function ocmSchema(version: OcmVersion): JsonObject {
  return object({ apiVersion: string(), kind: string(), metadata: { type: 'object' }, ...version.fields });
}
