import { z } from 'zod';
import { placementTest, ruleTest } from '../../src/adapters/yaml/schema/placement-test.ts';
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

/** What the YAML checker allows, as JSON schema. */
function jsonSchemaOf(schema: Schema): Json {
  const { type, nullable, properties, required = [], additionalProperties = false, items, ...rest } = schema;
  const shown = Object.entries(rest).filter(([key]) => !key.startsWith('x-'));
  const fields = properties && Object.entries(properties).map(([name, field]) => [name, jsonSchemaOf(field)]);
  return {
    ...(type !== undefined && { type: nullable === true ? [type, 'null'] : type }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: jsonSchemaOf(additionalProperties),
    }),
    ...(fields && { properties: Object.fromEntries(fields) as Json, required, additionalProperties }),
    ...(items && { items: jsonSchemaOf(items) }),
    ...Object.fromEntries(shown),
    ...(schema.pattern !== undefined && { pattern: new RegExp(schema.pattern).source }),
  };
}
