import { kindSchema, labelSelector, metadataSchema, qualifiedKey, time } from './meta.ts';
import type { JsonObject } from '@berth/runtime/json/json-value';
import {
  boolean,
  integer,
  listBy,
  listOf,
  mapOf,
  object,
  string,
} from '@berth/ocm/definition/schema-notation';

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
