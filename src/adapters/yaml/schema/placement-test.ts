import { kindSchema, labelSelector, metadataSchema, qualifiedKey, time } from './meta.ts';
import { any, between, boolean, list, object, oneOf, string, text } from './schema.ts';
import type { Schema } from './schema.ts';

const name = text({ minLength: 1 });
const names = list(name, { minItems: 1 });
const effect = oneOf('NoSelect', 'PreferNoSelect', 'NoSelectIfNew');
/** Null removes the key. */
const valuesOrNull: Schema = { type: 'map', values: text({ nullable: true }) };

function clusterChange(fields: Readonly<Record<string, Schema>>): Schema {
  return object({ clusters: names, clusterSelector: labelSelector, ...fields });
}

const given = object({
  loseClusters: clusterChange({}),
  addClusters: object({ 'like!': name, 'names!': names }),
  taint: clusterChange({ 'key!': qualifiedKey, value: string, 'effect!': effect }),
  removeTaint: clusterChange({ 'key!': qualifiedKey, effect }),
  label: clusterChange({ 'labels!': valuesOrNull }),
  claim: clusterChange({ 'claims!': valuesOrNull }),
  score: clusterChange({ 'resourceName!': name, 'scoreName!': name, 'value!': between(-100, 100) }),
  numberOfClusters: between(0),
  bindClusterSet: name,
  passTime: text({
    pattern: /^([0-9.]+(ns|us|µs|ms|s|m|h))+$/,
    patternName: 'a duration such as 90s or 1h30m',
  }),
});

const expectation = object({
  selected: list(name),
  notSelected: list(name),
  exactly: list(name),
  count: between(0),
  atLeast: between(0),
  atMost: between(0),
  spread: object({ label: string, claim: string, 'atLeast!': between(1) }),
  movesAtMost: between(0),
  satisfied: boolean,
});

export const placementTest = kindSchema(metadataSchema(), {
  'spec!': object({
    fleet: name,
    objects: list(any),
    now: time,
    'cases!': list(
      object({
        'name!': name,
        'placement!': text({ pattern: /^[^/]+\/[^/]+$/, patternName: 'NAMESPACE/NAME' }),
        given: list(given),
        'expect!': expectation,
      }),
      { minItems: 1, uniqueBy: 'name' },
    ),
  }),
});
