import type { JsonObject, JsonValue } from '@berth/runtime/json/json-value';
import { CONDITION_REASON, COUNT_OR_PERCENT, DURATION_OR_NONE, QUALIFIED_NAME } from './patterns.ts';

export const string = (more: More = {}): JsonObject => ({ type: 'string', ...more });

export const integer = (more: More = {}): JsonObject => ({ type: 'integer', ...more });

export const int64 = (more: More = {}): JsonObject => integer({ format: 'int64', ...more });
export const time = (more: More = {}): JsonObject => string({ format: 'date-time', ...more });

export const condition = object({
  'lastTransitionTime!': time(),
  'message!': string({ maxLength: 32768 }),
  observedGeneration: int64({ minimum: 0 }),
  'reason!': string({ maxLength: 1024, minLength: 1, pattern: CONDITION_REASON }),
  'status!': string({ enum: ['True', 'False', 'Unknown'] }),
  'type!': string({ maxLength: 316, pattern: QUALIFIED_NAME }),
});

export const listOf = (items: JsonObject, more: More = {}): JsonObject => ({ type: 'array', items, ...more });

/** A list whose items are identified by `keys`. */
export const listBy = (keys: readonly string[], items: JsonObject, more: More = {}): JsonObject =>
  listOf(items, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [...keys], ...more });

export const conditions = listBy(['type'], condition);

export const intOrString = (more: More = {}): JsonObject => ({
  anyOf: [integer(), string()],
  'x-kubernetes-int-or-string': true,
  ...more,
});

export const rolloutAll = object({
  maxFailures: intOrString({ default: 0, pattern: COUNT_OR_PERCENT }),
  minSuccessTime: string({ default: '0' }),
  progressDeadline: string({ default: 'None', pattern: DURATION_OR_NONE }),
});

export const int32 = (more: More = {}): JsonObject => integer({ format: 'int32', ...more });

const mandatoryDecisionGroups = listOf(object({ groupIndex: int32(), groupName: string() }));

export const rolloutProgressive = object({
  mandatoryDecisionGroups: mandatoryDecisionGroups,
  maxConcurrency: intOrString({ pattern: COUNT_OR_PERCENT }),
  maxFailures: intOrString({ default: 0, pattern: COUNT_OR_PERCENT }),
  minSuccessTime: string({ default: '0' }),
  progressDeadline: string({ default: 'None', pattern: DURATION_OR_NONE }),
});

export const rolloutProgressivePerGroup = object({
  mandatoryDecisionGroups: mandatoryDecisionGroups,
  maxFailures: intOrString({ default: 0, pattern: COUNT_OR_PERCENT }),
  minSuccessTime: string({ default: '0' }),
  progressDeadline: string({ default: 'None', pattern: DURATION_OR_NONE }),
});

const atomicList = (items: JsonObject, more: More = {}): JsonObject =>
  listOf(items, { 'x-kubernetes-list-type': 'atomic', ...more });

const selectorRequirement = object({
  'key!': string(),
  'operator!': string(),
  values: atomicList(string()),
});

export const claimSelector = object({ matchExpressions: listOf(selectorRequirement) });

export const mapOf = (values: JsonObject, more: More = {}): JsonObject => ({
  type: 'object',
  additionalProperties: values,
  ...more,
});

export const labelSelector = object(
  { matchExpressions: atomicList(selectorRequirement), matchLabels: mapOf(string()) },
  { 'x-kubernetes-map-type': 'atomic' },
);

/*
 * A short notation for structural schemas; every function returns OpenAPI v3 JSON. In `object` a name that ends in `!` is required.
 */
type More = Readonly<JsonObject>;

export function object(fields: Readonly<Record<string, JsonObject>>, more: More = {}): JsonObject {
  const properties: JsonObject = {};
  const required: JsonValue[] = [];
  for (const [key, schema] of Object.entries(fields)) {
    const name = key.replace(/!$/, '');
    properties[name] = schema;
    if (name !== key) required.push(name);
  }
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}), ...more };
}

export const boolean = (more: More = {}): JsonObject => ({ type: 'boolean', ...more });

/** A complete object of any kind, without a schema. */
export const embeddedObject = (): JsonObject => ({
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-preserve-unknown-fields': true,
});
