import { z } from 'zod';
import { placementTest } from '../../src/adapters/yaml/schema/placement-test.ts';
import { ruleTest } from '../../src/adapters/yaml/schema/rule-test.ts';
import type { Schema } from '../../src/adapters/yaml/schema/schema.ts';
import { settingsSchema } from '../../src/app/settings/source-settings.ts';
import { rulesSchema } from '../../src/controllers/previews/rules/parse-rules.ts';

type Json = Readonly<Record<string, unknown>>;

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

/** The JSON schemas of the files that users write, by the name of the file in docs/schemas. */
export function jsonSchemas(): ReadonlyMap<string, Json> {
  return new Map([
    ['rules.schema.json', zodDocument('Guard rules of Berth: .berth/rules.yaml', rulesSchema)],
    ['settings.schema.json', zodDocument('Settings file of berth serve', settingsSchema)],
    ['placement-test.schema.json', testDocument('PlacementTest', placementTest)],
    ['rule-test.schema.json', testDocument('RuleTest', ruleTest)],
  ]);
}

function zodDocument(title: string, schema: z.ZodType): Json {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12' });
  return { $schema, title, ...rest };
}

function testDocument(kind: string, schema: Schema): Json {
  const { properties = {}, ...rest } = jsonSchemaOf(schema) as { readonly properties?: Json };
  const type = { apiVersion: { const: 'berth.dev/v1alpha1' }, kind: { const: kind } };
  return { $schema: DRAFT, title: `${kind} of berth test`, ...rest, properties: { ...properties, ...type } };
}

/** What a table of the YAML checker allows, as JSON schema. */
function jsonSchemaOf(schema: Schema): Json {
  switch (schema.type) {
    case 'string': {
      const { oneOf, pattern, patternName, minLength, maxLength, nullable } = schema;
      return {
        type: nullable === true ? ['string', 'null'] : 'string',
        ...(oneOf && { enum: oneOf }),
        ...(pattern && { pattern: pattern.source }),
        ...(patternName !== undefined && { description: patternName }),
        ...(minLength !== undefined && { minLength }),
        ...(maxLength !== undefined && { maxLength }),
      };
    }
    case 'integer': {
      const { minimum, maximum } = schema;
      return {
        type: 'integer',
        ...(minimum !== undefined && { minimum }),
        ...(maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER && { maximum }),
      };
    }
    case 'boolean':
      return { type: 'boolean' };
    case 'any':
      return {};
    case 'intOrString':
      return { anyOf: [{ type: 'integer' }, { type: 'string', pattern: schema.pattern.source }] };
    case 'map':
      return { type: 'object', additionalProperties: jsonSchemaOf(schema.values) };
    case 'list': {
      const { items, minItems, maxItems } = schema;
      return {
        type: 'array',
        items: jsonSchemaOf(items),
        ...(minItems !== undefined && { minItems }),
        ...(maxItems !== undefined && { maxItems }),
      };
    }
    case 'object': {
      const properties = [...schema.fields].map(([name, field]) => [name, jsonSchemaOf(field)] as const);
      return {
        type: 'object',
        properties: Object.fromEntries(properties),
        required: schema.required,
        additionalProperties: schema.open,
      };
    }
  }
}
