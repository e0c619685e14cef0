import { codePointCount } from '@berth/kube-cel/value/code-points';
import {
  type JsonObject,
  type JsonValue,
  isObject,
  getOwn,
  setOwn,
  deepEqual,
  canonicalJson,
} from '../json/json-value.ts';
import { chargeKeys, chargeWork } from '../json/work-budget.ts';
import type { FieldProblem } from '../wire/status-errors.ts';
import { type FieldPath, child, pathText } from './field-path.ts';
import {
  required,
  wrongType,
  duplicate,
  invalidValue,
  tooLong,
  tooMany,
  unsupportedValue,
} from './field-problems.ts';
import type { Schema, ValueLimits } from './schema.ts';
import { compilePattern } from './text/pattern.ts';
import { matchesNumberFormat, matchesStringFormat } from './text/value-format.ts';

/**
 * Checks a value against its structural schema, including value validations; reports all problems.
 */
export function validateValue(
  schema: Schema,
  value: JsonValue,
  problems: FieldProblem[],
  path?: FieldPath,
): void {
  if (value === null && (schema.nullable === true || acceptsAnything(schema))) return;
  const mismatch = typeMismatch(schema, value);
  if (mismatch !== undefined) {
    problems.push(wrongType(path === undefined ? '' : path, mismatch.found, mismatch.wanted));
    return;
  }
  if (isObject(value)) validateObject(schema, value, problems, path);
  else if (Array.isArray(value)) validateList(schema, value, problems, path);
  if (schema.limits !== undefined)
    checkLimits(schema.limits, value, { problems, path, validate: validateValue });
}

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
/** The metadata fields that a schema may restrict; the others have their own rules. */
const CHECKED_METADATA = ['name', 'generateName'];

function validateObject(
  schema: Schema,
  object: JsonObject,
  problems: FieldProblem[],
  path: FieldPath | undefined,
): void {
  const { required: requiredKeys = [] } = schema;
  const keys = Object.keys(object);
  chargeKeys(keys.length + requiredKeys.length);
  for (const key of requiredKeys) {
    if (!Object.hasOwn(object, key)) problems.push(required(child(path, key)));
  }
  for (const key of schema.name === OBJECT_META ? CHECKED_METADATA : keys) {
    if (!Object.hasOwn(object, key)) continue;
    const known = schema.properties?.get(key) ?? (schema.additional === true ? undefined : schema.additional);
    if (known !== undefined) validateValue(known, object[key] as JsonValue, problems, child(path, key));
  }
}

function validateList(
  schema: Schema,
  list: readonly JsonValue[],
  problems: FieldProblem[],
  path: FieldPath | undefined,
): void {
  if (schema.items === undefined) return;
  chargeWork(list.length);
  for (const [index, item] of list.entries()) validateValue(schema.items, item, problems, child(path, index));
  checkListType(schema, list, problems, path);
}

interface TypeMismatch {
  readonly found: string;
  readonly wanted: string;
}

function typeMismatch(schema: Schema, value: JsonValue): TypeMismatch | undefined {
  const found = typeName(value);
  if (schema.intOrString === true) {
    if (found === 'integer' || found === 'string' || (found === 'number' && schema.format === 'quantity'))
      return undefined;
    return { found, wanted: 'integer,string' };
  }
  if (schema.type === '') return undefined;
  const fits = found === schema.type || (schema.type === 'number' && found === 'integer');
  if (!fits) return { found, wanted: schema.type };
  const { format } = schema;
  if (format === undefined) return undefined;
  if (typeof value === 'string' && !matchesStringFormat(format, value))
    return { found: value, wanted: format };
  if (typeof value === 'number' && !matchesNumberFormat(format, value))
    return { found: String(value), wanted: format };
  return undefined;
}

function acceptsAnything(schema: Schema): boolean {
  return schema.type === '' && schema.intOrString !== true;
}

/** The JSON type, as schemas name it. */
export function typeName(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

interface LimitContext {
  readonly problems: FieldProblem[];
  readonly path: FieldPath | undefined;
  /** Checks a value against a branch of anyOf, allOf, oneOf or not. */
  validate(schema: Schema, value: JsonValue, problems: FieldProblem[], path?: FieldPath): void;
}

/** Value validations: enumerations, bounds, patterns and the logical junctors. */
function checkLimits(limits: ValueLimits, value: JsonValue, context: LimitContext): void {
  const { problems, path } = context;
  const where = path ?? '';
  if (limits.enum !== undefined && !isListed(limits.enum, value)) {
    problems.push(unsupportedValue(where, value, limits.enum));
  }
  if (typeof value === 'string') checkText(limits, value, context);
  else if (typeof value === 'number') checkNumber(limits, value, context);
  else if (Array.isArray(value)) checkList(limits, value, context);
  else if (isObject(value)) checkObject(limits, value, context);
  checkJunctors(limits, value, context);
}

function isListed(values: readonly JsonValue[], value: JsonValue): boolean {
  // Comparing short strings and numbers takes about a twentieth of a step.
  chargeWork(Math.ceil(values.length / 16));
  if (typeof value !== 'object' || value === null) return values.includes(value);
  return values.some((one) => deepEqual(one, value));
}

function inBody(path: FieldPath | undefined, rest: string): string {
  return `${pathText(path)} in body ${rest}`;
}

function checkText(limits: ValueLimits, text: string, { problems, path }: LimitContext): void {
  const { maxLength, minLength } = limits;
  // The limit is in code points. A string has at most as many code points as UTF-16 units, so most
  // need no counting.
  if (maxLength !== undefined && text.length > maxLength && codePointCount(text) > maxLength)
    problems.push(tooLong(path ?? '', maxLength));
  if (minLength !== undefined && text.length < minLength * 2 && codePointCount(text) < minLength) {
    const detail = inBody(path, `should be at least ${String(minLength)} chars long`);
    problems.push(invalidValue(path ?? '', text, detail));
  }
  if (limits.pattern !== undefined && compilePattern(limits.pattern)?.test(text) === false) {
    problems.push(invalidValue(path ?? '', text, inBody(path, `should match '${limits.pattern}'`)));
  }
}

function checkNumber(limits: ValueLimits, value: number, { problems, path }: LimitContext): void {
  const { minimum, maximum, multipleOf } = limits;
  const report = (rest: string): void => {
    problems.push(invalidValue(path ?? '', value, inBody(path, rest)));
  };
  if (minimum !== undefined) {
    if (limits.exclusiveMinimum === true && value <= minimum)
      report(`should be greater than ${String(minimum)}`);
    else if (value < minimum) report(`should be greater than or equal to ${String(minimum)}`);
  }
  if (maximum !== undefined) {
    if (limits.exclusiveMaximum === true && value >= maximum)
      report(`should be less than ${String(maximum)}`);
    else if (value > maximum) report(`should be less than or equal to ${String(maximum)}`);
  }
  if (multipleOf !== undefined && !isMultiple(value, multipleOf))
    report(`should be a multiple of ${String(multipleOf)}`);
}

function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9;
}

function checkList(limits: ValueLimits, list: readonly JsonValue[], { problems, path }: LimitContext): void {
  if (limits.maxItems !== undefined && list.length > limits.maxItems) {
    problems.push(tooMany(path ?? '', list.length, limits.maxItems));
  }
  if (limits.minItems !== undefined && list.length < limits.minItems) {
    const detail = inBody(path, `should have at least ${String(limits.minItems)} items`);
    problems.push(invalidValue(path ?? '', list.length, detail));
  }
  if (limits.uniqueItems === true && hasDuplicates(list)) {
    problems.push(invalidValue(path ?? '', list as JsonValue, inBody(path, `shouldn't contain duplicates`)));
  }
}

function hasDuplicates(list: readonly JsonValue[]): boolean {
  return new Set(list.map(canonicalJson)).size < list.length;
}

function checkObject(limits: ValueLimits, object: JsonObject, { problems, path }: LimitContext): void {
  const count = Object.keys(object).length;
  if (limits.maxProperties !== undefined && count > limits.maxProperties) {
    problems.push(tooMany(path ?? '', count, limits.maxProperties));
  }
  if (limits.minProperties !== undefined && count < limits.minProperties) {
    const detail = inBody(path, `should have at least ${String(limits.minProperties)} properties`);
    problems.push(invalidValue(path ?? '', count, detail));
  }
}

function checkJunctors(limits: ValueLimits, value: JsonValue, context: LimitContext): void {
  const failures = (branch: Schema): FieldProblem[] => {
    const found: FieldProblem[] = [];
    context.validate(branch, value, found, context.path);
    return found;
  };
  const report = (rest: string): void => {
    const name = JSON.stringify(pathText(context.path));
    context.problems.push(invalidValue(context.path ?? '', '', `${name} ${rest}`));
  };
  for (const branch of limits.allOf ?? []) context.validate(branch, value, context.problems, context.path);
  if (limits.anyOf !== undefined) {
    const results = limits.anyOf.map(failures);
    if (results.every((found) => found.length > 0)) {
      report('must validate at least one schema (anyOf)');
      const best = [...results].sort((a, b) => a.length - b.length)[0];
      for (const problem of best ?? []) context.problems.push(problem);
    }
  }
  if (limits.oneOf !== undefined) {
    const matches = limits.oneOf.filter((branch) => failures(branch).length === 0).length;
    if (matches === 0) report('must validate one and only one schema (oneOf). Found none valid');
    else if (matches > 1)
      report(`must validate one and only one schema (oneOf). Found ${String(matches)} valid alternatives`);
  }
  if (limits.not !== undefined && failures(limits.not).length === 0)
    report('must not validate the schema (not)');
}

/** Items of a set must be unique; keys of a keyed list, too. */
function checkListType(
  schema: Schema,
  list: readonly JsonValue[],
  problems: FieldProblem[],
  path: FieldPath | undefined,
): void {
  if (schema.listType !== 'set' && schema.listType !== 'map') return;
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    const identity = schema.listType === 'set' ? item : keyOf(schema, item);
    const text = canonicalJson(identity);
    if (seen.has(text)) problems.push(duplicate(child(path, index), identity));
    seen.add(text);
  }
}

function keyOf(schema: Schema, item: JsonValue): JsonValue {
  const key: JsonObject = {};
  if (!isObject(item)) return item;
  for (const name of schema.listMapKeys ?? []) {
    const value = getOwn(item, name) ?? schema.items?.properties?.get(name)?.default;
    if (value !== undefined) setOwn(key, name, value);
  }
  return key;
}
