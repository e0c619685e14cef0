import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { setOwn } from '../../json/json-value.ts';
import { builtinSchemaNamed } from '../../scheme/builtin/builtin-schemas.ts';
import type { Schema } from '../../schema/schema.ts';
import { listExtensions, patchExtensions } from '../render-schema.ts';

/** Definitions of a document by name, filled as references to them are rendered. */
export type SwaggerDefinitions = Map<string, JsonObject>;

/**
 * A schema in OpenAPI v2, which has fewer keywords than v3: no `allOf` and the like, no
 * `nullable`, no defaults. Parts that kubectl would misread without them are omitted.
 *
 * Source: apiextensions-apiserver pkg/controller/openapi/v2/conversion.go and builder/builder.go;
 * defaults are pruned by kube-openapi pkg/handler/default_pruning.go.
 */
export function swaggerSchema(schema: Schema, definitions: SwaggerDefinitions): JsonObject {
  if (schema.name === undefined) return swaggerBody(schema, definitions);
  defineSwagger(schema, schema.name, definitions);
  const reference = { $ref: `#/definitions/${schema.name}` };
  // Clients read keywords beside a reference, which the field adds to the definition.
  const { mapType } = ownDefinition(schema);
  const { mapType: own, ...field } = schema;
  return { ...reference, ...patchExtensions(schema), ...listExtensions(own === mapType ? field : schema) };
}

/** Renders the body of a named schema once; a field that refers to a built-in definition adds nothing to it. */
export function defineSwagger(
  schema: Schema,
  name: string,
  definitions: SwaggerDefinitions,
  more: JsonObject = {},
): void {
  if (definitions.has(name)) return;
  const body: JsonObject = {};
  definitions.set(name, body);
  Object.assign(body, swaggerBody(ownDefinition(schema), definitions), more);
}

const ownDefinition = (schema: Schema): Schema =>
  (schema.name === undefined ? undefined : builtinSchemaNamed(schema.name)) ?? schema;

function swaggerBody(schema: Schema, definitions: SwaggerDefinitions): JsonObject {
  const json: JsonObject = {
    ...typeKeywords(schema),
    ...(schema.description === undefined ? {} : { description: schema.description }),
    ...patchExtensions(schema),
    ...listExtensions(schema),
    ...limitKeywords(schema),
  };
  const isOpen = schema.nullable === true || keepsUnknown(schema);
  if (!isOpen && schema.properties !== undefined && schema.properties.size > 0)
    json['properties'] = propertiesOf(schema.properties, definitions);
  if (!isOpen && schema.items !== undefined) json['items'] = swaggerSchema(schema.items, definitions);
  const required = requiredOf(schema);
  if (required.length > 0) json['required'] = required;
  if (schema.additional === true) json['additionalProperties'] = true;
  else if (schema.additional !== undefined)
    json['additionalProperties'] = swaggerSchema(schema.additional, definitions);
  if (schema.rules !== undefined)
    json['x-kubernetes-validations'] = schema.rules.map((rule) => ({ ...rule }));
  return json;
}

function propertiesOf(declared: ReadonlyMap<string, Schema>, definitions: SwaggerDefinitions): JsonObject {
  const properties: JsonObject = {};
  for (const [key, below] of declared) setOwn(properties, key, swaggerSchema(below, definitions));
  return properties;
}

/**
 * Free-form built-in types are named, and do not declare `x-kubernetes-preserve-unknown-fields`.
 */
const keepsUnknown = (schema: Schema): boolean =>
  schema.preserveUnknown === true && schema.name === undefined;

function typeKeywords(schema: Schema): JsonObject {
  // kube-openapi gives these two a type of their own in v2 (`ExtensionV2Schema`).
  if (schema.name !== undefined && schema.format === 'quantity') return { type: 'string' };
  if (schema.name !== undefined && schema.format === 'int-or-string')
    return { type: 'string', format: 'int-or-string' };
  const json: JsonObject = {};
  if (isTyped(schema)) json['type'] = schema.type;
  if (schema.format !== undefined) json['format'] = schema.format;
  if (schema.intOrString === true) json['x-kubernetes-int-or-string'] = true;
  if (keepsUnknown(schema)) json['x-kubernetes-preserve-unknown-fields'] = true;
  if (schema.embeddedResource === true) json['x-kubernetes-embedded-resource'] = true;
  return json;
}

/** kubectl cannot read a type that may be null, an array without items, or an object that keeps unknown fields. */
function isTyped(schema: Schema): boolean {
  if (schema.type === '' || schema.nullable === true) return false;
  if (keepsUnknown(schema) && schema.type === 'object') return false;
  return schema.type !== 'array' || (schema.items !== undefined && !keepsUnknown(schema));
}

function limitKeywords({ limits }: Schema): JsonObject {
  if (limits === undefined) return {};
  const { allOf: _allOf, anyOf: _anyOf, oneOf: _oneOf, not: _not, ...plain } = limits;
  return plain as Readonly<Record<string, JsonValue>>;
}

function requiredOf(schema: Schema): string[] {
  if (typeof schema.additional === 'object' && schema.additional.nullable === true) return [];
  const named = (schema.required ?? []).filter((key) => schema.properties?.get(key)?.nullable !== true);
  if (schema.embeddedResource !== true || keepsUnknown(schema)) return [...named];
  return [...new Set([...named, 'kind', 'apiVersion'])];
}
