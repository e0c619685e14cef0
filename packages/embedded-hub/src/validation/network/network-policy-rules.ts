import type { JsonObject } from '../../json/json-value.ts';
import { getOwn, listAt, numberAt, objectAt, textAt, textsAt } from '../../json/json-value.ts';
import { checkLegacyCidr, isWithin, parseLegacyCidr } from '../values/ip-rules.ts';
import type { KindRules } from '../values/kind-rules.ts';
import type { FieldReporter } from '../values/field-reporter.ts';
import { checkPort, portName } from '../values/port-rules.ts';
import { checkSelector } from '../values/selector-rules.ts';

const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];
const TYPES = ['Ingress', 'Egress'];

/** Source: pkg/apis/networking/validation (ValidateNetworkPolicy). */
export const NETWORK_POLICY_RULES: KindRules = {
  metadataChecks: 4,
  validate: (policy, at, old) => {
    const spec = objectAt(policy, 'spec') ?? {};
    checkSpec(spec, at.at('spec'));
    // The API server validates an update twice, and reports each problem twice.
    if (old !== undefined) checkSpec(spec, at.at('spec'));
  },
};

function checkSpec(spec: JsonObject, at: FieldReporter): void {
  checkSelector(objectAt(spec, 'podSelector'), at.at('podSelector'));
  for (const [rules, peers] of [
    ['ingress', 'from'],
    ['egress', 'to'],
  ] as const)
    at.each(spec, rules, (rule, place) => {
      place.each(rule, 'ports', checkPolicyPort);
      place.each(rule, peers, checkPeer);
    });
  const types = textsAt(spec, 'policyTypes');
  if (types.length > TYPES.length)
    at.at('policyTypes').invalid([...types], 'may not specify more than two policyTypes');
  else
    for (const [index, type] of types.entries())
      if (!TYPES.includes(type)) at.at('policyTypes').at(index).unsupported(type, TYPES);
}

function checkPolicyPort(port: JsonObject, at: FieldReporter): void {
  at.at('protocol').oneOfIfPresent(getOwn(port, 'protocol'), PROTOCOLS);
  const [value, end] = [getOwn(port, 'port'), numberAt(port, 'endPort')];
  const place = at.at('endPort');
  if (typeof value === 'number') {
    checkPort(value, at.at('port'));
    if (end !== undefined && end < value) place.invalid(value, 'must be greater than or equal to `port`');
    if (end !== undefined) checkPort(end, place);
  } else if (typeof value === 'string') {
    if (end !== undefined) place.invalid(end, 'may not be specified when `port` is non-numeric');
    at.at('port').validName(value, portName);
  } else if (end !== undefined) place.invalid(end, 'may not be specified when `port` is not specified');
}

function checkPeer(peer: JsonObject, at: FieldReporter): void {
  const block = objectAt(peer, 'ipBlock');
  const selectors = ['podSelector', 'namespaceSelector'].filter((key) => objectAt(peer, key) !== undefined);
  for (const key of selectors) checkSelector(objectAt(peer, key), at.at(key));
  if (block !== undefined) checkBlock(block, at.at('ipBlock'));
  if (block === undefined && selectors.length === 0) at.required('must specify a peer');
  else if (block !== undefined && selectors.length > 0)
    at.forbidden('may not specify both ipBlock and another peer');
}

function checkBlock(block: JsonObject, at: FieldReporter): void {
  const text = textAt(block, 'cidr');
  if (text === '') {
    at.at('cidr').required();
    return;
  }
  if (!checkLegacyCidr(text, at.at('cidr'))) return;
  const whole = parseLegacyCidr(text);
  for (const [index, except] of listAt(block, 'except').entries()) {
    const place = at.at('except').at(index);
    if (typeof except !== 'string' || !checkLegacyCidr(except, place)) continue;
    const part = parseLegacyCidr(except);
    if (whole === undefined || part === undefined) continue;
    if (!isWithin(part, whole) || part.prefix <= whole.prefix)
      place.invalid(except, 'must be a strict subset of `cidr`');
  }
}
