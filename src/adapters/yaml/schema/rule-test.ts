import { kindSchema, metadataSchema, time } from './meta.ts';
import { listBy, listOf, mapOf, object, string } from '@berth/ocm/definition/schema-notation';

const name = string({ minLength: 1 });
const names = listOf(name, { minItems: 1 });
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

const expectation = object({
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
        'expect!': expectation,
      }),
      { minItems: 1 },
    ),
  }),
});
