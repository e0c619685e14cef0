import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { deepEqual, getOwn, isObject, listAt, objectAt, textAt } from '../../json/json-value.ts';

const TRAFFIC = 'externalTrafficPolicy';

/** Fields that only some Service types have, with these types. */
const DEPENDENT: readonly (readonly [types: readonly string[], fields: readonly string[]])[] = [
  [
    ['ClusterIP', 'NodePort', 'LoadBalancer'],
    ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'],
  ],
  [['LoadBalancer'], ['allocateLoadBalancerNodePorts', 'loadBalancerClass', 'healthCheckNodePort']],
];

/**
 * When a Service changes its type, fields that the new type does not have are removed, if the
 * update did not change them. Source: pkg/registry/core/service (dropTypeDependentFields).
 */
export function withoutOldType(service: JsonObject, old: JsonObject): JsonObject {
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
export function isReachableFromOutside(spec: JsonObject): boolean {
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
