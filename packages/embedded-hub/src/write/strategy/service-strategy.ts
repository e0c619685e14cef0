import {
  type JsonObject,
  type JsonValue,
  deepEqual,
  getOwn,
  isObject,
  listAt,
  objectAt,
  textAt,
  textsAt,
} from '../../json/json-value.ts';
import type { Strategy } from './strategy.ts';

/**
 * Services get the usual defaults. No address is allocated, because the hub routes no traffic.
 * Source: pkg/apis/core/v1 (SetDefaults_Service).
 */
export const SERVICE_STRATEGY: Strategy = {
  fillIn: (object, old) => {
    const spec = objectAt(object, 'spec') ?? {};
    const type = textAt(spec, 'type') || 'ClusterIP';
    const filled: JsonObject = { sessionAffinity: 'None', ...spec, type };
    if (type !== 'ExternalName') filled['internalTrafficPolicy'] ??= 'Cluster';
    if (isReachableFromOutside(filled)) filled['externalTrafficPolicy'] ??= 'Cluster';
    if (type === 'LoadBalancer') filled['allocateLoadBalancerNodePorts'] ??= true;
    fillInAffinity(filled);
    if (Array.isArray(spec['ports'])) filled['ports'] = listAt(spec, 'ports').map(withTarget);
    return withAddressModes({ ...object, spec: filled }, old);
  },
  onCreate: (object) => withAddresses(object, undefined),
  onUpdate: (object, old, subresource) =>
    subresource === '' ? withAddresses(withoutOldType(object, old), old) : object,
};

const TRAFFIC = 'externalTrafficPolicy';

/** Fields that only some Service types have, with these types. */
const DEPENDENT: readonly (readonly [types: readonly string[], fields: readonly string[]])[] = [
  [
    ['ClusterIP', 'NodePort', 'LoadBalancer'],
    ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'],
  ],
  [['LoadBalancer'], ['allocateLoadBalancerNodePorts', 'loadBalancerClass', 'healthCheckNodePort']],
];

/** Source: pkg/apis/core (DefaultClientIPServiceAffinitySeconds). */
const AFFINITY_SECONDS = 10_800;

function fillInAffinity(spec: JsonObject): void {
  if (textAt(spec, 'sessionAffinity') === 'None') delete spec['sessionAffinityConfig'];
  if (textAt(spec, 'sessionAffinity') !== 'ClientIP') return;
  const client = objectAt(objectAt(spec, 'sessionAffinityConfig'), 'clientIP');
  if (client === undefined || getOwn(client, 'timeoutSeconds') === undefined)
    spec['sessionAffinityConfig'] = { clientIP: { timeoutSeconds: AFFINITY_SECONDS } };
}

/** Addresses of a load balancer are its own unless its controller says otherwise. */
function withAddressModes(service: JsonObject, old: JsonObject | undefined): JsonObject {
  const status = objectAt(service, 'status');
  const balancer = objectAt(status, 'loadBalancer');
  if (old === undefined || !Array.isArray(balancer?.['ingress'])) return service;
  if (textAt(objectAt(service, 'spec'), 'type') !== 'LoadBalancer') return service;
  const ingress = balancer['ingress'].map((one) =>
    isObject(one) && textAt(one, 'ip') !== '' ? { ipMode: 'VIP', ...one } : one,
  );
  return { ...service, status: { ...status, loadBalancer: { ...balancer, ingress } } };
}

function withTarget(port: JsonValue): JsonValue {
  if (!isObject(port)) return port;
  const target = port['targetPort'];
  return target === 0 || target === '' ? { ...port, targetPort: port['port'] ?? 0 } : port;
}

/**
 * `clusterIP`, `clusterIPs`, families: fields that the server sets have no owner. Source:
 * pkg/registry/core/service/storage (normalizeClusterIPs, patchAllocatedValues,
 * initIPFamilyFields).
 */
function withAddresses(service: JsonObject, old: JsonObject | undefined): JsonObject {
  const spec: JsonObject = { ...objectAt(service, 'spec') };
  const before = objectAt(old, 'spec');
  fillInAddresses(spec, before);
  if (spec['type'] !== 'ExternalName') fillInFamilies(spec, before);
  return { ...service, spec };
}

/** An update without addresses keeps them. */
function fillInAddresses(spec: JsonObject, old: JsonObject | undefined): void {
  const before = old === undefined || textAt(old, 'type') === 'ExternalName' ? undefined : old;
  const kept = textAt(before, 'clusterIP');
  const sent = textAt(spec, 'clusterIP');
  const unchanged = deepEqual(getOwn(spec, 'clusterIPs'), getOwn(before ?? {}, 'clusterIPs'));
  if (kept !== '' && sent !== kept && unchanged) delete spec['clusterIPs'];
  const allocates = spec['type'] !== 'ExternalName';
  if (allocates && sent === '' && kept !== '' && listAt(spec, 'clusterIPs').length === 0) {
    spec['clusterIP'] = kept;
    spec['clusterIPs'] = [...listAt(before, 'clusterIPs')];
  } else if (sent !== '' && listAt(spec, 'clusterIPs').length === 0) spec['clusterIPs'] = [sent];
}

/** The hub is single-stack IPv4. */
function fillInFamilies(spec: JsonObject, old: JsonObject | undefined): void {
  const withoutPods =
    textAt(spec, 'clusterIP') === 'None' && Object.keys(objectAt(spec, 'selector') ?? {}).length === 0;
  const defaultPolicy = withoutPods ? 'RequireDualStack' : 'SingleStack';
  spec['ipFamilyPolicy'] ??= getOwn(old ?? {}, 'ipFamilyPolicy') ?? defaultPolicy;
  const families = listAt(spec, 'ipFamilies');
  const addresses = textsAt(spec, 'clusterIPs').filter((one) => one !== 'None');
  const found = addresses.map((one) => (one.includes(':') ? 'IPv6' : 'IPv4'));
  const named: JsonValue[] = families.length > 0 ? [...families] : found.length > 0 ? found : ['IPv4'];
  if (withoutPods && named.length === 1 && spec['ipFamilyPolicy'] !== 'SingleStack')
    named.push(named[0] === 'IPv4' ? 'IPv6' : 'IPv4');
  spec['ipFamilies'] = named;
}

/**
 * When a Service changes its type, fields that the new type does not have are removed, if the
 * update did not change them. Source: pkg/registry/core/service (dropTypeDependentFields).
 */
function withoutOldType(service: JsonObject, old: JsonObject): JsonObject {
  const [spec, before] = [objectAt(service, 'spec'), objectAt(old, 'spec')];
  const [type, oldType] = [textAt(spec, 'type'), textAt(before, 'type')];
  if (spec === undefined || before === undefined) return service;
  const result: JsonObject = { ...spec };
  const isNoLongerExposed = isReachableFromOutside(before) && !isReachableFromOutside(spec);
  if (isNoLongerExposed && getOwn(spec, TRAFFIC) === getOwn(before, TRAFFIC)) delete result[TRAFFIC];
  const kept = type === 'LoadBalancer' ? service : withoutBalancer(service);
  if (type === oldType) return { ...kept, spec: result };
  for (const [types, fields] of DEPENDENT) {
    if (!types.includes(oldType) || types.includes(type)) continue;
    for (const field of fields)
      if (deepEqual(getOwn(spec, field), getOwn(before, field))) delete result[field];
  }
  const exposed = ['NodePort', 'LoadBalancer'];
  if (exposed.includes(oldType) && !exposed.includes(type) && keepsNodePorts(spec, before))
    result['ports'] = listAt(spec, 'ports').map(withoutNodePort);
  return { ...kept, spec: result };
}

/** Whether traffic from outside of the cluster reaches it. Source: pkg/api/service (ExternallyAccessible). */
function isReachableFromOutside(spec: JsonObject): boolean {
  const type = textAt(spec, 'type');
  if (type === 'LoadBalancer' || type === 'NodePort') return true;
  return type === 'ClusterIP' && listAt(spec, 'externalIPs').length > 0;
}

function withoutBalancer(service: JsonObject): JsonObject {
  const status = objectAt(service, 'status');
  if (listAt(objectAt(status, 'loadBalancer'), 'ingress').length === 0) return service;
  return { ...service, status: { ...status, loadBalancer: {} } };
}

function keepsNodePorts(spec: JsonObject, old: JsonObject): boolean {
  const taken = new Set(listAt(old, 'ports').map(nodePortOf));
  return listAt(spec, 'ports').every((port) => nodePortOf(port) === 0 || taken.has(nodePortOf(port)));
}

function nodePortOf(port: JsonValue): number {
  const number = isObject(port) ? getOwn(port, 'nodePort') : undefined;
  return typeof number === 'number' ? number : 0;
}

function withoutNodePort(port: JsonValue): JsonValue {
  if (!isObject(port)) return port;
  const { nodePort: _nodePort, ...rest } = port;
  return rest;
}
