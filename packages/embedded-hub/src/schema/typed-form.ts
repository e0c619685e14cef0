import { formatQuantity, parseQuantity } from '@berth/kube/model/quantity';
import { formatMicroTime, formatRfc3339, parseRfc3339 } from '@berth/kube/model/rfc3339';
import { deepClone, isObject, type JsonObject, type JsonValue, setOwn } from '../json/json-value.ts';
import { chargeKeys, chargeWork } from '../json/work-budget.ts';
import type { GoFieldFlags, Schema } from './schema.ts';

/**
 * The API server decodes objects of built-in kinds into Go structs, stores them as protobuf, and
 * encodes the structs again. So zero values appear that no client sent (`lastTransitionTime: null`,
 * `rules: null`, `strategy: {}`), and empty lists, empty strings and nulls are dropped.
 * `Schema.goFields` describes the fields. Source: encoding/json (omitempty, omitzero), k8s.io/api
 * (types.go), gogo protobuf (empty lists are not written).
 */

/** How a field is decoded and encoded. */
interface FieldPlan {
  readonly schema: Schema;
  /** The encoded value of an absent field; undefined: the field is omitted. */
  readonly missing: JsonValue | undefined;
  /** Drops an empty list, map or string, 0 and false. */
  readonly dropsEmpty: boolean;
}

/**
 * Which empty lists and maps are kept: all while an object is validated, none when it is stored.
 */
export interface EmptyContainers {
  /** `written`: only in fields that are always written. */
  readonly keep: 'all' | 'written' | 'none';
  /** Set when one was kept. */
  found: boolean;
}

const DROP: EmptyContainers = { keep: 'none', found: false };

interface Plan {
  readonly fields: ReadonlyMap<string, FieldPlan>;
  /** Fields that are always written. */
  readonly defaulted: FieldValues;
  /** The same without the defaults of the schema. */
  readonly bare: FieldValues;
}

type FieldValues = readonly (readonly [key: string, value: JsonValue])[];

const plans = new WeakMap<Schema, Plan>();
/** Objects that have this form already, such as the specs of most live objects. */
const inTypedForm = new WeakSet<JsonObject>();

/**
 * An object of a built-in kind as the API server encodes it, with the defaults of its schema.
 * Returns the same object if nothing changes.
 * @param object readable as its Go type (`decodeProblem`) and without unknown fields (`prune`)
 */
export function typedForm(schema: Schema, object: JsonObject, emptyContainers = DROP): JsonObject {
  return withRequiredFields(schema, typedFields(schema, object, emptyContainers));
}

/** The same for the present top-level fields; none is added. */
export function typedFields(schema: Schema, object: JsonObject, emptyContainers = DROP): JsonObject {
  return eachField(planOf(schema), object, emptyContainers, true);
}

/** The object with the top-level fields that are always written. */
export function withRequiredFields(schema: Schema, object: JsonObject): JsonObject {
  return withMissing(planOf(schema).defaulted, object);
}

/** The zero value of a kind before defaulting, which field ownership starts from. */
export function zeroObject(schema: Schema): JsonObject {
  return withMissing(planOf(schema).bare, {});
}

/**
 * The encoding of the zero value of a schema: `{}`, `{ replicas: 0 }`, null.
 * @param bare without the defaults of the schema
 */
function zeroValue(schema: Schema, bare = false): JsonValue {
  if (schema.intOrString === true) return schema.format === 'quantity' ? '0' : 0;
  if (schema.format === 'date-time') return null;
  switch (schema.type) {
    case 'string':
      return schema.format === 'byte' ? null : '';
    case 'integer':
    case 'number':
      return 0;
    case 'boolean':
      return false;
    case 'object':
      if (schema.goFields === undefined) return null;
      return withMissing(bare ? planOf(schema).bare : planOf(schema).defaulted, {});
    case 'array':
    case '':
      return null;
  }
}

/** Marks the parts of an object as having this form, so that the next write skips them. */
export function markTypedForm(object: JsonObject): void {
  for (const key of Object.keys(object)) {
    const part = object[key] as JsonValue;
    if (key !== 'metadata' && isObject(part)) inTypedForm.add(part);
  }
}

function planOf(schema: Schema): Plan {
  const known = plans.get(schema);
  if (known !== undefined) return known;
  const fields = new Map<string, FieldPlan>();
  const defaulted: [string, JsonValue][] = [];
  const bare: [string, JsonValue][] = [];
  for (const [key, field] of schema.properties ?? []) {
    const flags = schema.goFields?.get(key) ?? {};
    const zero = zeroField(field, flags, true);
    const missing = defaultOf(field, flags) ?? zeroField(field, flags, false);
    fields.set(key, { schema: field, missing, dropsEmpty: flags.pointer !== true && !isStruct(field) });
    if (missing !== undefined) defaulted.push([key, missing]);
    if (zero !== undefined) bare.push([key, zero]);
  }
  const plan: Plan = { fields, defaulted, bare };
  plans.set(schema, plan);
  return plan;
}

/**
 * An empty string that would be omitted again is not a default, except for the key of a list item.
 */
function defaultOf(field: Schema, { pointer }: GoFieldFlags): JsonValue | undefined {
  return field.default === '' && pointer !== true ? undefined : field.default;
}

/** The value of an unset field; undefined: it is omitted. */
function zeroField(
  schema: Schema,
  { pointer, always, omitZero }: GoFieldFlags,
  bare: boolean,
): JsonValue | undefined {
  if (pointer === true) return always === true ? null : undefined;
  if (isStruct(schema)) return omitZero === true ? undefined : zeroValue(schema, bare);
  return always === true ? zeroValue(schema, bare) : undefined;
}

/** Whether Go declares it as a struct, which `omitempty` never omits. */
function isStruct(schema: Schema): boolean {
  if (schema.intOrString === true || schema.format === 'date-time') return true;
  return (schema.type === 'object' && schema.additional === undefined) || schema.type === '';
}

function fieldForm(
  field: FieldPlan,
  value: JsonValue,
  emptyContainers: EmptyContainers,
): JsonValue | undefined {
  const { schema, missing, dropsEmpty } = field;
  if (value === null || (dropsEmpty && isZero(value))) return missing;
  if (dropsEmpty && isEmptyContainer(value)) {
    const kept =
      emptyContainers.keep === 'all' || (emptyContainers.keep === 'written' && missing !== undefined);
    if (!kept) return missing;
    emptyContainers.found = true;
    return value;
  }
  return valueForm(schema, value, emptyContainers);
}

const isZero = (value: JsonValue): boolean => value === '' || value === 0 || value === false;

function isEmptyContainer(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

/** @param value not null */
function valueForm(schema: Schema, value: JsonValue, emptyContainers: EmptyContainers): JsonValue {
  if (Array.isArray(value))
    return schema.items === undefined ? value : listForm(schema.items, value, emptyContainers);
  if (isObject(value)) {
    if (schema.goFields !== undefined) {
      const plan = planOf(schema);
      return withMissing(plan.defaulted, eachField(plan, value, emptyContainers));
    }
    return typeof schema.additional === 'object' ? mapForm(schema.additional, value, emptyContainers) : value;
  }
  if (schema.format === undefined) return value;
  if (schema.format === 'quantity') return quantityForm(value);
  return schema.format === 'date-time' && typeof value === 'string' ? timeForm(schema, value) : value;
}

function listForm(items: Schema, list: JsonValue[], emptyContainers: EmptyContainers): JsonValue[] {
  let changed = false;
  chargeWork(list.length + 1);
  const result = list.map((item) => {
    const typed = item === null ? zeroValue(items) : valueForm(items, item, emptyContainers);
    changed ||= typed !== item;
    return typed;
  });
  return changed ? result : list;
}

function mapForm(values: Schema, map: JsonObject, emptyContainers: EmptyContainers): JsonObject {
  let copy: JsonObject | undefined;
  const keys = Object.keys(map);
  chargeKeys(keys.length);
  for (const key of keys) {
    const value = map[key] as JsonValue;
    if (typeof value === 'string' && values.format === undefined) continue;
    const typed = value === null ? zeroEntry(values) : valueForm(values, value, emptyContainers);
    if (typed === value) continue;
    copy ??= { ...map };
    setOwn(copy, key, typed);
  }
  return copy ?? map;
}

/** Storage turns nil bytes into empty bytes. */
function zeroEntry(values: Schema): JsonValue {
  return values.format === 'byte' ? '' : zeroValue(values);
}

function eachField(
  plan: Plan,
  object: JsonObject,
  emptyContainers: EmptyContainers,
  isTop = false,
): JsonObject {
  let copy: JsonObject | undefined;
  const keys = Object.keys(object);
  chargeKeys(keys.length);
  for (const key of keys) {
    const value = object[key] as JsonValue;
    const field = plan.fields.get(key);
    if (field === undefined) continue;
    if (isTop && isObject(value) && inTypedForm.has(value)) continue;
    const typed = fieldForm(field, value, emptyContainers);
    if (typed === value) continue;
    copy ??= { ...object };
    if (typed === undefined) delete copy[key];
    else setOwn(copy, key, typed === field.missing ? deepClone(typed) : typed);
  }
  return copy ?? object;
}

function withMissing(values: FieldValues, object: JsonObject): JsonObject {
  let copy: JsonObject | undefined;
  for (const [key, value] of values) {
    if (Object.hasOwn(object, key)) continue;
    copy ??= { ...object };
    setOwn(copy, key, deepClone(value));
  }
  return copy ?? object;
}

function quantityForm(value: JsonValue): JsonValue {
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  const quantity = parseQuantity(value);
  return quantity === undefined ? value : formatQuantity(quantity);
}

function timeForm({ name = '' }: Schema, text: string): string {
  const instant = parseRfc3339(text);
  if (instant === undefined) return text;
  return name.endsWith('.MicroTime') ? formatMicroTime(instant) : formatRfc3339(instant);
}
