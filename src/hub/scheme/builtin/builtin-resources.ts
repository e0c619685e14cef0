import type { OtherSubresource, ScalePaths } from '../../schema/resource-definition.ts';

export interface BuiltinVersion {
  readonly version: string;
  /** Short definition name in kubernetes-schemas.json. */
  readonly schema: string;
}

/** One row of the table of Kubernetes' own resources. Absent words have the usual value. */
export interface BuiltinResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Short definition name in kubernetes-schemas.json. */
  readonly schema: string;
  /** Versions besides the stored one; see to-version.ts for what differs. */
  readonly alsoServed?: readonly BuiltinVersion[];
  readonly plural?: string;
  readonly short?: readonly string[];
  readonly categories?: readonly string[];
  readonly cluster?: true;
  readonly status?: true;
  readonly scale?: true;
  readonly others?: readonly OtherSubresource[];
  /** Answers a question instead of storing an object. */
  readonly review?: true;
  readonly selectable?: readonly string[];
  /** Shares its objects with the resource of this storage key. */
  readonly storageKey?: string;
}

const CERTIFICATES = 'certificates.k8s.io';
const RBAC = 'rbac.authorization.k8s.io';
const ALL = ['all'] as const;

const other = (name: string, group: string, kind: string, verbs: readonly string[]): OtherSubresource => ({
  name,
  kind: { group, version: 'v1', kind },
  verbs,
});

/** Paths of the scale subresource of apps kinds. */
export const WORKLOAD_SCALE: ScalePaths = {
  specReplicasPath: 'spec.replicas',
  statusReplicasPath: 'status.replicas',
  labelSelectorPath: 'spec.selector',
};

const INVOLVED = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

const EVENT_FIELDS = [
  ...INVOLVED.map((field) => `involvedObject.${field}`),
  ...['reason', 'reportingComponent', 'source', 'type'],
];

const NEW_EVENT_FIELDS = [
  ...INVOLVED.map((field) => `regarding.${field}`),
  ...['reason', 'reportingController', 'type'],
];

const POD_FIELDS = [
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.schedulerName',
  'spec.serviceAccountName',
  'spec.hostNetwork',
  'status.phase',
  'status.podIP',
  'status.nominatedNodeName',
];

/** Every resource of Kubernetes' own groups that the hub serves. */
export const BUILTIN_RESOURCES: readonly BuiltinResource[] = [
  {
    group: '',
    version: 'v1',
    kind: 'Namespace',
    schema: 'core.v1.Namespace',
    short: ['ns'],
    cluster: true,
    status: true,
    others: [other('finalize', '', 'Namespace', ['update'])],
    selectable: ['status.phase'],
  },
  { group: '', version: 'v1', kind: 'ConfigMap', schema: 'core.v1.ConfigMap', short: ['cm'] },
  { group: '', version: 'v1', kind: 'Secret', schema: 'core.v1.Secret', selectable: ['type'] },
  {
    group: '',
    version: 'v1',
    kind: 'ServiceAccount',
    schema: 'core.v1.ServiceAccount',
    short: ['sa'],
    others: [other('token', 'authentication.k8s.io', 'TokenRequest', ['create'])],
  },
  {
    group: '',
    version: 'v1',
    kind: 'Event',
    schema: 'core.v1.Event',
    short: ['ev'],
    selectable: EVENT_FIELDS,
  },
  {
    group: '',
    version: 'v1',
    kind: 'Node',
    schema: 'core.v1.Node',
    short: ['no'],
    cluster: true,
    status: true,
    selectable: ['spec.unschedulable'],
  },
  {
    group: '',
    version: 'v1',
    kind: 'Pod',
    schema: 'core.v1.Pod',
    short: ['po'],
    categories: ALL,
    status: true,
    selectable: POD_FIELDS,
  },
  { group: '', version: 'v1', kind: 'PodTemplate', schema: 'core.v1.PodTemplate' },
  {
    group: '',
    version: 'v1',
    kind: 'Service',
    schema: 'core.v1.Service',
    short: ['svc'],
    categories: ALL,
    status: true,
    selectable: ['spec.clusterIP', 'spec.type'],
  },
  {
    group: '',
    version: 'v1',
    kind: 'Endpoints',
    schema: 'core.v1.Endpoints',
    plural: 'endpoints',
    short: ['ep'],
  },
  {
    group: '',
    version: 'v1',
    kind: 'PersistentVolume',
    schema: 'core.v1.PersistentVolume',
    short: ['pv'],
    cluster: true,
    status: true,
  },
  {
    group: '',
    version: 'v1',
    kind: 'PersistentVolumeClaim',
    schema: 'core.v1.PersistentVolumeClaim',
    short: ['pvc'],
    status: true,
  },
  {
    group: '',
    version: 'v1',
    kind: 'ReplicationController',
    schema: 'core.v1.ReplicationController',
    short: ['rc'],
    categories: ALL,
    status: true,
    selectable: ['status.replicas'],
  },
  {
    group: '',
    version: 'v1',
    kind: 'ResourceQuota',
    schema: 'core.v1.ResourceQuota',
    short: ['quota'],
    status: true,
  },
  { group: '', version: 'v1', kind: 'LimitRange', schema: 'core.v1.LimitRange', short: ['limits'] },
  {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    kind: 'CustomResourceDefinition',
    schema: 'extensions:apiextensions.v1.CustomResourceDefinition',
    short: ['crd', 'crds'],
    categories: ['api-extensions'],
    cluster: true,
    status: true,
  },
  {
    group: 'apiregistration.k8s.io',
    version: 'v1',
    kind: 'APIService',
    schema: 'aggregator:apiregistration.v1.APIService',
    categories: ['api-extensions'],
    cluster: true,
    status: true,
  },
  {
    group: 'apps',
    version: 'v1',
    kind: 'Deployment',
    schema: 'apps.v1.Deployment',
    short: ['deploy'],
    categories: ALL,
    status: true,
    scale: true,
  },
  {
    group: 'apps',
    version: 'v1',
    kind: 'ReplicaSet',
    schema: 'apps.v1.ReplicaSet',
    short: ['rs'],
    categories: ALL,
    status: true,
    scale: true,
    selectable: ['status.replicas'],
  },
  {
    group: 'apps',
    version: 'v1',
    kind: 'StatefulSet',
    schema: 'apps.v1.StatefulSet',
    short: ['sts'],
    categories: ALL,
    status: true,
    scale: true,
  },
  {
    group: 'apps',
    version: 'v1',
    kind: 'DaemonSet',
    schema: 'apps.v1.DaemonSet',
    short: ['ds'],
    categories: ALL,
    status: true,
  },
  { group: 'apps', version: 'v1', kind: 'ControllerRevision', schema: 'apps.v1.ControllerRevision' },
  {
    group: 'authentication.k8s.io',
    version: 'v1',
    kind: 'TokenReview',
    schema: 'authentication.v1.TokenReview',
    cluster: true,
    review: true,
  },
  {
    group: 'authentication.k8s.io',
    version: 'v1',
    kind: 'SelfSubjectReview',
    schema: 'authentication.v1.SelfSubjectReview',
    cluster: true,
    review: true,
  },
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    kind: 'SubjectAccessReview',
    schema: 'authorization.v1.SubjectAccessReview',
    cluster: true,
    review: true,
  },
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    kind: 'SelfSubjectAccessReview',
    schema: 'authorization.v1.SelfSubjectAccessReview',
    cluster: true,
    review: true,
  },
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    kind: 'SelfSubjectRulesReview',
    schema: 'authorization.v1.SelfSubjectRulesReview',
    cluster: true,
    review: true,
  },
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    kind: 'LocalSubjectAccessReview',
    schema: 'authorization.v1.LocalSubjectAccessReview',
    review: true,
  },
  {
    group: 'autoscaling',
    version: 'v2',
    kind: 'HorizontalPodAutoscaler',
    schema: 'autoscaling.v2.HorizontalPodAutoscaler',
    alsoServed: [{ version: 'v1', schema: 'autoscaling.v1.HorizontalPodAutoscaler' }],
    short: ['hpa'],
    categories: ALL,
    status: true,
  },
  {
    group: 'batch',
    version: 'v1',
    kind: 'Job',
    schema: 'batch.v1.Job',
    categories: ALL,
    status: true,
    selectable: ['status.successful'],
  },
  {
    group: 'batch',
    version: 'v1',
    kind: 'CronJob',
    schema: 'batch.v1.CronJob',
    short: ['cj'],
    categories: ALL,
    status: true,
  },
  {
    group: CERTIFICATES,
    version: 'v1',
    kind: 'CertificateSigningRequest',
    schema: 'certificates.v1.CertificateSigningRequest',
    short: ['csr'],
    cluster: true,
    status: true,
    others: [other('approval', CERTIFICATES, 'CertificateSigningRequest', ['get', 'patch', 'update'])],
    selectable: ['spec.signerName'],
  },
  { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', schema: 'coordination.v1.Lease' },
  { group: 'discovery.k8s.io', version: 'v1', kind: 'EndpointSlice', schema: 'discovery.v1.EndpointSlice' },
  {
    group: 'events.k8s.io',
    version: 'v1',
    kind: 'Event',
    schema: 'events.v1.Event',
    short: ['ev'],
    selectable: NEW_EVENT_FIELDS,
    storageKey: 'events',
  },
  {
    group: 'networking.k8s.io',
    version: 'v1',
    kind: 'Ingress',
    schema: 'networking.v1.Ingress',
    plural: 'ingresses',
    short: ['ing'],
    status: true,
  },
  {
    group: 'networking.k8s.io',
    version: 'v1',
    kind: 'IngressClass',
    schema: 'networking.v1.IngressClass',
    plural: 'ingressclasses',
    cluster: true,
  },
  {
    group: 'networking.k8s.io',
    version: 'v1',
    kind: 'NetworkPolicy',
    schema: 'networking.v1.NetworkPolicy',
    plural: 'networkpolicies',
    short: ['netpol'],
  },
  {
    group: 'policy',
    version: 'v1',
    kind: 'PodDisruptionBudget',
    schema: 'policy.v1.PodDisruptionBudget',
    short: ['pdb'],
    status: true,
  },
  { group: RBAC, version: 'v1', kind: 'Role', schema: 'rbac.v1.Role' },
  { group: RBAC, version: 'v1', kind: 'ClusterRole', schema: 'rbac.v1.ClusterRole', cluster: true },
  { group: RBAC, version: 'v1', kind: 'RoleBinding', schema: 'rbac.v1.RoleBinding' },
  {
    group: RBAC,
    version: 'v1',
    kind: 'ClusterRoleBinding',
    schema: 'rbac.v1.ClusterRoleBinding',
    cluster: true,
  },
  {
    group: 'scheduling.k8s.io',
    version: 'v1',
    kind: 'PriorityClass',
    schema: 'scheduling.v1.PriorityClass',
    plural: 'priorityclasses',
    short: ['pc'],
    cluster: true,
  },
  {
    group: 'storage.k8s.io',
    version: 'v1',
    kind: 'StorageClass',
    schema: 'storage.v1.StorageClass',
    plural: 'storageclasses',
    short: ['sc'],
    cluster: true,
  },
  {
    group: 'storage.k8s.io',
    version: 'v1',
    kind: 'VolumeAttachment',
    schema: 'storage.v1.VolumeAttachment',
    cluster: true,
    status: true,
  },
];

/** Kinds that are no resource of their own, only bodies of subresources. */
export const SUBRESOURCE_KINDS = [
  { group: 'autoscaling', version: 'v1', kind: 'Scale', schema: 'autoscaling.v1.Scale' },
  {
    group: 'authentication.k8s.io',
    version: 'v1',
    kind: 'TokenRequest',
    schema: 'authentication.v1.TokenRequest',
  },
] as const;
