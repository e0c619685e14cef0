import { dnsLabel, labelValue, pathSegment, qualifiedName } from '../../core/model/selector/name-rules.ts';
import type { JsonObject } from '../json/json-value.ts';
import { deepEqual, getOwn, numberAt, objectAt, textAt, textsAt } from '../json/json-value.ts';
import { checkLegacyCidr, parseLegacyCidr } from './values/ip-rules.ts';
import type { KindRules } from './values/kind-rules.ts';
import type { FieldReporter } from './values/field-reporter.ts';
import { TAINT_EFFECTS } from './pod/scheduling.ts';
import { checkResourceQuantity, eachQuantity } from './values/quantity-rules.ts';

/** Source: pkg/apis/core/validation (ValidateNamespace). */
export const NAMESPACE_RULES: KindRules = { name: dnsLabel, metadataChecks: 4, validate: () => undefined };

/** Source: pkg/apis/core/validation (ValidateServiceAccount). */
export const SERVICE_ACCOUNT_RULES: KindRules = { metadataChecks: 4, validate: () => undefined };

/** Source: pkg/apis/core/validation (ValidateNode, ValidateNodeUpdate). */
export const NODE_RULES: KindRules = {
  metadataChecks: 4,
  validate: (node, at, old) => {
    const [spec, status] = [objectAt(node, 'spec') ?? {}, objectAt(node, 'status')];
    checkTaints(spec, at.at('metadata'));
    checkNodeResources(status, at);
    checkCidrs(spec, at.at('spec').at('podCIDRs'));
    if (old === undefined) return;
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
    place.at('key').named(key, qualifiedName);
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

const EVENT_LIMIT = 128;
const NOTE_LIMIT = 1024;
/** events.k8s.io names two fields differently; problems are reported with the names of core/v1. */
const isNew = (event: JsonObject): boolean => textAt(event, 'apiVersion') !== 'v1';

/** Source: pkg/apis/core/validation/events.go (ValidateEventCreate, ValidateEventUpdate). */
export const EVENT_RULES: KindRules = {
  name: pathSegment,
  metadataChecks: 2,
  anyFinalizer: true,
  validate: checkEvent,
};

/** Events of the newer group. */
export const NEW_EVENT_RULES: KindRules = { validate: checkEvent };

function checkEvent(event: JsonObject, at: FieldReporter, old: JsonObject | undefined): void {
  const fresh = isNew(event);
  checkOldEvent(event, fresh, at);
  if (!fresh) return;
  if (old === undefined) checkNewEvent(event, at);
  else checkEventChange(event, old, at);
}

function checkOldEvent(event: JsonObject, fresh: boolean, at: FieldReporter): void {
  const object = objectAt(event, fresh ? 'regarding' : 'involvedObject');
  const [own, others] = [textAt(objectAt(event, 'metadata'), 'namespace'), textAt(object, 'namespace')];
  const place = at.at('involvedObject').at('namespace');
  const timed = textAt(event, 'eventTime') !== '';
  const home = timed ? ['default', 'kube-system'] : ['', 'default'];
  const misplaced = others === '' ? !home.includes(own) : !timed && own !== others;
  if (misplaced) place.invalid(others, 'does not match event.namespace');
  if (timed) checkTimedEvent(event, fresh, at);
}

function checkTimedEvent(event: JsonObject, fresh: boolean, at: FieldReporter): void {
  const name = fresh ? 'reportingController' : 'reportingComponent';
  const controller = textAt(event, name);
  if (controller === '') at.at(name).required();
  at.at(name).named(controller, qualifiedName);
  for (const key of ['reportingInstance', 'action', 'reason']) {
    const text = textAt(event, key);
    if (text === '') at.at(key).required();
    if (text.length > EVENT_LIMIT)
      at.at(key).invalid('', `can have at most ${String(EVENT_LIMIT)} characters`);
  }
  if (textAt(event, fresh ? 'note' : 'message').length > NOTE_LIMIT)
    at.at('message').invalid('', `can have at most ${String(NOTE_LIMIT)} characters`);
}

function checkNewEvent(event: JsonObject, at: FieldReporter): void {
  checkSeries(event, at);
  if (textAt(event, 'eventTime') === '') at.at('eventTime').required();
  const type = textAt(event, 'type');
  if (type !== 'Normal' && type !== 'Warning') at.at('type').invalid('', `has invalid value: ${type}`);
  for (const [key, old] of [
    ['deprecatedFirstTimestamp', 'firstTimestamp'],
    ['deprecatedLastTimestamp', 'lastTimestamp'],
  ] as const)
    if (textAt(event, key) !== '') at.at(old).invalid('', 'needs to be unset');
  if ((numberAt(event, 'deprecatedCount') ?? 0) !== 0) at.at('count').invalid('', 'needs to be unset');
  const source = objectAt(event, 'deprecatedSource');
  if (textAt(source, 'component') !== '' || textAt(source, 'host') !== '')
    at.at('source').invalid('', 'needs to be unset');
}

function checkSeries(event: JsonObject, at: FieldReporter): void {
  const series = objectAt(event, 'series');
  if (series === undefined) return;
  if ((numberAt(series, 'count') ?? 0) < 2) at.at('series.count').invalid('', 'should be at least 2');
  if (textAt(series, 'lastObservedTime') === '') at.at('series.lastObservedTime').required();
}

const FIXED_EVENT_FIELDS = [
  ['regarding', 'involvedObject'],
  ['reason', 'reason'],
  ['note', 'message'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
  ['reason', 'reason'],
  ['type', 'type'],
  ['eventTime', 'eventTime'],
  ['action', 'action'],
  ['related', 'related'],
  ['reportingController', 'reportingController'],
  ['reportingInstance', 'reportingInstance'],
] as const;

function checkEventChange(event: JsonObject, old: JsonObject, at: FieldReporter): void {
  if (!deepEqual(getOwn(event, 'series'), getOwn(old, 'series'))) checkSeries(event, at);
  for (const [key, shown] of FIXED_EVENT_FIELDS)
    at.at(shown).fixed(getOwn(event, key) ?? emptyOf(old, key), getOwn(old, key) ?? emptyOf(event, key));
}

/** An absent string is equal to an empty one. */
function emptyOf(other: JsonObject, key: string): '' | null {
  return typeof getOwn(other, key) === 'string' ? '' : null;
}
