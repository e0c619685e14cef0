import { BUILTIN_KINDS, groupResource, type KindInfo } from '@berth/kube/model/kinds';
import type { OtherSubresource, ScalePaths } from '../../schema/resource-definition.ts';

const CERTIFICATES = 'certificates.k8s.io';
const ALL = ['all'] as const;
/** Supports `create` only. */
const REVIEW: ResourceDetails = { review: true };

const subresource = (
  name: string,
  group: string,
  kind: string,
  verbs: readonly string[],
): OtherSubresource => ({
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

const OBJECT_REFERENCE_FIELDS = [
  'kind',
  'namespace',
  'name',
  'uid',
  'apiVersion',
  'resourceVersion',
  'fieldPath',
];

/** Selectable fields of Event in the core group. */
const CORE_EVENT_FIELDS = [
  ...OBJECT_REFERENCE_FIELDS.map((field) => `involvedObject.${field}`),
  ...['reason', 'reportingComponent', 'source', 'type'],
];

/** Selectable fields of Event in the group events.k8s.io. */
const EVENTS_GROUP_FIELDS = [
  ...OBJECT_REFERENCE_FIELDS.map((field) => `regarding.${field}`),
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

/** What the hub has to know of a resource besides its names and scope, by `PLURAL.GROUP`. */
const DETAILS: Readonly<Record<string, ResourceDetails>> = {
  namespaces: {
    shortNames: ['ns'],
    status: true,
    subresources: [subresource('finalize', '', 'Namespace', ['update'])],
    selectableFields: ['status.phase'],
  },
  configmaps: { shortNames: ['cm'] },
  secrets: { selectableFields: ['type'] },
  serviceaccounts: {
    shortNames: ['sa'],
    subresources: [subresource('token', 'authentication.k8s.io', 'TokenRequest', ['create'])],
  },
  events: { shortNames: ['ev'], selectableFields: CORE_EVENT_FIELDS },
  nodes: { shortNames: ['no'], status: true, selectableFields: ['spec.unschedulable'] },
  pods: { shortNames: ['po'], categories: ALL, status: true, selectableFields: POD_FIELDS },
  services: {
    shortNames: ['svc'],
    categories: ALL,
    status: true,
    selectableFields: ['spec.clusterIP', 'spec.type'],
  },
  endpoints: { shortNames: ['ep'] },
  persistentvolumes: { shortNames: ['pv'], status: true },
  persistentvolumeclaims: { shortNames: ['pvc'], status: true },
  replicationcontrollers: {
    shortNames: ['rc'],
    categories: ALL,
    status: true,
    selectableFields: ['status.replicas'],
  },
  resourcequotas: { shortNames: ['quota'], status: true },
  limitranges: { shortNames: ['limits'] },
  'customresourcedefinitions.apiextensions.k8s.io': {
    schema: 'extensions:apiextensions.v1.CustomResourceDefinition',
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    status: true,
  },
  'apiservices.apiregistration.k8s.io': {
    schema: 'aggregator:apiregistration.v1.APIService',
    categories: ['api-extensions'],
    status: true,
  },
  'validatingadmissionpolicies.admissionregistration.k8s.io': { status: true },
  'deployments.apps': { shortNames: ['deploy'], categories: ALL, status: true, scale: true },
  'replicasets.apps': {
    shortNames: ['rs'],
    categories: ALL,
    status: true,
    scale: true,
    selectableFields: ['status.replicas'],
  },
  'statefulsets.apps': { shortNames: ['sts'], categories: ALL, status: true, scale: true },
  'daemonsets.apps': { shortNames: ['ds'], categories: ALL, status: true },
  'tokenreviews.authentication.k8s.io': REVIEW,
  'selfsubjectreviews.authentication.k8s.io': REVIEW,
  'subjectaccessreviews.authorization.k8s.io': REVIEW,
  'selfsubjectaccessreviews.authorization.k8s.io': REVIEW,
  'selfsubjectrulesreviews.authorization.k8s.io': REVIEW,
  'localsubjectaccessreviews.authorization.k8s.io': REVIEW,
  'horizontalpodautoscalers.autoscaling': {
    alsoServed: [{ version: 'v1', schema: 'autoscaling.v1.HorizontalPodAutoscaler' }],
    shortNames: ['hpa'],
    categories: ALL,
    status: true,
  },
  'jobs.batch': { categories: ALL, status: true, selectableFields: ['status.successful'] },
  'cronjobs.batch': { shortNames: ['cj'], categories: ALL, status: true },
  'certificatesigningrequests.certificates.k8s.io': {
    shortNames: ['csr'],
    status: true,
    subresources: [
      subresource('approval', CERTIFICATES, 'CertificateSigningRequest', ['get', 'patch', 'update']),
    ],
    selectableFields: ['spec.signerName'],
  },
  'events.events.k8s.io': { shortNames: ['ev'], selectableFields: EVENTS_GROUP_FIELDS, storageKey: 'events' },
  'ingresses.networking.k8s.io': { shortNames: ['ing'], status: true },
  'networkpolicies.networking.k8s.io': { shortNames: ['netpol'] },
  'poddisruptionbudgets.policy': { shortNames: ['pdb'], status: true },
  'priorityclasses.scheduling.k8s.io': { shortNames: ['pc'] },
  'storageclasses.storage.k8s.io': { shortNames: ['sc'] },
  'volumeattachments.storage.k8s.io': { status: true },
};

/** Every resource of Kubernetes' own groups that the hub serves. */
export const BUILTIN_RESOURCES: readonly BuiltinResource[] = BUILTIN_KINDS.map((kind) => ({
  ...kind,
  schema: usualSchema(kind),
  ...DETAILS[groupResource(kind)],
}));

/** `apps.v1.Deployment`; scripts/kubernetes-facts.mjs names them in the same way. */
function usualSchema({ group, version, kind }: KindInfo): string {
  return `${group === '' ? 'core' : group.replace(/\..*/, '')}.${version}.${kind}`;
}

/** Kinds that exist only as request and response bodies of subresources. */
export const SUBRESOURCE_KINDS = [
  { group: 'autoscaling', version: 'v1', kind: 'Scale', schema: 'autoscaling.v1.Scale' },
  {
    group: 'authentication.k8s.io',
    version: 'v1',
    kind: 'TokenRequest',
    schema: 'authentication.v1.TokenRequest',
  },
] as const;

interface BuiltinVersion {
  readonly version: string;
  /** Short definition name in kubernetes-schemas.json. */
  readonly schema: string;
}

/** A resource of Kubernetes' own API groups, in the version in which it is stored. */
export interface BuiltinResource extends KindInfo, Omit<ResourceDetails, 'schema'> {
  /** Short definition name in kubernetes-schemas.json. */
  readonly schema: string;
}

/** What differs between resources. An absent member has the usual value: no subresource, no short name. */
interface ResourceDetails {
  /** Where it is not `GROUP.VERSION.KIND` with the first part of the group. */
  readonly schema?: string;
  /** Versions besides the stored one; see to-version.ts for what differs. */
  readonly alsoServed?: readonly BuiltinVersion[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly status?: true;
  readonly scale?: true;
  readonly subresources?: readonly OtherSubresource[];
  /** The resource supports `create` only, like TokenReview, and nothing is stored. */
  readonly review?: true;
  /** Fields that field selectors support, besides metadata.name and metadata.namespace. */
  readonly selectableFields?: readonly string[];
  /** Storage key of another resource that shares its objects. Absent: the resource has its own. */
  readonly storageKey?: string;
}
