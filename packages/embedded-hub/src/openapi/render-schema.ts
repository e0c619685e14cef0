import { type JsonObject, type JsonValue, setOwn } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import type { Schema, ValueLimits } from '../schema/schema.ts';
import { definitionName } from '../scheme/compile-schema.ts';

/** Definitions of one document by name, filled as references to them are rendered. */
export type Definitions = Map<string, JsonObject>;

const REFERENCE = '#/components/schemas/';

/** A schema as OpenAPI v3; named ones become references and their definitions are collected. */
export function renderSchema(schema: Schema, definitions: Definitions): JsonObject {
  if (schema.name === undefined) return renderBody(schema, definitions);
  define(schema, schema.name, definitions);
  const reference = { $ref: REFERENCE + schema.name };
  const more = { ...describe(schema), ...patchExtensions(schema) };
  return Object.keys(more).length === 0 ? reference : { allOf: [reference], ...more };
}

/** Renders the body of a named schema once. */
export function define(schema: Schema, name: string, definitions: Definitions, more: JsonObject = {}): void {
  if (definitions.has(name)) return;
  const body: JsonObject = { ...more };
  definitions.set(name, body);
  Object.assign(body, renderBody(schema, definitions));
}

function describe(schema: Schema): JsonObject {
  return {
    ...(schema.description === undefined ? {} : { description: schema.description }),
    ...(schema.default === undefined ? {} : { default: schema.default }),
  };
}

export function patchExtensions(schema: Schema): JsonObject {
  return {
    ...(schema.patchStrategy === undefined
      ? {}
      : { 'x-kubernetes-patch-strategy': schema.patchStrategy.join(',') }),
    ...(schema.patchMergeKey === undefined ? {} : { 'x-kubernetes-patch-merge-key': schema.patchMergeKey }),
  };
}

function renderBody(schema: Schema, definitions: Definitions): JsonObject {
  const json: JsonObject = {
    ...typeKeywords(schema),
    ...describe(schema),
    ...patchExtensions(schema),
    ...listExtensions(schema),
  };
  if (schema.nullable === true) json['nullable'] = true;
  if (schema.properties !== undefined) {
    const properties: JsonObject = {};
    for (const [key, below] of schema.properties) setOwn(properties, key, renderSchema(below, definitions));
    json['properties'] = properties;
  }
  if (schema.required !== undefined) json['required'] = [...schema.required];
  if (schema.additional === true) json['additionalProperties'] = true;
  else if (schema.additional !== undefined)
    json['additionalProperties'] = renderSchema(schema.additional, definitions);
  if (schema.items !== undefined) json['items'] = renderSchema(schema.items, definitions);
  if (schema.limits !== undefined) Object.assign(json, renderLimits(schema.limits, definitions));
  if (schema.rules !== undefined)
    json['x-kubernetes-validations'] = schema.rules.map((rule) => ({ ...rule }));
  return json;
}

function typeKeywords(schema: Schema): JsonObject {
  if (schema.format === 'quantity') return { oneOf: [{ type: 'string' }, { type: 'number' }] };
  if (schema.format === 'int-or-string')
    return { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] };
  const json: JsonObject = {};
  if (schema.type !== '') json['type'] = schema.type;
  if (schema.format !== undefined) json['format'] = schema.format;
  if (schema.intOrString === true) json['x-kubernetes-int-or-string'] = true;
  if (schema.preserveUnknown === true) json['x-kubernetes-preserve-unknown-fields'] = true;
  if (schema.embeddedResource === true) json['x-kubernetes-embedded-resource'] = true;
  return json;
}

export function listExtensions(schema: Schema): JsonObject {
  const json: JsonObject = {};
  if (schema.listType !== undefined) json['x-kubernetes-list-type'] = schema.listType;
  if (schema.listMapKeys !== undefined) json['x-kubernetes-list-map-keys'] = [...schema.listMapKeys];
  // A RawExtension is atomic in Go, which its published definition does not declare.
  const isRaw = schema.preserveUnknown === true && schema.name !== undefined;
  if (schema.mapType !== undefined && !isRaw) json['x-kubernetes-map-type'] = schema.mapType;
  return json;
}

function renderLimits(limits: ValueLimits, definitions: Definitions): JsonObject {
  const json: JsonObject = {};
  for (const [key, value] of Object.entries(limits) as [string, unknown][]) {
    if (key === 'not') json[key] = renderSchema(value as Schema, definitions);
    else if (key === 'allOf' || key === 'anyOf' || key === 'oneOf') {
      json[key] = (value as readonly Schema[]).map((branch) => renderSchema(branch, definitions));
    } else json[key] = value as JsonValue;
  }
  return json;
}

/** Name of a definition in OpenAPI documents, e.g. `io.k8s.api.apps.v1.Deployment`. */
export function schemaNameOf({ definition, version }: ResourceRef): string {
  return version.schema.name ?? definitionName(definition.group, version.name, definition.kind);
}

/** The OpenAPI extensions by which clients find the definition of a kind. */
export function kindExtensions({ definition, version }: ResourceRef): JsonObject {
  const kind = { group: definition.group, kind: definition.kind, version: version.name };
  return { 'x-kubernetes-group-version-kind': [kind] };
}
