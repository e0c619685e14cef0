import { parseIp } from '@berth/kube-cel/library/ip-address';
import type { JsonObject } from '../../json/json-value.ts';
import { getOwn, textAt, textsAt } from '../../json/json-value.ts';
import { checkLegacyIp, parseLegacyIp } from '../values/ip-rules.ts';
import type { FieldReporter } from '../values/field-reporter.ts';

const NONE = 'None';
const FAMILIES = ['IPv4', 'IPv6'];
const FAMILY_POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

/** All cluster IPs of a Service, the primary one first. */
export function clusterIpsOf(spec: JsonObject): readonly string[] {
  return textsAt(spec, 'clusterIPs');
}

/** Whether the Service has no cluster IP, on purpose (`None`). */
export function isHeadless(spec: JsonObject): boolean {
  const ips = clusterIpsOf(spec);
  return ips.length === 1 && ips[0] === NONE;
}

const isExternalName = (spec: JsonObject): boolean => textAt(spec, 'type') === 'ExternalName';

/** Source: pkg/apis/core/validation (ValidateServiceClusterIPsRelatedFields). */
export function checkClusterIps(spec: JsonObject, at: FieldReporter): void {
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
export function checkClusterIpChange(spec: JsonObject, old: JsonObject, at: FieldReporter): void {
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
