import type { CelProgram } from '@berth/kube-cel/compile-cel';
import type { CelCallNode, CelNode } from '@berth/kube-cel/syntax/cel-node';
import { parseCel } from '@berth/kube-cel/syntax/parse-cel';
import { compileValidation } from '@berth/kube-cel/kubernetes-environment';
import { celProblemText, type CelProblem, celProblem } from '@berth/kube-cel/value/cel-problem';
import {
  type JsonObject,
  getOwn,
  isObject,
  listAt,
  textAt,
  type JsonValue,
  appendAll,
} from '../json/json-value.ts';
import { chargeWork } from '../json/work-budget.ts';
import { celFieldName } from '../schema/cel/validate-rules.ts';
import { validateEmbedded } from '../schema/embedded-resources.ts';
import { type FieldPath, child, pathText } from '../schema/field-path.ts';
import { forbiddenField, invalidValue, required, unsupportedValue } from '../schema/field-problems.ts';
import { prune } from '../schema/prune.ts';
import { compilePattern } from '../schema/text/pattern.ts';
import { validateValue } from '../schema/validate-value.ts';
import type { FieldProblem } from '../wire/status-errors.ts';
import { compileSchema } from './compile-schema.ts';

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

const MAX_DEPTH = 200;
const STEPS_PER_PLACE = 6;

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

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const INT_OR_STRING = 'x-kubernetes-int-or-string';
const PRESERVE_UNKNOWN = 'x-kubernetes-preserve-unknown-fields';

function checkType(schema: JsonObject, path: FieldPath, { problems, root }: Visit): void {
  const type = textAt(schema, 'type');
  const untyped = schema[INT_OR_STRING] === true || schema[PRESERVE_UNKNOWN] === true;
  if (type === '' && !untyped && !root) {
    problems.push(required(child(path, 'type'), 'must not be empty for specified object fields'));
  }
  if (type !== '' && !TYPES.includes(type)) problems.push(unsupportedValue(child(path, 'type'), type, TYPES));
  if (type !== '' && schema[INT_OR_STRING] === true) {
    problems.push(forbiddenField(child(path, 'type'), 'must be empty if x-kubernetes-int-or-string is true'));
  }
  if (schema[PRESERVE_UNKNOWN] === false) {
    problems.push(invalidValue(child(path, PRESERVE_UNKNOWN), false, 'must be true or undefined'));
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

/**
 * Problems of the `x-kubernetes-validations` at one place of a schema. Each rule is compiled here,
 * so that few can fail later.
 * @param uncorrelated the enclosing list whose items cannot be matched with those before an update,
 * if there is one
 */
function ruleProblems(
  schema: JsonObject,
  path: FieldPath,
  uncorrelated: FieldPath | undefined,
): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const [index, rule] of listAt(schema, 'x-kubernetes-validations').entries()) {
    const place = child(child(path, 'x-kubernetes-validations'), index);
    if (isObject(rule)) checkRule(rule, { schema, place, uncorrelated }, problems);
  }
  return problems;
}

interface RulePlace {
  readonly schema: JsonObject;
  readonly place: FieldPath;
  readonly uncorrelated: FieldPath | undefined;
}

const RULE_REASONS = [
  'FieldValueDuplicate',
  'FieldValueForbidden',
  'FieldValueInvalid',
  'FieldValueRequired',
];

function checkRule(rule: JsonObject, at: RulePlace, problems: FieldProblem[]): void {
  const { schema, place, uncorrelated } = at;
  const names = { self: schema, oldSelf: rule['optionalOldSelf'] === true ? undefined : schema };
  const text = textAt(rule, 'rule');
  if (text.trim() === '') problems.push(required(child(place, 'rule'), 'rule is not specified'));
  const program = compiled(text, 'bool', { place: child(place, 'rule'), names, problems });
  compiled(textAt(rule, 'messageExpression'), 'string', {
    place: child(place, 'messageExpression'),
    names,
    problems,
  });
  const reason = textAt(rule, 'reason');
  if (reason !== '' && !RULE_REASONS.includes(reason))
    problems.push(unsupportedValue(child(place, 'reason'), reason, RULE_REASONS));
  const message = textAt(rule, 'message');
  if (/[\n\r]/.test(message))
    problems.push(invalidValue(child(place, 'message'), message, 'message must not contain line breaks'));
  if (program === undefined) return;
  const transition = program.usedVariables.has('oldSelf');
  const optional = getOwn(rule, 'optionalOldSelf');
  if (transition && uncorrelated !== undefined) {
    const within = pathText(uncorrelated);
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${within}`;
    problems.push(invalidValue(child(place, 'rule'), text, detail));
  } else if (!transition && optional !== undefined) {
    const detail = 'may not be set if oldSelf is not used in rule';
    problems.push(invalidValue(child(place, 'optionalOldSelf'), optional, detail));
  }
}

interface ExpressionPlace {
  readonly place: FieldPath;
  readonly names: Parameters<typeof undefinedField>[1];
  readonly problems: FieldProblem[];
}

const STEPS_PER_RULE = 200;
const STEPS_PER_CHARACTER = 8;

function compiled(
  expression: string,
  type: 'bool' | 'string',
  { place, names, problems }: ExpressionPlace,
): CelProgram | undefined {
  if (expression.trim() === '') return undefined;
  chargeWork(STEPS_PER_RULE + expression.length * STEPS_PER_CHARACTER);
  const found = compileValidation(expression);
  const fault = found.ok ? undefinedField(expression, names) : found.problem;
  if (fault !== undefined) problems.push(invalidValue(place, expression, celProblemText(fault)));
  if (!found.ok || fault !== undefined) return undefined;
  const { program } = found;
  if (program.type.name === type || program.type.name === 'dyn') return program;
  problems.push(invalidValue(place, expression, `compilation failed: must evaluate to a ${type}`));
  return undefined;
}

/** The schema of a name or a value, if known. */
type Known = JsonObject | undefined;
type Names = ReadonlyMap<string, Known>;

/**
 * The first field that an expression reads and that its schema does not declare; such a rule would
 * always fail. Follows selections from `self` and `oldSelf` through objects, lists, maps and the
 * variables of macros. It reports nothing for values whose schema it does not know.
 */
export function undefinedField(
  expression: string,
  names: { readonly self: JsonObject; readonly oldSelf: Known },
): CelProblem | undefined {
  const parsed = parseCel(expression);
  if ('problem' in parsed) return undefined;
  const missing: { at: number; field: string }[] = [];
  follow(parsed.node, new Map(Object.entries(names)), missing);
  const [first] = missing;
  return first === undefined
    ? undefined
    : celProblem(expression, first.at, `undefined field '${first.field}'`);
}

function follow(node: CelNode, names: Names, missing: { at: number; field: string }[]): Known {
  switch (node.kind) {
    case 'literal':
      return undefined;
    case 'ident':
      return names.get(node.name);
    case 'select': {
      const field = fieldOf(follow(node.operand, names, missing), node.field);
      if (field === 'missing') missing.push({ at: node.at, field: node.field });
      // `a.?b` is an optional, so its schema is not known.
      return field === 'missing' || node.optional ? undefined : field;
    }
    case 'index': {
      follow(node.index, names, missing);
      const operand = follow(node.operand, names, missing);
      return node.optional ? undefined : elementOf(operand);
    }
    case 'call':
      return followCall(node, names, missing);
    case 'list':
      for (const item of node.items) follow(item, names, missing);
      return undefined;
    case 'map':
      for (const part of node.entries.flat()) follow(part, names, missing);
      return undefined;
  }
}

/**
 * Macros declare the names in their first arguments: `self.l.all(item, …)`, `m.all(key, value, …)`,
 * `cel.bind(x, …)`.
 */
function followCall(node: CelCallNode, names: Names, missing: { at: number; field: string }[]): undefined {
  const receiver = node.receiver === undefined ? undefined : follow(node.receiver, names, missing);
  const bound = new Map(names);
  const [first, second, third] = node.args;
  if (node.receiver !== undefined && second !== undefined && first?.kind === 'ident') {
    bound.set(first.name, receiver?.['type'] === 'array' ? elementOf(receiver) : undefined);
    if (third !== undefined && second.kind === 'ident') {
      bound.set(first.name, undefined);
      bound.set(second.name, undefined);
    }
  }
  for (const argument of node.args) follow(argument, bound, missing);
  return undefined;
}

const FIELDS_OF_EVERY_OBJECT = new Set(['apiVersion', 'kind', 'metadata']);

function fieldOf(schema: Known, field: string): Known | 'missing' {
  if (schema?.['type'] !== 'object' || schema['x-kubernetes-preserve-unknown-fields'] === true)
    return undefined;
  const properties = getOwn(schema, 'properties');
  if (!isObject(properties)) return elementOf(schema);
  const found = celProperties(properties).get(field);
  if (isObject(found)) return found;
  return FIELDS_OF_EVERY_OBJECT.has(field) ? undefined : 'missing';
}

const propertiesByCelName = new WeakMap<JsonObject, ReadonlyMap<string, JsonValue>>();

/** The properties by the names that expressions use for them. */
function celProperties(properties: JsonObject): ReadonlyMap<string, JsonValue> {
  const known = propertiesByCelName.get(properties);
  if (known !== undefined) return known;
  const named = new Map<string, JsonValue>();
  for (const key of Object.keys(properties)) {
    const name = celFieldName(key);
    if (!named.has(name)) named.set(name, properties[key] as JsonValue);
  }
  propertiesByCelName.set(properties, named);
  return named;
}

function elementOf(schema: Known): Known {
  if (schema === undefined) return undefined;
  const element = getOwn(schema, schema['type'] === 'array' ? 'items' : 'additionalProperties');
  return isObject(element) ? element : undefined;
}

/** A default must be valid for its own schema, and must not contain unknown fields. */
function defaultProblems(schema: JsonObject, path: FieldPath): readonly FieldProblem[] {
  const value = getOwn(schema, 'default');
  if (value === undefined) return [];
  const place = child(path, 'default');
  const compiled = compileSchema(schema);
  const problems: FieldProblem[] = [];
  const unknown: string[] = [];
  prune(compiled, value, unknown);
  for (const field of unknown) problems.push(invalidValue(place, value, `unknown field "${field}"`));
  validateValue(compiled, value, problems, place);
  validateEmbedded(compiled, value, problems, place);
  return problems;
}
