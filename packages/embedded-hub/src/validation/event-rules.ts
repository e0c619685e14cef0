import { pathSegment, qualifiedName } from '@berth/kube/model/selector/name-rules';
import type { JsonObject } from '../json/json-value.ts';
import { deepEqual, getOwn, numberAt, objectAt, textAt } from '../json/json-value.ts';
import type { KindRules } from './values/kind-rules.ts';
import type { FieldReporter } from './values/field-reporter.ts';

const EVENT_LIMIT = 128;
const NOTE_LIMIT = 1024;

/** Whether an Event has the fields of events.k8s.io/v1. Problems name the fields of core/v1 all the same. */
const isEventsV1 = (event: JsonObject): boolean => textAt(event, 'apiVersion') !== 'v1';

/** Source: pkg/apis/core/validation/events.go (ValidateEventCreate, ValidateEventUpdate). */
export const EVENT_RULES: KindRules = {
  name: pathSegment,
  metadataChecks: 2,
  anyFinalizer: true,
  validate: checkEvent,
};

/** Events of events.k8s.io. Source: the same. */
export const EVENTS_V1_RULES: KindRules = { validate: checkEvent };

function checkEvent(event: JsonObject, at: FieldReporter, old: JsonObject | undefined): void {
  const eventsV1 = isEventsV1(event);
  checkReference(event, eventsV1, at);
  if (!eventsV1) return;
  if (old === undefined) checkCreatedEvent(event, at);
  else checkEventChange(event, old, at);
}

/** Checks what both API groups require: the namespace of the object, and the fields of an Event with a time. */
function checkReference(event: JsonObject, eventsV1: boolean, at: FieldReporter): void {
  const object = objectAt(event, eventsV1 ? 'regarding' : 'involvedObject');
  const [own, others] = [textAt(objectAt(event, 'metadata'), 'namespace'), textAt(object, 'namespace')];
  const place = at.at('involvedObject').at('namespace');
  const timed = textAt(event, 'eventTime') !== '';
  const home = timed ? ['default', 'kube-system'] : ['', 'default'];
  const misplaced = others === '' ? !home.includes(own) : !timed && own !== others;
  if (misplaced) place.invalid(others, 'does not match event.namespace');
  if (timed) checkTimedEvent(event, eventsV1, at);
}

function checkTimedEvent(event: JsonObject, eventsV1: boolean, at: FieldReporter): void {
  const name = eventsV1 ? 'reportingController' : 'reportingComponent';
  const controller = textAt(event, name);
  if (controller === '') at.at(name).required();
  at.at(name).validName(controller, qualifiedName);
  for (const key of ['reportingInstance', 'action', 'reason']) {
    const text = textAt(event, key);
    if (text === '') at.at(key).required();
    if (text.length > EVENT_LIMIT)
      at.at(key).invalid('', `can have at most ${String(EVENT_LIMIT)} characters`);
  }
  if (textAt(event, eventsV1 ? 'note' : 'message').length > NOTE_LIMIT)
    at.at('message').invalid('', `can have at most ${String(NOTE_LIMIT)} characters`);
}

function checkCreatedEvent(event: JsonObject, at: FieldReporter): void {
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

/** Immutable fields with their names in messages. The API server checks `reason` twice. */
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
    at.at(shown).immutable(getOwn(event, key) ?? emptyOf(old, key), getOwn(old, key) ?? emptyOf(event, key));
}

/** An absent string is equal to an empty one. */
function emptyOf(other: JsonObject, key: string): '' | null {
  return typeof getOwn(other, key) === 'string' ? '' : null;
}
