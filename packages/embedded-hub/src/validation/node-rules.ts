import { labelValue, qualifiedName } from '@berth/kube/model/selector/name-rules';
import { type JsonObject, objectAt, textAt, textsAt } from '../json/json-value.ts';
import { checkLegacyCidr, parseLegacyCidr } from './values/ip-rules.ts';
import type { FieldReporter, KindRules } from './values/field-reporter.ts';
import { TAINT_EFFECTS } from './pod/affinity.ts';
import { checkResourceQuantity, eachQuantity } from './values/quantity-rules.ts';

/** Source: pkg/apis/core/validation (ValidateNode, ValidateNodeUpdate). */
export const NODE_RULES: KindRules = {
  metadataChecks: 4,
  validate: (node, at, old) => {
    const [spec, status] = [objectAt(node, 'spec') ?? {}, objectAt(node, 'status')];
    checkTaints(spec, at.at('metadata'));
    checkNodeResources(status, at);
    checkCidrs(spec, at.at('spec').at('podCIDRs'));
    if (old === undefined) return;
    // On an update the API server validates resources and taints twice, and reports each problem twice.
    checkNodeResources(status, at);
    checkNodeChange(spec, objectAt(old, 'spec') ?? {}, at.at('spec'));
    checkTaints(spec, at.at('metadata'));
  },
};

/** Problems of taints are reported under `metadata`, as the API server does. */
function checkTaints(spec: JsonObject, at: FieldReporter): void {
  const seen = new Set<string>();
  at.each(spec, 'taints', (taint, place) => {
    const [key, value, effect] = [textAt(taint, 'key'), textAt(taint, 'value'), textAt(taint, 'effect')];
    place.at('key').validName(key, qualifiedName);
    const faults = labelValue(value);
    if (faults.length > 0) place.at('value').invalid(value, faults.join(';'));
    place.at('effect').oneOf(effect, TAINT_EFFECTS);
    const pair = `${key}:${effect}`;
    if (seen.has(pair)) place.duplicate(taint, 'taints must be unique by key and effect pair');
    seen.add(pair);
  });
}

function checkNodeResources(status: JsonObject | undefined, at: FieldReporter): void {
  for (const list of ['capacity', 'allocatable'])
    eachQuantity(objectAt(status, list), at.at('status').at(list), (name, quantity) =>
      checkResourceQuantity(name, quantity, at.at('status').at(list).at(name)),
    );
}

/** `podCIDR`, the older field, is used unless `podCIDRs` starts with it. */
function podCidrs(spec: JsonObject): readonly string[] {
  const [single, list] = [textAt(spec, 'podCIDR'), textsAt(spec, 'podCIDRs')];
  return single !== '' && list[0] !== single ? [single] : list;
}

function checkCidrs(spec: JsonObject, at: FieldReporter): void {
  const cidrs = podCidrs(spec);
  for (const [index, cidr] of cidrs.entries()) checkLegacyCidr(cidr, at.at(index));
  const families = cidrs.map((cidr) => parseLegacyCidr(cidr)?.address.family);
  if (cidrs.length > 1 && (cidrs.length > 2 || new Set(families).size !== 2))
    at.invalid([...cidrs], 'may specify no more than one CIDR for each IP family');
}

function checkNodeChange(spec: JsonObject, old: JsonObject, at: FieldReporter): void {
  const [before, now] = [podCidrs(old), podCidrs(spec)];
  const cidrs = 'node updates may not change podCIDR except from "" to valid';
  if (before.length > 0 && before.length !== now.length) at.at('podCIDRs').forbidden(cidrs);
  else
    for (const [index, cidr] of before.entries()) if (now[index] !== cidr) at.at('podCIDRs').forbidden(cidrs);
  const provider = textAt(old, 'providerID');
  if (provider !== '' && provider !== textAt(spec, 'providerID'))
    at.at('providerID').forbidden('node updates may not change providerID except from "" to valid');
}
