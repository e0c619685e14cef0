import { groupResource } from '@berth/kube/model/kinds';
import {
  type JsonObject,
  objectAt,
  setOwn,
  textAt,
  type JsonValue,
  isObject,
  listAt,
  deepEqual,
  getOwn,
  withoutKey,
} from '../../json/json-value.ts';
import { forbiddenField, IMMUTABLE, invalidValue } from '../../schema/field-problems.ts';
import type { ResourceRef } from '../../schema/resource-definition.ts';
import type { FieldProblem } from '../../wire/status-errors.ts';
import { CERTIFICATE_STRATEGY } from './certificate-strategy.ts';
import {
  CRD_STRATEGY,
  MUTATING_WEBHOOK_STRATEGY,
  VALIDATING_WEBHOOK_STRATEGY,
  withScope,
} from './extension-strategies.ts';
import { JOB_STRATEGY } from './job-strategy.ts';
import { SERVICE_STRATEGY } from './service-strategy.ts';
import { CLAIM_STRATEGY, LIMIT_RANGE_STRATEGY, VOLUME_STRATEGY } from './storage-strategies.ts';
import type { Strategy } from './strategy.ts';
import {
  CRON_JOB_STRATEGY,
  DAEMON_SET_STRATEGY,
  DEPLOYMENT_STRATEGY,
  POD_STRATEGY,
  POD_TEMPLATE_STRATEGY,
  REPLICA_SET_STRATEGY,
  REPLICATION_CONTROLLER_STRATEGY,
  STATEFUL_SET_STRATEGY,
} from './workload-strategies.ts';

/** Custom resources have no code of their own, but all of them have a generation. */
const CUSTOM: Strategy = { generation: true };
const PLAIN: Strategy = {};
const WITH_GENERATION: Strategy = { generation: true };

const SECRET_STRATEGY: Strategy = {
  fillIn: (object) => withEncodedData(textAt(object, 'type') === '' ? { ...object, type: 'Opaque' } : object),
};

/** RoleBinding and ClusterRoleBinding: groups are filled in. */
const BINDING_STRATEGY: Strategy = {
  fillIn: (object) => {
    const result: JsonObject = { ...object };
    const roleRef = objectAt(object, 'roleRef');
    if (roleRef !== undefined && textAt(roleRef, 'apiGroup') === '')
      result['roleRef'] = { ...roleRef, apiGroup: RBAC_GROUP };
    if (Array.isArray(object['subjects'])) result['subjects'] = listAt(object, 'subjects').map(withGroup);
    return result;
  },
};

/** Pods copy the value of their class, so it is immutable. */
const PRIORITY_CLASS_STRATEGY: Strategy = {
  fillIn: (object) => withDefaultFields(object, { preemptionPolicy: 'PreemptLowerPriority' }),
  // The API server never increases its generation.
  onCreate: (object) => ({ ...object, metadata: { ...objectAt(object, 'metadata'), generation: 1 } }),
  validate: (object, old) => {
    if (old === undefined) return [];
    const problems: FieldProblem[] = [];
    if (object['value'] !== old['value'])
      problems.push(forbiddenField('value', 'may not be changed in an update.'));
    return [...problems, ...changedFields(object, old, ['preemptionPolicy'])];
  },
};

const STORAGE_CLASS_STRATEGY: Strategy = {
  fillIn: (object) => withDefaultFields(object, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
  validate: (object, old) => {
    if (old === undefined) return [];
    const problems: FieldProblem[] = [];
    for (const field of ['parameters', 'provisioner', 'reclaimPolicy'])
      if (!deepEqual(getOwn(object, field), getOwn(old, field)))
        problems.push(forbiddenField(field, `updates to ${field} are forbidden.`));
    return [...problems, ...changedFields(object, old, ['volumeBindingMode'])];
  },
};

const ADMISSION_POLICY_STRATEGY: Strategy = {
  generation: true,
  conditionalUpdate: true,
  fillIn: (object) => {
    const spec = objectAt(object, 'spec');
    if (spec === undefined) return object;
    const failurePolicy = spec['failurePolicy'] ?? 'Fail';
    return { ...object, spec: withMatchDefaults({ ...spec, failurePolicy }, 'matchConstraints') };
  },
};

const POLICY_BINDING_STRATEGY: Strategy = {
  generation: true,
  conditionalUpdate: true,
  fillIn: (object) => {
    const spec = objectAt(object, 'spec');
    return spec === undefined ? object : { ...object, spec: withMatchDefaults(spec, 'matchResources') };
  },
};

/**
 * Both versions of autoscalers. Source: pkg/apis/autoscaling/v1 and v2 (SetDefaults_HorizontalPodAutoscaler,
 * GenerateHPAScaleUpRules). An autoscaler of v1 is stored as v2, which has a metric if v1 names none.
 */
const AUTOSCALER_STRATEGY: Strategy = {
  fillIn: (autoscaler) => {
    const spec: JsonObject = { minReplicas: 1, ...objectAt(autoscaler, 'spec') };
    if (isFirstVersion(autoscaler)) return withCpuTarget({ ...autoscaler, spec });
    const behavior = objectAt(spec, 'behavior');
    if (listAt(spec, 'metrics').length === 0) spec['metrics'] = [cpuMetric()];
    if (behavior !== undefined) spec['behavior'] = withScalingRules(behavior);
    return { ...autoscaler, spec };
  },
};

/** Source: pkg/apis/networking/v1 (SetDefaults_NetworkPolicy, SetDefaults_NetworkPolicyPort). */
const NETWORK_POLICY_STRATEGY: Strategy = {
  generation: true,
  fillIn: (policy) => {
    const spec = objectAt(policy, 'spec') ?? {};
    const result: JsonObject = { ...spec };
    for (const direction of ['ingress', 'egress'])
      if (Array.isArray(spec[direction])) result[direction] = listAt(spec, direction).map(withPortProtocols);
    if (listAt(spec, 'policyTypes').length === 0)
      result['policyTypes'] = listAt(spec, 'egress').length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
    return { ...policy, spec: result };
  },
};

/** Source: pkg/apis/networking/v1 (SetDefaults_IngressClass). */
const INGRESS_CLASS_STRATEGY: Strategy = {
  generation: true,
  fillIn: (ingressClass) => {
    const spec = objectAt(ingressClass, 'spec') ?? {};
    const parameters = objectAt(spec, 'parameters');
    if (parameters === undefined || (getOwn(parameters, 'scope') ?? null) !== null) return ingressClass;
    return { ...ingressClass, spec: { ...spec, parameters: { ...parameters, scope: 'Cluster' } } };
  },
};

/** Source: pkg/apis/discovery/v1 (SetDefaults_EndpointPort), pkg/registry/discovery/endpointslice (dropTopologyOnV1). */
const ENDPOINT_SLICE_STRATEGY: Strategy = {
  generation: true,
  fillIn: (slice) => {
    if (!Array.isArray(slice['ports'])) return slice;
    const ports = slice['ports'].map((port) =>
      isObject(port) ? { name: '', protocol: 'TCP', ...port } : port,
    );
    return { ...slice, ports };
  },
  onCreate: withoutTopology,
  onUpdate: withoutTopology,
};

/** Source: pkg/apis/apiregistration/v1 (SetDefaults_ServiceReference) of kube-aggregator. */
const API_SERVICE_STRATEGY: Strategy = {
  fillIn: (apiService) => {
    const spec = objectAt(apiService, 'spec');
    const service = objectAt(spec, 'service');
    if (service === undefined) return apiService;
    return { ...apiService, spec: { ...spec, service: { port: 443, ...service } } };
  },
};

/** Source: pkg/apis/core/v1 (SetDefaults_Endpoints). */
const ENDPOINTS_STRATEGY: Strategy = {
  fillIn: (endpoints) =>
    Array.isArray(endpoints['subsets'])
      ? { ...endpoints, subsets: endpoints['subsets'].map(withPortProtocols) }
      : endpoints,
};

/**
 * `podCIDR` is the first item of `podCIDRs`. Source: pkg/apis/core/v1
 * (Convert_v1_NodeSpec_To_core_NodeSpec).
 */
const NODE_STRATEGY: Strategy = {
  keepsStatus: true,
  fillIn: (node) => withAllocatable(withPodRanges(node)),
};

/** A new namespace gets its name as a label, the phase Active and the finalizer `kubernetes`. */
const NAMESPACE_STRATEGY: Strategy = {
  fillIn: (object) => {
    const metadata = objectAt(object, 'metadata') ?? {};
    const labels = { ...objectAt(metadata, 'labels'), [NAME_LABEL]: textAt(metadata, 'name') };
    return { ...object, metadata: { ...metadata, labels } };
  },
  onCreate: (object) => ({ ...object, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }),
  onUpdate: (object, old, subresource) => {
    if (subresource === 'finalize') return object;
    const spec = getOwn(old, 'spec');
    return spec === undefined ? object : { ...object, spec };
  },
  onDelete: (object): JsonObject => ({
    ...object,
    status: { ...objectAt(object, 'status'), phase: 'Terminating' },
  }),
};

/** By `plural.group`. */
const STRATEGIES: Readonly<Record<string, Strategy>> = {
  namespaces: NAMESPACE_STRATEGY,
  secrets: SECRET_STRATEGY,
  services: SERVICE_STRATEGY,
  pods: POD_STRATEGY,
  nodes: NODE_STRATEGY,
  endpoints: ENDPOINTS_STRATEGY,
  limitranges: LIMIT_RANGE_STRATEGY,
  persistentvolumeclaims: CLAIM_STRATEGY,
  persistentvolumes: VOLUME_STRATEGY,
  podtemplates: POD_TEMPLATE_STRATEGY,
  replicationcontrollers: REPLICATION_CONTROLLER_STRATEGY,
  'deployments.apps': DEPLOYMENT_STRATEGY,
  'replicasets.apps': REPLICA_SET_STRATEGY,
  'statefulsets.apps': STATEFUL_SET_STRATEGY,
  'daemonsets.apps': DAEMON_SET_STRATEGY,
  'jobs.batch': JOB_STRATEGY,
  'cronjobs.batch': CRON_JOB_STRATEGY,
  'ingresses.networking.k8s.io': WITH_GENERATION,
  'ingressclasses.networking.k8s.io': INGRESS_CLASS_STRATEGY,
  'networkpolicies.networking.k8s.io': NETWORK_POLICY_STRATEGY,
  'horizontalpodautoscalers.autoscaling': AUTOSCALER_STRATEGY,
  'poddisruptionbudgets.policy': WITH_GENERATION,
  'rolebindings.rbac.authorization.k8s.io': BINDING_STRATEGY,
  'clusterrolebindings.rbac.authorization.k8s.io': BINDING_STRATEGY,
  'certificatesigningrequests.certificates.k8s.io': CERTIFICATE_STRATEGY,
  'customresourcedefinitions.apiextensions.k8s.io': CRD_STRATEGY,
  'priorityclasses.scheduling.k8s.io': PRIORITY_CLASS_STRATEGY,
  'storageclasses.storage.k8s.io': STORAGE_CLASS_STRATEGY,
  'endpointslices.discovery.k8s.io': ENDPOINT_SLICE_STRATEGY,
  'apiservices.apiregistration.k8s.io': API_SERVICE_STRATEGY,
  'validatingadmissionpolicies.admissionregistration.k8s.io': ADMISSION_POLICY_STRATEGY,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': POLICY_BINDING_STRATEGY,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': MUTATING_WEBHOOK_STRATEGY,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': VALIDATING_WEBHOOK_STRATEGY,
};

const RBAC_GROUP = 'rbac.authorization.k8s.io';

const NAME_LABEL = 'kubernetes.io/metadata.name';

export function strategyOf(ref: ResourceRef): Strategy {
  if (!ref.definition.builtIn) return CUSTOM;
  const key = groupResource(ref.definition);
  return Object.hasOwn(STRATEGIES, key) ? (STRATEGIES[key] as Strategy) : PLAIN;
}

/** `stringData` is write-only: it goes into `data`. */
function withEncodedData(object: JsonObject): JsonObject {
  const data: JsonObject = { ...objectAt(object, 'data') };
  const plain = objectAt(object, 'stringData');
  if (plain === undefined) return object;
  for (const [key, value] of Object.entries(plain))
    setOwn(data, key, Buffer.from(String(value as string), 'utf8').toString('base64'));
  const result: JsonObject = { ...object, data };
  delete result['stringData'];
  return result;
}

function withGroup(subject: JsonValue): JsonValue {
  if (!isObject(subject) || textAt(subject, 'apiGroup') !== '') return subject;
  const kind = textAt(subject, 'kind');
  return kind === 'User' || kind === 'Group' ? { ...subject, apiGroup: RBAC_GROUP } : subject;
}

function withDefaultFields(object: JsonObject, defaults: JsonObject): JsonObject {
  const missing = Object.entries(defaults).filter(([field]) => !Object.hasOwn(object, field));
  return { ...object, ...Object.fromEntries(missing) };
}

function changedFields(
  object: JsonObject,
  old: JsonObject,
  fields: readonly string[],
): readonly FieldProblem[] {
  return fields
    .filter((field) => !deepEqual(getOwn(object, field), getOwn(old, field)))
    .map((field) => invalidValue(field, getOwn(object, field), IMMUTABLE));
}

/** Source: kubernetes `pkg/apis/admissionregistration/v1/defaults.go`. */
function withMatchDefaults(spec: JsonObject, key: string): JsonObject {
  const resources = objectAt(spec, key);
  if (resources === undefined) return spec;
  const filled: JsonObject = {
    ...resources,
    matchPolicy: resources['matchPolicy'] ?? 'Equivalent',
    namespaceSelector: resources['namespaceSelector'] ?? {},
    objectSelector: resources['objectSelector'] ?? {},
  };
  for (const rules of ['resourceRules', 'excludeResourceRules'])
    if (Array.isArray(resources[rules]))
      filled[rules] = listAt(resources, rules).map(
        (rule): JsonValue => (isObject(rule) ? withScope(rule) : rule),
      );
  return { ...spec, [key]: filled };
}

function isFirstVersion(autoscaler: JsonObject): boolean {
  return textAt(autoscaler, 'apiVersion') === 'autoscaling/v1';
}

const CPU_TARGET = 'targetCPUUtilizationPercentage';
const DEFAULT_CPU_TARGET = 80;
const METRICS_ANNOTATION = 'autoscaling.alpha.kubernetes.io/metrics';

function withCpuTarget(autoscaler: JsonObject): JsonObject {
  const spec = objectAt(autoscaler, 'spec') ?? {};
  const annotations = objectAt(objectAt(autoscaler, 'metadata'), 'annotations') ?? {};
  const named = getOwn(spec, CPU_TARGET) !== undefined || Object.hasOwn(annotations, METRICS_ANNOTATION);
  return named ? autoscaler : { ...autoscaler, spec: { ...spec, [CPU_TARGET]: DEFAULT_CPU_TARGET } };
}

function cpuMetric(): JsonValue {
  const target = { type: 'Utilization', averageUtilization: DEFAULT_CPU_TARGET };
  return { type: 'Resource', resource: { name: 'cpu', target } };
}

const SCALE_UP: JsonObject = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
};
const SCALE_DOWN: JsonObject = {
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
};

function withScalingRules(behavior: JsonObject): JsonObject {
  return {
    scaleUp: { ...structuredClone(SCALE_UP), ...objectAt(behavior, 'scaleUp') },
    scaleDown: { ...structuredClone(SCALE_DOWN), ...objectAt(behavior, 'scaleDown') },
  };
}

function withPortProtocols(rule: JsonValue): JsonValue {
  if (!isObject(rule) || !Array.isArray(rule['ports'])) return rule;
  return {
    ...rule,
    ports: rule['ports'].map((port) => (isObject(port) ? { protocol: 'TCP', ...port } : port)),
  };
}

function withoutTopology(slice: JsonObject): JsonObject {
  if (!Array.isArray(slice['endpoints'])) return slice;
  const endpoints = slice['endpoints'].map((one) =>
    isObject(one) ? withoutKey(one, 'deprecatedTopology') : one,
  );
  return { ...slice, endpoints };
}

function withPodRanges(node: JsonObject): JsonObject {
  const spec = objectAt(node, 'spec') ?? {};
  const [one, all] = [textAt(spec, 'podCIDR'), listAt(spec, 'podCIDRs')];
  if (one !== '' && all[0] !== one) return { ...node, spec: { ...spec, podCIDRs: [one] } };
  return one === '' && typeof all[0] === 'string' ? { ...node, spec: { ...spec, podCIDR: all[0] } } : node;
}

/** Source: pkg/apis/core/v1 (SetDefaults_NodeStatus). */
function withAllocatable(node: JsonObject): JsonObject {
  const status = objectAt(node, 'status');
  const capacity = objectAt(status, 'capacity');
  if (capacity === undefined || objectAt(status, 'allocatable') !== undefined) return node;
  return { ...node, status: { ...status, allocatable: capacity } };
}
