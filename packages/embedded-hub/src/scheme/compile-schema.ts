import { type JsonObject, type JsonValue, getOwn, isObject } from '../json/json-value.ts';
import { chargeKeys } from '../json/work-budget.ts';
import type { Schema, SchemaType, ValidationRule, ValueLimits } from '../schema/schema.ts';
import { builtinSchema } from './builtin/builtin-schemas.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Caches compiled schemas: a definition is compiled when it is validated, each place with a default
 * by itself, and again when it is served.
 */
const compiled = new WeakMap<JsonObject, Schema>();

/** Compiles an `openAPIV3Schema`, which must already be known to be structural, into the form the hub walks. */
export function compileSchema(json: JsonObject): Schema {
  const known = compiled.get(json);
  if (known !== undefined) return known;
  const schema = compileUncached(json);
  compiled.set(json, schema);
  return schema;
}

const TYPES: ReadonlySet<string> = new Set(['object', 'array', 'string', 'integer', 'number', 'boolean']);

function compileUncached(json: JsonObject): Schema {
  chargeKeys(Object.keys(json).length);
  const type = getOwn(json, 'type');
  const schema: Mutable<Schema> = {
    type: typeof type === 'string' && TYPES.has(type) ? (type as SchemaType) : '',
  };
  if (typeof json['format'] === 'string') schema.format = json['format'];
  if (typeof json['description'] === 'string') schema.description = json['description'];
  if (json['nullable'] === true) schema.nullable = true;
  if (json['x-kubernetes-int-or-string'] === true) schema.intOrString = true;
  if (json['x-kubernetes-preserve-unknown-fields'] === true) schema.preserveUnknown = true;
  if (Object.hasOwn(json, 'default')) schema.default = json['default'] as JsonValue;
  compileChildren(schema, json);
  if (json['x-kubernetes-embedded-resource'] === true) {
    schema.embeddedResource = true;
    schema.properties = new Map([...(schema.properties ?? []), ...objectFields(schema.properties)]);
  }
  compileListAndMap(schema, json);
  const limits = compileLimits(json);
  if (Object.keys(limits).length > 0) schema.limits = limits;
  const rules = json['x-kubernetes-validations'];
  if (Array.isArray(rules)) schema.rules = rules as unknown as readonly ValidationRule[];
  return schema;
}

function compileChildren(schema: Mutable<Schema>, json: JsonObject): void {
  const properties = getOwn(json, 'properties');
  if (isObject(properties)) {
    schema.properties = new Map(
      Object.keys(properties).map((key) => [key, compileSchema(getOwn(properties, key) as JsonObject)]),
    );
  }
  const additional = getOwn(json, 'additionalProperties');
  if (isObject(additional)) schema.additional = compileSchema(additional);
  else if (additional === true) schema.additional = true;
  const items = getOwn(json, 'items');
  if (isObject(items)) schema.items = compileSchema(items);
  const required = getOwn(json, 'required');
  if (Array.isArray(required)) schema.required = required as string[];
}

function compileListAndMap(schema: Mutable<Schema>, json: JsonObject): void {
  const listType = json['x-kubernetes-list-type'];
  if (listType === 'atomic' || listType === 'set' || listType === 'map') schema.listType = listType;
  const keys = json['x-kubernetes-list-map-keys'];
  if (Array.isArray(keys)) schema.listMapKeys = keys as string[];
  const mapType = json['x-kubernetes-map-type'];
  if (mapType === 'atomic' || mapType === 'granular') schema.mapType = mapType;
}

const NUMBER_LIMITS = [
  'minimum',
  'maximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const;

function compileLimits(json: JsonObject): ValueLimits {
  const limits: Mutable<ValueLimits> = {};
  if (Array.isArray(json['enum'])) limits.enum = json['enum'];
  if (typeof json['pattern'] === 'string') limits.pattern = json['pattern'];
  for (const key of NUMBER_LIMITS) {
    const value = getOwn(json, key);
    if (typeof value === 'number') limits[key] = value;
  }
  for (const key of ['exclusiveMinimum', 'exclusiveMaximum', 'uniqueItems'] as const) {
    if (json[key] === true) limits[key] = true;
  }
  for (const key of ['allOf', 'anyOf', 'oneOf'] as const) {
    const branches = getOwn(json, key);
    if (Array.isArray(branches)) limits[key] = branches.filter(isObject).map(compileSchema);
  }
  const not = getOwn(json, 'not');
  if (isObject(not)) limits.not = compileSchema(not);
  return limits;
}

const TEXT: Schema = { type: 'string' };

/**
 * Schemas of apiVersion, kind and metadata, for custom resources and for objects embedded in them.
 * @param declared the schema in the definition; for metadata it may only restrict `name` and
 * `generateName`
 */
function objectFields(
  declared: ReadonlyMap<string, Schema> | undefined,
): readonly (readonly [string, Schema])[] {
  return [
    ['apiVersion', declared?.get('apiVersion') ?? TEXT],
    ['kind', declared?.get('kind') ?? TEXT],
    ['metadata', metadataSchema(declared?.get('metadata'))],
  ];
}

function metadataSchema(declared: Schema | undefined): Schema {
  const common = objectMetaSchema();
  const narrowed = [...(declared?.properties ?? [])].filter(
    ([key]) => key === 'name' || key === 'generateName',
  );
  if (narrowed.length === 0) return common;
  return { ...common, properties: new Map([...(common.properties ?? []), ...narrowed]) };
}

let metaSchema: Schema | undefined;

/**
 * The schema of metadata for decoding. No field is required: validation reports missing ones with
 * its own messages.
 */
export function objectMetaSchema(): Schema {
  metaSchema ??= withoutRequired(builtinSchema('machinery:apis.meta.v1.ObjectMeta'), 'ownerReferences');
  return metaSchema;
}

function withoutRequired(schema: Schema, list: string): Schema {
  const owners = schema.properties?.get(list);
  if (owners?.items === undefined) return schema;
  const { required: _required, ...items } = owners.items;
  return { ...schema, properties: new Map([...(schema.properties ?? []), [list, { ...owners, items }]]) };
}

/**
 * Compiles the schema of a custom resource, with the apiVersion, kind and metadata of every object.
 */
export function compileRootSchema(json: JsonObject): Schema {
  const own = compileSchema(json);
  const metadata = own.properties?.get('metadata');
  const declared = new Map(metadata === undefined ? [] : [['metadata', metadata] as const]);
  const properties = new Map([...(own.properties ?? []), ...objectFields(declared)]);
  return { ...own, type: 'object', properties };
}

/** OpenAPI definition name of a custom kind: the group reversed. */
export function definitionName(group: string, version: string, kind: string): string {
  return `${group.split('.').reverse().join('.')}.${version}.${kind}`;
}
