import { BugError } from '@berth/runtime/errors';
import type { JsonValue } from '../../json/json-value.ts';
import type { GoFieldFlags, PatchStrategy, Schema, SchemaType } from '../../schema/schema.ts';
import { ANY_VALUE } from '../../schema/schema.ts';
import data from './kubernetes-schemas.json' with { type: 'json' };

/*
 * kubernetes-schemas.json is written by scripts/kubernetes-facts.mjs. Per definition: field name (`!` at the end: required) -> type and flags.
 *   type   string, integer/int32, any ... | []T list | {}T map | name of another definition
 *   flags  atomic granular set map=KEYS (list or map type) · patch=STRATEGIES key=MERGEKEY (strategic merge) · default=JSON
 *          pointer always omitzero (how Go declares the field, see GoFieldFlags)
 * The field '' describes the definition itself: atomic, type=T, format=F, oneOf=T,T.
 */
const DEFINITIONS = data as Readonly<Record<string, Readonly<Record<string, string>>>>;

const LONG_PREFIXES: readonly (readonly [string, string])[] = [
  ['machinery:', 'io.k8s.apimachinery.pkg.'],
  ['extensions:', 'io.k8s.apiextensions-apiserver.pkg.apis.'],
  ['aggregator:', 'io.k8s.kube-aggregator.pkg.apis.'],
  ['', 'io.k8s.api.'],
];

/** Definitions that accept any JSON, although their published schema has a structure. */
const FREE_FORM = new Set([
  'machinery:runtime.RawExtension',
  'machinery:apis.meta.v1.FieldsV1',
  'extensions:apiextensions.v1.JSON',
  'extensions:apiextensions.v1.JSONSchemaPropsOrArray',
  'extensions:apiextensions.v1.JSONSchemaPropsOrBool',
  'extensions:apiextensions.v1.JSONSchemaPropsOrStringArray',
]);

const GO_FIELD_FLAGS: ReadonlyMap<string, GoFieldFlags> = new Map([
  ['pointer', { pointer: true }],
  ['always', { always: true }],
  ['omitzero', { omitZero: true }],
]);

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const built = new Map<string, Schema>();
const builtByLongName = new Map<string, Schema>();

/**
 * The definition itself, without what a field that refers to it adds. Undefined when it is unknown
 * or not built yet.
 * @param name as in OpenAPI documents, e.g. `io.k8s.api.core.v1.Container`
 */
export function builtinSchemaNamed(name: string): Schema | undefined {
  return builtByLongName.get(name);
}

/** The schema of a built-in definition, e.g. `core.v1.Pod`. One object per definition; cyclic where the type is. */
export function builtinSchema(name: string): Schema {
  const known = built.get(name);
  if (known !== undefined) return known;
  const fields = DEFINITIONS[name];
  if (fields === undefined) throw new BugError('has no structure', { code: 'hub.scheme', subject: name });
  const schema: Mutable<Schema> = { name: longName(name), type: 'object' };
  built.set(name, schema);
  builtByLongName.set(longName(name), schema);
  applyHead(schema, fields[''] ?? '', name);
  const properties = new Map<string, Schema>();
  const required: string[] = [];
  const goFields = new Map<string, GoFieldFlags>();
  for (const [key, text] of Object.entries(fields)) {
    if (key === '') continue;
    const field = key.replace(/!$/, '');
    if (field !== key) required.push(field);
    const words = text.split(' ');
    const flags = words.slice(1).filter((word) => !GO_FIELD_FLAGS.has(word));
    const goFlags = words.filter((word) => GO_FIELD_FLAGS.has(word)).map((word) => GO_FIELD_FLAGS.get(word));
    if (goFlags.length > 0) goFields.set(field, Object.assign({}, ...goFlags) as GoFieldFlags);
    const base = parseType(words[0] as string);
    properties.set(field, flags.length === 0 ? base : withFlags(base, flags));
  }
  if (properties.size > 0) Object.assign(schema, { properties, goFields });
  if (required.length > 0) schema.required = required;
  return schema;
}

function longName(name: string): string {
  const [short, long] = LONG_PREFIXES.find(([prefix]) => name.startsWith(prefix)) as [string, string];
  return long + name.slice(short.length);
}

function applyHead(schema: Mutable<Schema>, head: string, name: string): void {
  for (const word of head === '' ? [] : head.split(' ')) {
    const [key, value = ''] = word.split('=');
    if (key === 'atomic') schema.mapType = 'atomic';
    else if (key === 'type') schema.type = value === 'any' ? '' : (value as SchemaType);
    else if (key === 'format') schema.format = value;
    else if (key === 'oneOf') schema.type = '';
  }
  if (schema.format === 'int-or-string') schema.intOrString = true;
  else if (name === 'machinery:api.resource.Quantity') {
    schema.intOrString = true;
    schema.format = 'quantity';
  }
  if (FREE_FORM.has(name)) {
    schema.preserveUnknown = true;
    // A JSON value may be of any type; a RawExtension is an object.
    if (name.startsWith('extensions:')) schema.type = '';
    else schema.mapType = 'atomic';
  }
}

function parseType(text: string): Schema {
  if (text.startsWith('[]')) return { type: 'array', items: parseType(text.slice(2)) };
  if (text.startsWith('{}')) return { type: 'object', additional: parseType(text.slice(2)) };
  if (text.includes('.')) return builtinSchema(text);
  if (text === 'any') return ANY_VALUE;
  const [type, format] = text.split('/') as [SchemaType, string | undefined];
  return format === undefined ? { type } : { type, format };
}

/** Flags on a reference make a copy that shares the referenced properties (no such reference is part of a cycle). */
function withFlags(base: Schema, flags: readonly string[]): Schema {
  const extra: Mutable<Partial<Schema>> = {};
  for (const flag of flags) {
    const at = flag.indexOf('=');
    const [key, value] = at < 0 ? [flag, ''] : [flag.slice(0, at), flag.slice(at + 1)];
    if (key === 'map') Object.assign(extra, { listType: 'map', listMapKeys: value.split(',') });
    else if (key === 'set') extra.listType = 'set';
    else if (key === 'granular') extra.mapType = 'granular';
    else if (key === 'atomic' && base.type === 'array') extra.listType = 'atomic';
    else if (key === 'atomic') extra.mapType = 'atomic';
    else if (key === 'patch') extra.patchStrategy = value.split(',') as PatchStrategy[];
    else if (key === 'key') extra.patchMergeKey = value;
    else if (key === 'default') extra.default = JSON.parse(value) as JsonValue;
  }
  return { ...base, ...extra };
}
