import {
  boolean,
  integer,
  listBy,
  listOf,
  mapOf,
  object,
  string,
} from '@berth/ocm/definition/schema-notation';
import type { JsonObject } from '@berth/runtime/json/json-value';
import { kindSchema, labelSelector, metadataSchema, qualifiedKey, time } from './meta.ts';

const name = string({ minLength: 1 });
const names = listOf(name, { minItems: 1 });
const effect = string({ enum: ['NoSelect', 'PreferNoSelect', 'NoSelectIfNew'] });
/** Null removes the key. */
const valuesOrNull = mapOf(string({ nullable: true }));

function clusterChange(fields: Readonly<Record<string, JsonObject>>): JsonObject {
  return object({ clusters: names, clusterSelector: labelSelector, ...fields });
}

const given = object({
  loseClusters: clusterChange({}),
  addClusters: object({ 'like!': name, 'names!': names }),
  taint: clusterChange({ 'key!': qualifiedKey, value: string(), 'effect!': effect }),
  removeTaint: clusterChange({ 'key!': qualifiedKey, effect }),
  label: clusterChange({ 'labels!': valuesOrNull }),
  claim: clusterChange({ 'claims!': valuesOrNull }),
  score: clusterChange({
    'resourceName!': name,
    'scoreName!': name,
    'value!': integer({ minimum: -100, maximum: 100 }),
  }),
  numberOfClusters: integer({ minimum: 0 }),
  bindClusterSet: name,
  passTime: string({
    pattern: /^([0-9.]+(ns|us|µs|ms|s|m|h))+$/.source,
    description: 'a duration such as 90s or 1h30m',
  }),
});

const expectation = object({
  selected: listOf(name),
  notSelected: listOf(name),
  exactly: listOf(name),
  count: integer({ minimum: 0 }),
  atLeast: integer({ minimum: 0 }),
  atMost: integer({ minimum: 0 }),
  spread: object({ label: string(), claim: string(), 'atLeast!': integer({ minimum: 1 }) }),
  movesAtMost: integer({ minimum: 0 }),
  satisfied: boolean(),
});

export const placementTest = kindSchema(metadataSchema(), {
  'spec!': object({
    fleet: name,
    objects: listOf({}),
    now: time,
    'cases!': listBy(
      ['name'],
      object({
        'name!': name,
        'placement!': string({ pattern: /^[^/]+\/[^/]+$/.source, description: 'NAMESPACE/NAME' }),
        given: listOf(given),
        'expect!': expectation,
      }),
      { minItems: 1 },
    ),
  }),
});

const target = object({ 'kind!': name, namespace: name, 'name!': name });

/** The flags of `berth plan` for assumptions about clusters. */
const assumption = object({
  label: names,
  claim: names,
  score: names,
  taint: names,
  drain: names,
  lose: names,
});

const ruleExpectation = object({
  verdict: string({ enum: ['allow', 'warn', 'deny'] }),
  kept: names,
  broken: names,
  messages: mapOf(name),
});

export const ruleTest = kindSchema(metadataSchema(), {
  'spec!': object({
    'fleet!': name,
    rules: name,
    now: time,
    'cases!': listBy(
      ['name'],
      object({
        'name!': name,
        remove: listOf(target, { minItems: 1 }),
        patches: listOf(object({ 'target!': target, 'patch!': {} }), { minItems: 1 }),
        overlay: name,
        objects: listOf({}, { minItems: 1 }),
        assume: assumption,
        'expect!': ruleExpectation,
      }),
      { minItems: 1 },
    ),
  }),
});
