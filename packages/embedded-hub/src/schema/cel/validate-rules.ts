import type { BudgetedCelOutcome, CelBudget } from '@berth/kube-cel/cel-budget';
import { evaluateWithin, newCelBudget } from '@berth/kube-cel/cel-budget';
import type { CelCompilation } from '@berth/kube-cel/compile-cel';
import { parseDuration, parseTimestamp } from '@berth/kube-cel/library/time';
import { compileValidation } from '@berth/kube-cel/kubernetes-environment';
import { CelOptional, lift, CelDouble } from '@berth/kube-cel/value/cel-value';
import { type JsonObject, type JsonValue, getOwn, isObject } from '../../json/json-value.ts';
import { chargeWork, chargeKeys } from '../../json/work-budget.ts';
import type { FieldProblem } from '../../wire/status-errors.ts';
import { child, type FieldPath, pathText } from '../field-path.ts';
import { forbiddenField, invalidValue, required } from '../field-problems.ts';
import { itemElement } from '../field-shape.ts';
import type { Schema, ValidationRule } from '../schema.ts';
import { typeName } from '../validate-value.ts';

const compilations = new Map<string, CelCompilation>();
const CACHE_LIMIT = 2000;
const MESSAGE_LIMIT = 5 * 1024;
const STEPS_PER_EVALUATION = 20;
const COST_PER_STEP = 2;

function compiledOnce(expression: string): CelCompilation {
  const known = compilations.get(expression);
  if (known !== undefined) return known;
  if (compilations.size >= CACHE_LIMIT) compilations.clear();
  const compilation = compileValidation(expression);
  compilations.set(expression, compilation);
  return compilation;
}

const withRules = new WeakMap<object, boolean>();

/** Whether any node of the schema has validation rules. */
export function hasRules(schema: Schema): boolean {
  const known = withRules.get(schema);
  if (known !== undefined) return known;
  withRules.set(schema, false);
  const below = [
    ...(schema.properties?.values() ?? []),
    schema.items,
    schema.additional === true ? undefined : schema.additional,
  ];
  const found = (schema.rules?.length ?? 0) > 0 || below.some((one) => one !== undefined && hasRules(one));
  withRules.set(schema, found);
  return found;
}

interface RuleScope {
  readonly schema: Schema;
  readonly value: JsonValue;
  /** The old value, matched by field name or item key; undefined on create and for a new value. */
  readonly old: JsonValue | undefined;
  readonly path: FieldPath | undefined;
}

interface Run {
  readonly problems: FieldProblem[];
  readonly budget: CelBudget;
}

/** Checks `x-kubernetes-validations` everywhere in a value that already fits its schema. */
export function validateRules(
  schema: Schema,
  object: JsonObject,
  old: JsonObject | undefined,
): readonly FieldProblem[] {
  const run: Run = { problems: [], budget: newCelBudget() };
  visit({ schema, value: object, old, path: undefined }, run);
  return run.problems;
}

function visit(scope: RuleScope, run: Run): void {
  const { schema, value, old, path } = scope;
  // An identical value (by reference) was checked before, and is no transition.
  if (value === null || (value === old && typeof value === 'object') || !hasRules(schema)) return;
  for (const rule of schema.rules ?? []) checkRule(rule, scope, run);
  if (Array.isArray(value)) {
    const items = schema.items;
    if (items === undefined) return;
    const before = itemsByElement(schema, old);
    for (const [index, item] of value.entries()) {
      const element = before.size === 0 ? undefined : itemElement(schema, item);
      const match = element === undefined ? undefined : before.get(element);
      visit({ schema: items, value: item, old: match, path: child(path, index) }, run);
    }
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      const known =
        schema.properties?.get(key) ?? (schema.additional === true ? undefined : schema.additional);
      if (known === undefined) continue;
      const before = isObject(old) ? getOwn(old, key) : undefined;
      visit({ schema: known, value: value[key] as JsonValue, old: before, path: child(path, key) }, run);
    }
  }
}

/** Items of the old keyed list by key; of duplicates the first. */
function itemsByElement(schema: Schema, old: JsonValue | undefined): ReadonlyMap<string, JsonValue> {
  const items = new Map<string, JsonValue>();
  if (!Array.isArray(old) || schema.listType !== 'map') return items;
  for (const item of old) {
    const element = itemElement(schema, item);
    if (element !== undefined && !items.has(element)) items.set(element, item);
  }
  return items;
}

function checkRule(rule: ValidationRule, scope: RuleScope, { problems, budget }: Run): void {
  const compiled = compiledOnce(rule.rule);
  const where = reportPath(rule, scope.path);
  if (!compiled.ok) {
    problems.push(
      invalidValue(where, typeName(scope.value), `rule compile error: ${compiled.problem.message}`),
    );
    return;
  }
  const transition = compiled.program.usedVariables.has('oldSelf');
  if (transition && scope.old === undefined && rule.optionalOldSelf !== true) return;
  const outcome = evaluated(budget, compiled.program, variablesOf(rule, scope));
  if (!outcome.ok) {
    problems.push(
      invalidValue(
        where,
        typeName(scope.value),
        `${outcome.message} evaluating rule: ${rule.message ?? rule.rule}`,
      ),
    );
  } else if (outcome.value !== true) problems.push(failure(rule, where, { scope, budget }));
}

/**
 * The cost limits of Kubernetes allow seconds for one object; the work budget of the request is a
 * shorter limit.
 */
function evaluated(...[budget, program, variables]: Parameters<typeof evaluateWithin>): BudgetedCelOutcome {
  const outcome = evaluateWithin(budget, program, variables);
  chargeWork(STEPS_PER_EVALUATION + Math.ceil(outcome.cost / COST_PER_STEP));
  return outcome;
}

function variablesOf(rule: ValidationRule, { schema, value, old }: RuleScope): Record<string, unknown> {
  const before = old === undefined ? undefined : celInput(schema, old);
  const oldSelf =
    rule.optionalOldSelf === true ? new CelOptional(before === undefined ? undefined : lift(before)) : before;
  return { self: celInput(schema, value), ...(oldSelf === undefined ? {} : { oldSelf }) };
}

function reportPath(rule: ValidationRule, path: FieldPath | undefined): string {
  const base = pathText(path);
  const below = (rule.fieldPath ?? '').replace(/^\./, '');
  if (below === '') return base === '' ? '<nil>' : base;
  return base === '' ? below : below.startsWith('[') ? base + below : `${base}.${below}`;
}

function failure(
  rule: ValidationRule,
  where: string,
  { scope, budget }: { readonly scope: RuleScope; readonly budget: CelBudget },
): FieldProblem {
  const message = messageOf(rule, scope, budget);
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return forbiddenField(where, message);
    case 'FieldValueRequired':
      return required(where, message);
    case 'FieldValueDuplicate':
      return {
        field: where,
        reason: 'FieldValueDuplicate',
        message: `Duplicate value: ${shownValue(scope.value)}`,
      };
    default:
      return {
        field: where,
        reason: 'FieldValueInvalid',
        message: `Invalid value: ${shownValue(scope.value)}: ${message}`,
      };
  }
}

/** Messages show objects and lists by their type only. */
function shownValue(value: JsonValue): string {
  return typeof value === 'object' ? JSON.stringify(typeName(value)) : JSON.stringify(value);
}

/** One line of a length that fits into a status. */
function isMessage(text: string): boolean {
  return text.trim() !== '' && text.length <= MESSAGE_LIMIT && !/[\n\r]/.test(text);
}

function messageOf(rule: ValidationRule, scope: RuleScope, budget: CelBudget): string {
  const fallback = (rule.message ?? '').trim() || `failed rule: ${rule.rule.trim()}`;
  if (rule.messageExpression === undefined) return fallback;
  const compiled = compiledOnce(rule.messageExpression);
  if (!compiled.ok) return fallback;
  const outcome = evaluated(budget, compiled.program, variablesOf(rule, scope));
  return outcome.ok && typeof outcome.value === 'string' && isMessage(outcome.value)
    ? outcome.value
    : fallback;
}

/**
 * Converts a value for CEL rules: strings of the formats date-time, date, duration and byte get
 * their CEL types, a `number` is a double even if it is whole, and declared fields get escaped
 * names. Returns the same value if nothing changes.
 */
function celInput(schema: Schema, value: JsonValue): unknown {
  if (value === null || !differs(schema)) return value;
  if (typeof value === 'string') return fromText(schema.format, value);
  if (typeof value === 'number') return schema.type === 'number' ? new CelDouble(value) : value;
  if (Array.isArray(value)) {
    const { items } = schema;
    chargeWork(value.length);
    return items === undefined ? value : value.map((item) => celInput(items, item));
  }
  return isObject(value) ? fromObject(schema, value) : value;
}

function fromObject(schema: Schema, object: JsonObject): Record<string, unknown> {
  const result: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  const keys = Object.keys(object);
  chargeKeys(keys.length);
  for (const key of keys) {
    const declared = schema.properties?.get(key);
    const known = declared ?? (schema.additional === true ? undefined : schema.additional);
    const value = object[key] as JsonValue;
    result[declared === undefined ? key : celFieldName(key)] =
      known === undefined ? value : celInput(known, value);
  }
  return result;
}

/**
 * A string that does not fit its format stays a string; validation reports it, if the format is
 * checked.
 */
function fromText(format: string | undefined, text: string): unknown {
  switch (format) {
    case 'date-time':
      return parsedOr(text, parseTimestamp(text));
    case 'date':
      return parsedOr(text, parseTimestamp(`${text}T00:00:00Z`));
    case 'duration':
      return parsedOr(text, parseDuration(text));
    case 'byte':
      return new Uint8Array(Buffer.from(text, 'base64'));
    default:
      return text;
  }
}

function parsedOr(text: string, parsed: object): unknown {
  return 'nanos' in parsed ? parsed : text;
}

const inputDiffers = new WeakMap<Schema, boolean>();

/** Whether any value of the schema needs conversion for CEL. */
function differs(schema: Schema): boolean {
  const before = inputDiffers.get(schema);
  if (before !== undefined) return before;
  inputDiffers.set(schema, false);
  const own =
    schema.type === 'number' ||
    (schema.type === 'string' && ['date-time', 'date', 'duration', 'byte'].includes(schema.format ?? ''));
  const names = [...(schema.properties?.keys() ?? [])].some((name) => celFieldName(name) !== name);
  const below = [
    ...(schema.properties?.values() ?? []),
    schema.items,
    schema.additional === true ? undefined : schema.additional,
  ];
  const found = own || names || below.some((one) => one !== undefined && differs(one));
  inputDiffers.set(schema, found);
  return found;
}

/** Reserved words, which cannot be field names in expressions. */
const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/** The name of a declared field in expressions, escaped: `__in__`, `a__dash__b`. */
export function celFieldName(name: string): string {
  if (RESERVED.has(name)) return `__${name}__`;
  return name.replace(/__|[.\-/]/g, (found) => ESCAPES[found] ?? found);
}
