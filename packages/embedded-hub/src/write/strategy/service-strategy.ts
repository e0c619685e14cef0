import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { deepEqual, getOwn, isObject, listAt, objectAt, textAt, textsAt } from '../../json/json-value.ts';
import { isReachableFromOutside, withoutOldType } from './service-type-change.ts';
import type { Strategy } from './strategy.ts';

/** Source: pkg/apis/core (DefaultClientIPServiceAffinitySeconds). */
const AFFINITY_SECONDS = 10_800;

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
