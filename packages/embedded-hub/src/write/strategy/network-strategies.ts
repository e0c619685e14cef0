import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { getOwn, isObject, listAt, objectAt, textAt, withoutKey } from '../../json/json-value.ts';
import type { Strategy } from './strategy.ts';

/** Source: pkg/apis/networking/v1 (SetDefaults_NetworkPolicy, SetDefaults_NetworkPolicyPort). */
export const NETWORK_POLICY_STRATEGY: Strategy = {
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

function withPortProtocols(rule: JsonValue): JsonValue {
  if (!isObject(rule) || !Array.isArray(rule['ports'])) return rule;
  return {
    ...rule,
    ports: rule['ports'].map((port) => (isObject(port) ? { protocol: 'TCP', ...port } : port)),
  };
}

/** Source: pkg/apis/networking/v1 (SetDefaults_IngressClass). */
export const INGRESS_CLASS_STRATEGY: Strategy = {
  generation: true,
  fillIn: (ingressClass) => {
    const spec = objectAt(ingressClass, 'spec') ?? {};
    const parameters = objectAt(spec, 'parameters');
    if (parameters === undefined || (getOwn(parameters, 'scope') ?? null) !== null) return ingressClass;
    return { ...ingressClass, spec: { ...spec, parameters: { ...parameters, scope: 'Cluster' } } };
  },
};

/** Source: pkg/apis/discovery/v1 (SetDefaults_EndpointPort), pkg/registry/discovery/endpointslice (dropTopologyOnV1). */
export const ENDPOINT_SLICE_STRATEGY: Strategy = {
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

function withoutTopology(slice: JsonObject): JsonObject {
  if (!Array.isArray(slice['endpoints'])) return slice;
  const endpoints = slice['endpoints'].map((one) =>
    isObject(one) ? withoutKey(one, 'deprecatedTopology') : one,
  );
  return { ...slice, endpoints };
}

/** Source: pkg/apis/apiregistration/v1 (SetDefaults_ServiceReference) of kube-aggregator. */
export const API_SERVICE_STRATEGY: Strategy = {
  fillIn: (apiService) => {
    const spec = objectAt(apiService, 'spec');
    const service = objectAt(spec, 'service');
    if (service === undefined) return apiService;
    return { ...apiService, spec: { ...spec, service: { port: 443, ...service } } };
  },
};

/** Source: pkg/apis/core/v1 (SetDefaults_Endpoints). */
export const ENDPOINTS_STRATEGY: Strategy = {
  fillIn: (endpoints) =>
    Array.isArray(endpoints['subsets'])
      ? { ...endpoints, subsets: endpoints['subsets'].map(withPortProtocols) }
      : endpoints,
};

/**
 * `podCIDR` is the first item of `podCIDRs`. Source: pkg/apis/core/v1
 * (Convert_v1_NodeSpec_To_core_NodeSpec).
 */
export const NODE_STRATEGY: Strategy = {
  keepsStatus: true,
  fillIn: (node) => withAllocatable(withPodRanges(node)),
};

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
