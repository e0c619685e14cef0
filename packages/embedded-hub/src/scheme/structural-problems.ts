import type { FieldPath } from '../schema/field-path.ts';
import { child } from '../schema/field-path.ts';
import { forbiddenField, invalidValue, required, unsupportedValue } from '../schema/field-problems.ts';
import { compilePattern } from '../schema/text/pattern.ts';
import { appendAll } from '../json/append-all.ts';
import type { JsonObject } from '../json/json-value.ts';
import { getOwn, isObject, listAt, textAt } from '../json/json-value.ts';
import type { FieldProblem } from '../wire/status-errors.ts';
import { chargeWork } from '../json/work-budget.ts';
import { defaultProblems } from './default-problems.ts';
import { ruleProblems } from './rule-problems.ts';

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const MAX_DEPTH = 200;
const STEPS_PER_PLACE = 6;
const INT_OR_STRING = 'x-kubernetes-int-or-string';
const PRESERVE = 'x-kubernetes-preserve-unknown-fields';

/**
 * Checks that an `openAPIV3Schema` is structural: every place has a type, and which fields are
 * known does not depend on values.
 */
export function structuralProblems(schema: JsonObject, path: FieldPath): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (textAt(schema, 'type') !== 'object') {
    const type = textAt(schema, 'type');
    if (type === '') problems.push(required(child(path, 'type'), 'must not be empty at the root'));
    else problems.push(invalidValue(child(path, 'type'), type, 'must be object at the root'));
  }
  visit(schema, path, { problems, depth: 0, root: true });
  return problems;
}

interface Visit {
  readonly problems: FieldProblem[];
  readonly depth: number;
  readonly root: boolean;
  /** The nearest enclosing list whose items cannot be matched with those before an update. */
  readonly uncorrelated?: FieldPath | undefined;
}

function visit(schema: JsonObject, path: FieldPath, at: Visit): void {
  const { problems, depth, root, uncorrelated } = at;
  if (depth > MAX_DEPTH) {
    problems.push(forbiddenField(path, `schemas may not be nested deeper than ${String(MAX_DEPTH)}`));
    return;
  }
  chargeWork(STEPS_PER_PLACE);
  const next = { problems, depth: depth + 1, root: false, uncorrelated };
  checkType(schema, path, { problems, depth, root });
  checkPattern(schema, path, problems);
  appendAll(problems, ruleProblems(schema, path, uncorrelated));
  appendAll(problems, defaultProblems(schema, path));
  checkListType(schema, path, problems);
  if (Object.hasOwn(schema, '$ref'))
    problems.push(forbiddenField(child(path, '$ref'), '$ref is not supported'));
  const properties = getOwn(schema, 'properties');
  const additional = getOwn(schema, 'additionalProperties');
  if (isObject(properties)) {
    for (const [key, below] of Object.entries(properties)) {
      if (isObject(below)) visit(below, child(child(path, 'properties'), key), next);
    }
  }
  if (isObject(properties) && additional !== undefined) {
    problems.push(
      forbiddenField(
        child(path, 'additionalProperties'),
        'additionalProperties and properties are mutual exclusive',
      ),
    );
  }
  if (isObject(additional)) visit(additional, child(path, 'additionalProperties'), next);
  const items = getOwn(schema, 'items');
  if (isObject(items)) {
    const keyed = schema['x-kubernetes-list-type'] === 'map';
    visit(items, child(path, 'items'), { ...next, uncorrelated: uncorrelated ?? (keyed ? undefined : path) });
  } else if (textAt(schema, 'type') === 'array')
    problems.push(required(child(path, 'items'), 'must be specified'));
}

function checkType(schema: JsonObject, path: FieldPath, { problems, root }: Visit): void {
  const type = textAt(schema, 'type');
  const untyped = schema[INT_OR_STRING] === true || schema[PRESERVE] === true;
  if (type === '' && !untyped && !root) {
    problems.push(required(child(path, 'type'), 'must not be empty for specified object fields'));
  }
  if (type !== '' && !TYPES.includes(type)) problems.push(unsupportedValue(child(path, 'type'), type, TYPES));
  if (type !== '' && schema[INT_OR_STRING] === true) {
    problems.push(forbiddenField(child(path, 'type'), 'must be empty if x-kubernetes-int-or-string is true'));
  }
  if (schema[PRESERVE] === false) {
    problems.push(invalidValue(child(path, PRESERVE), false, 'must be true or undefined'));
  }
}

/** Compiles each pattern, so that none can fail later. */
function checkPattern(schema: JsonObject, path: FieldPath, problems: FieldProblem[]): void {
  const pattern = textAt(schema, 'pattern');
  if (pattern !== '' && compilePattern(pattern) === undefined) {
    problems.push(invalidValue(child(path, 'pattern'), pattern, 'must be a valid regular expression'));
  }
}

/** Items of a set must be atomic or scalar, since they are compared completely. */
function checkSetItems(schema: JsonObject, path: FieldPath, problems: FieldProblem[]): void {
  const items = getOwn(schema, 'items');
  if (!isObject(items)) return;
  const [key, type] =
    items['type'] === 'object'
      ? ['x-kubernetes-map-type', items['x-kubernetes-map-type']]
      : ['x-kubernetes-list-type', items['type'] === 'array' ? items['x-kubernetes-list-type'] : 'atomic'];
  if (type === 'atomic' || (items['type'] === 'array' && type === undefined)) return;
  const why = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  problems.push(forbiddenField(child(child(path, 'items'), key), why));
}

function checkListType(schema: JsonObject, path: FieldPath, problems: FieldProblem[]): void {
  const listType = getOwn(schema, 'x-kubernetes-list-type');
  if (listType === undefined) return;
  const place = child(path, 'x-kubernetes-list-type');
  if (listType !== 'atomic' && listType !== 'set' && listType !== 'map') {
    problems.push(unsupportedValue(place, listType, ['atomic', 'map', 'set']));
    return;
  }
  if (textAt(schema, 'type') !== 'array') {
    problems.push(
      invalidValue(
        child(path, 'type'),
        textAt(schema, 'type'),
        'must be array if x-kubernetes-list-type is specified',
      ),
    );
  }
  if (listType === 'set') checkSetItems(schema, path, problems);
  if (listType !== 'map') return;
  const keys = listAt(schema, 'x-kubernetes-list-map-keys');
  if (keys.length === 0) {
    problems.push(
      required(
        child(path, 'x-kubernetes-list-map-keys'),
        'must not be empty if x-kubernetes-list-type is map',
      ),
    );
  }
  const items = getOwn(schema, 'items');
  const requiredNames = new Set(isObject(items) ? listAt(items, 'required') : []);
  for (const [index, key] of keys.entries()) {
    if (typeof key !== 'string' || !isObject(items) || !isObject(items['properties'])) continue;
    const declared = getOwn(items['properties'], key);
    const isAlwaysSet = requiredNames.has(key) || (isObject(declared) && declared['default'] !== undefined);
    const where = child(child(path, 'x-kubernetes-list-map-keys'), index);
    if (declared === undefined)
      problems.push(invalidValue(where, key, 'entries must all be names of item properties'));
    else if (!isAlwaysSet)
      problems.push(
        required(
          child(child(child(path, 'items'), 'properties'), key),
          'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
        ),
      );
  }
}
