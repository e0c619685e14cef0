import { parseIp } from '@berth/kube-cel/library/ip-address';
import { dns1035Label, dnsLabel, dnsSubdomain, qualifiedName } from '@berth/kube/model/selector/name-rules';
import {
  type JsonObject,
  getOwn,
  isObject,
  listAt,
  numberAt,
  objectAt,
  textAt,
  textsAt,
} from '../../json/json-value.ts';
import type { FieldReporter, KindRules } from '../values/field-reporter.ts';
import { checkEndpointIp, checkLegacyCidr, checkLegacyIp, parseLegacyIp } from '../values/ip-rules.ts';
import { checkLabelMap } from '../values/metadata-rules.ts';
import { checkPort, checkPortOrName, PROTOCOLS } from '../values/port-rules.ts';

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];

/** Source: pkg/apis/core/validation (ValidateServiceCreate, ValidateServiceUpdate). */
export const SERVICE_RULES: KindRules = {
  name: dns1035Label,
  validate: (service, at, old) => {
    const spec = objectAt(service, 'spec') ?? {};
    const place = at.at('spec');
    if (!checkAllocation(spec, objectAt(old, 'spec'), place)) return;
    if (old !== undefined) checkChange(spec, objectAt(old, 'spec') ?? {}, place);
    checkType(spec, place);
    checkPorts(spec, place);
    checkLabelMap(spec, 'selector', place);
    checkAffinity(spec, place);
    checkClusterIps(spec, place);
    for (const [index, ip] of listAt(spec, 'externalIPs').entries()) {
      const at = place.at('externalIPs').at(index);
      if (typeof ip === 'string' && checkLegacyIp(ip, at)) checkEndpointIp(ip, at);
    }
    place.at('type').oneOfIfSet(textAt(spec, 'type'), TYPES);
    checkNodePorts(spec, place);
    checkEqualPorts(spec, place);
    checkBalancer(spec, place);
    checkTraffic(spec, place);
  },
};

const NONE = 'None';
const FAMILIES = ['IPv4', 'IPv6'];
const FAMILY_POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

/** `spec.type` with its default. */
function serviceTypeOf(spec: JsonObject): string {
  return textAt(spec, 'type') || 'ClusterIP';
}

const NODE_PORTS = { first: 30_000, last: 32_767 } as const;

/**
 * The API server allocates addresses and node ports before it validates. A failed allocation is the
 * only problem that it reports.
 * @returns whether the allocation succeeds, so that the other checks follow
 */
function checkAllocation(spec: JsonObject, old: JsonObject | undefined, at: FieldReporter): boolean {
  const known = at.problems.length;
  const type = serviceTypeOf(spec);
  const ips = type === 'ExternalName' ? [] : clusterIpsOf(spec);
  const kept = new Set(old === undefined ? [] : clusterIpsOf(old));
  for (const [index, ip] of ips.entries())
    if (ip !== 'None' && !kept.has(ip)) checkLegacyIp(ip, at.at('clusterIPs').at(index));
  if (at.problems.length > known) return false;
  if (type !== 'NodePort' && type !== 'LoadBalancer') return true;
  const taken = new Set(
    listAt(old, 'ports').map((port) => (isObject(port) ? numberAt(port, 'nodePort') : 0)),
  );
  at.each(spec, 'ports', (port, place) => {
    const number = numberAt(port, 'nodePort') ?? 0;
    if (number === 0 || taken.has(number) || at.problems.length > known) return;
    if (number >= NODE_PORTS.first && number <= NODE_PORTS.last) return;
    const range = `${String(NODE_PORTS.first)}-${String(NODE_PORTS.last)}`;
    const detail = `provided port is not in the valid range. The range of valid ports is ${range}`;
    place.at('nodePort').invalid(number, detail);
  });
  return at.problems.length === known;
}

function checkChange(spec: JsonObject, old: JsonObject, at: FieldReporter): void {
  checkClusterIpChange(spec, old, at);
  const [before, now] = [getOwn(old, 'loadBalancerClass'), getOwn(spec, 'loadBalancerClass')];
  const isBalancer = serviceTypeOf(spec) === 'LoadBalancer';
  if (serviceTypeOf(old) === 'LoadBalancer' && isBalancer && before !== now)
    at.at('loadBalancerClass').invalid(now, 'may not change once set');
  checkBalancerClass(spec, at);
  const ports = [numberAt(old, 'healthCheckNodePort'), numberAt(spec, 'healthCheckNodePort')];
  if (needsHealthCheck(old) && needsHealthCheck(spec) && ports[0] !== undefined && ports[0] !== ports[1])
    at.at('healthCheckNodePort').forbidden('field is immutable');
}

function checkType(spec: JsonObject, at: FieldReporter): void {
  const type = serviceTypeOf(spec);
  if (listAt(spec, 'ports').length === 0 && !isHeadless(spec) && type !== 'ExternalName')
    at.at('ports').required();
  if ((type === 'LoadBalancer' || type === 'NodePort') && isHeadless(spec))
    at.at('clusterIPs').at(0).invalid('None', `may not be set to 'None' for ${type} services`);
  if (type !== 'ExternalName') return;
  const none = 'may not be set for ExternalName services';
  if (clusterIpsOf(spec).length > 0) at.at('clusterIPs').forbidden(none);
  if (listAt(spec, 'ipFamilies').length > 0) at.at('ipFamilies').forbidden(none);
  if (getOwn(spec, 'ipFamilyPolicy') !== undefined) at.at('ipFamilyPolicy').forbidden(none);
  const name = textAt(spec, 'externalName').replace(/\.$/, '');
  if (name === '') at.at('externalName').required();
  else at.at('externalName').validName(name, dnsSubdomain);
}

function checkPorts(spec: JsonObject, at: FieldReporter): void {
  const names = new Set<string>();
  const several = listAt(spec, 'ports').length > 1;
  at.each(spec, 'ports', (port, place) => {
    const name = textAt(port, 'name');
    if (name === '' && several) place.at('name').required();
    if (name !== '') {
      place.at('name').validName(name, dnsLabel);
      if (names.has(name)) place.at('name').duplicate(name);
      names.add(name);
    }
    checkPort(numberAt(port, 'port'), place.at('port'));
    place.at('protocol').oneOfIfSet(textAt(port, 'protocol'), PROTOCOLS);
    checkPortOrName(targetOf(port), place.at('targetPort'));
    const protocol = getOwn(port, 'appProtocol');
    if (typeof protocol === 'string') place.at('appProtocol').validName(protocol, qualifiedName);
  });
}

/** The default of `targetPort` is the port itself. */
function targetOf(port: JsonObject): string | number | undefined {
  const target = getOwn(port, 'targetPort');
  const isSet = (typeof target === 'string' || typeof target === 'number') && target !== '' && target !== 0;
  return isSet ? target : numberAt(port, 'port');
}

const AFFINITIES = ['ClientIP', 'None'];
const DAY_SECONDS = 86_400;

function checkAffinity(spec: JsonObject, at: FieldReporter): void {
  const affinity = textAt(spec, 'sessionAffinity');
  at.at('sessionAffinity').oneOfIfSet(affinity, AFFINITIES);
  const timeout = numberAt(objectAt(objectAt(spec, 'sessionAffinityConfig'), 'clientIP'), 'timeoutSeconds');
  if (affinity !== 'ClientIP' || timeout === undefined || (timeout > 0 && timeout <= DAY_SECONDS)) return;
  const place = at.at('sessionAffinityConfig').at('clientIP').at('timeoutSeconds');
  place.invalid(timeout, `must be greater than 0 and less than ${String(DAY_SECONDS)}`);
}

function checkNodePorts(spec: JsonObject, at: FieldReporter): void {
  const type = serviceTypeOf(spec);
  if (type === 'ClusterIP')
    at.each(spec, 'ports', (port, place) => {
      if ((numberAt(port, 'nodePort') ?? 0) !== 0)
        place.at('nodePort').forbidden("may not be used when `type` is 'ClusterIP'");
    });
  const taken = new Set<string>();
  at.each(spec, 'ports', (port, place) => {
    const number = numberAt(port, 'nodePort') ?? 0;
    if (number === 0) return;
    const key = `${protocolOf(port)}/${String(number)}`;
    if (taken.has(key)) place.at('nodePort').duplicate(number);
    taken.add(key);
  });
}

const protocolOf = (port: JsonObject): string => textAt(port, 'protocol') || 'TCP';

function checkEqualPorts(spec: JsonObject, at: FieldReporter): void {
  const seen = new Set<string>();
  at.each(spec, 'ports', (port, place) => {
    const key = `${protocolOf(port)}/${String(numberAt(port, 'port') ?? 0)}`;
    if (seen.has(key)) place.duplicate({ port: numberAt(port, 'port') ?? 0, protocol: protocolOf(port) });
    seen.add(key);
  });
}

const ONLY_BALANCER = "may only be used when `type` is 'LoadBalancer'";

function checkBalancer(spec: JsonObject, at: FieldReporter): void {
  const isBalancer = serviceTypeOf(spec) === 'LoadBalancer';
  const ranges = listAt(spec, 'loadBalancerSourceRanges');
  if (ranges.length > 0) {
    const place = at.at('LoadBalancerSourceRanges');
    if (!isBalancer) place.forbidden(ONLY_BALANCER);
    for (const [index, range] of ranges.entries())
      if (typeof range === 'string') checkLegacyCidr(range.trim(), place.at(index));
  }
  if (getOwn(spec, 'allocateLoadBalancerNodePorts') !== undefined && !isBalancer)
    at.at('allocateLoadBalancerNodePorts').forbidden(ONLY_BALANCER);
  checkBalancerClass(spec, at);
}

function checkBalancerClass(spec: JsonObject, at: FieldReporter): void {
  const name = getOwn(spec, 'loadBalancerClass');
  if (typeof name !== 'string') return;
  if (serviceTypeOf(spec) === 'LoadBalancer') at.at('loadBalancerClass').validName(name, qualifiedName);
  else at.at('loadBalancerClass').forbidden(ONLY_BALANCER);
}

function needsHealthCheck(spec: JsonObject): boolean {
  return serviceTypeOf(spec) === 'LoadBalancer' && textAt(spec, 'externalTrafficPolicy') === 'Local';
}

const POLICIES = ['Cluster', 'Local'];
const DISTRIBUTIONS = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];

function checkTraffic(spec: JsonObject, at: FieldReporter): void {
  const type = serviceTypeOf(spec);
  const external = textAt(spec, 'externalTrafficPolicy');
  const reachable =
    type === 'LoadBalancer' ||
    type === 'NodePort' ||
    (type === 'ClusterIP' && listAt(spec, 'externalIPs').length > 0);
  if (reachable) at.at('externalTrafficPolicy').oneOfIfSet(external, POLICIES);
  else if (external !== '')
    at.at('externalTrafficPolicy').invalid(external, 'may only be set for externally-accessible services');
  const health = numberAt(spec, 'healthCheckNodePort') ?? 0;
  if (health !== 0 && needsHealthCheck(spec)) checkPort(health, at.at('healthCheckNodePort'));
  else if (health !== 0) {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    at.at('healthCheckNodePort').invalid(health, detail);
  }
  at.at('internalTrafficPolicy').oneOfIfPresent(getOwn(spec, 'internalTrafficPolicy'), POLICIES);
  at.at('trafficDistribution').oneOfIfPresent(getOwn(spec, 'trafficDistribution'), DISTRIBUTIONS);
}

/** All cluster IPs of a Service, the primary one first. */
function clusterIpsOf(spec: JsonObject): readonly string[] {
  return textsAt(spec, 'clusterIPs');
}

/** Whether the Service has no cluster IP, on purpose (`None`). */
function isHeadless(spec: JsonObject): boolean {
  const ips = clusterIpsOf(spec);
  return ips.length === 1 && ips[0] === NONE;
}

const isExternalName = (spec: JsonObject): boolean => textAt(spec, 'type') === 'ExternalName';

/** Source: pkg/apis/core/validation (ValidateServiceClusterIPsRelatedFields). */
function checkClusterIps(spec: JsonObject, at: FieldReporter): void {
  if (isExternalName(spec)) return;
  const [single, ips] = [textAt(spec, 'clusterIP'), clusterIpsOf(spec)];
  const place = at.at('clusterIPs');
  if (single !== '' && ips.length === 0) place.required();
  else if (single !== '' && ips[0] !== single) place.invalid([...ips], 'first value must match `clusterIP`');
  else if (single === '' && ips.length > 0)
    place.invalid([...ips], 'must be empty when `clusterIP` is not specified');
  checkFamilies(spec, at);
  const valid = ips.map((_ip, index) => checkClusterIp(ips, index, place)).every(Boolean);
  if (ips.length > 2) place.invalid([...ips], 'may only hold up to 2 values');
  if (!valid) return;
  const families = ips.map((ip) => parseLegacyIp(ip)?.family);
  if (ips.length > 1 && new Set(families).size !== 2)
    place.invalid([...ips], 'may specify no more than one IP for each IP family');
  if (isHeadless(spec)) return;
  for (const [index, family] of textsAt(spec, 'ipFamilies').entries()) {
    const ip = ips[index];
    if (ip === undefined || family === `IPv${String(parseIp(ip)?.family)}`) continue;
    const detail = `expected an ${family} value as indicated by \`ipFamilies[${String(index)}]\``;
    if (FAMILIES.includes(family)) place.at(index).invalid(ip, detail);
  }
}

/** @returns whether it is an IP address, or the only value `None` */
function checkClusterIp(ips: readonly string[], index: number, at: FieldReporter): boolean {
  const ip = ips[index] ?? '';
  if (index === 0 && ip === NONE) {
    if (ips.length > 1) at.invalid([...ips], "'None' must be the first and only value");
    return ips.length === 1;
  }
  return checkLegacyIp(ip, at.at(index));
}

function checkFamilies(spec: JsonObject, at: FieldReporter): void {
  const seen = new Set<string>();
  for (const [index, family] of textsAt(spec, 'ipFamilies').entries()) {
    const place = at.at('ipFamilies').at(index);
    if (!FAMILIES.includes(family)) place.unsupported(family, FAMILIES);
    if (seen.has(family)) place.duplicate(family);
    seen.add(family);
  }
  at.at('ipFamilyPolicy').oneOfIfPresent(getOwn(spec, 'ipFamilyPolicy'), FAMILY_POLICIES);
}

/**
 * An assigned address cannot change. Source: pkg/apis/core/validation
 * (validateUpgradeDowngradeClusterIPs).
 */
function checkClusterIpChange(spec: JsonObject, old: JsonObject, at: FieldReporter): void {
  if (isExternalName(spec) || isExternalName(old) || (isHeadless(spec) && isHeadless(old))) return;
  const [before, now] = [clusterIpsOf(old), clusterIpsOf(spec)];
  if (before.length > 0 && now.length === 0) {
    at.at('clusterIPs').at(0).invalid([], 'primary clusterIP can not be unset');
    return;
  }
  for (const [index, ip] of before.entries()) {
    const changed = now[index] !== ip && (index === 0 || before.length === now.length);
    if (changed)
      at.at('clusterIPs')
        .at(index)
        .invalid([...now], 'may not change once set');
  }
  if (before.length > 1 && now.length === 1 && textAt(spec, 'ipFamilyPolicy') !== 'SingleStack') {
    const detail = "must be set to 'SingleStack' when releasing the secondary clusterIP";
    at.at('ipFamilyPolicy').invalid(getOwn(spec, 'ipFamilyPolicy'), detail);
  }
}
