import { kindSchema, metadataSchema, time } from './meta.ts';
import { any, list, object, oneOf, text } from './schema.ts';
import type { Schema } from './schema.ts';

const name = text({ minLength: 1 });
const names = list(name, { minItems: 1 });
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
  verdict: oneOf('allow', 'warn', 'deny'),
  kept: names,
  broken: names,
  messages: { type: 'map', values: name } satisfies Schema,
});

export const ruleTest = kindSchema(metadataSchema(), {
  'spec!': object({
    'fleet!': name,
    rules: name,
    now: time,
    'cases!': list(
      object({
        'name!': name,
        remove: list(target, { minItems: 1 }),
        patches: list(object({ 'target!': target, 'patch!': any }), { minItems: 1 }),
        overlay: name,
        objects: list(any, { minItems: 1 }),
        assume: assumption,
        'expect!': expectation,
      }),
      { minItems: 1, uniqueBy: 'name' },
    ),
  }),
});
