import type { CelCallNode, CelNode } from '@berth/kube-cel/syntax/cel-node';
import type { CelProblem } from '@berth/kube-cel/value/cel-problem';
import { celProblem } from '@berth/kube-cel/value/cel-problem';
import { parseCel } from '@berth/kube-cel/syntax/parse-cel';
import { celFieldName } from '../schema/cel/cel-field-name.ts';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { getOwn, isObject } from '../json/json-value.ts';

/** The schema of a name or a value, if known. */
type Known = JsonObject | undefined;
type Names = ReadonlyMap<string, Known>;

const OF_EVERY_OBJECT = new Set(['apiVersion', 'kind', 'metadata']);

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

function fieldOf(schema: Known, field: string): Known | 'missing' {
  if (schema?.['type'] !== 'object' || schema['x-kubernetes-preserve-unknown-fields'] === true)
    return undefined;
  const properties = getOwn(schema, 'properties');
  if (!isObject(properties)) return elementOf(schema);
  const found = celProperties(properties).get(field);
  if (isObject(found)) return found;
  return OF_EVERY_OBJECT.has(field) ? undefined : 'missing';
}

const byCelName = new WeakMap<JsonObject, ReadonlyMap<string, JsonValue>>();

/** The properties by the names that expressions use for them. */
function celProperties(properties: JsonObject): ReadonlyMap<string, JsonValue> {
  const known = byCelName.get(properties);
  if (known !== undefined) return known;
  const named = new Map<string, JsonValue>();
  for (const key of Object.keys(properties)) {
    const name = celFieldName(key);
    if (!named.has(name)) named.set(name, properties[key] as JsonValue);
  }
  byCelName.set(properties, named);
  return named;
}

function elementOf(schema: Known): Known {
  if (schema === undefined) return undefined;
  const element = getOwn(schema, schema['type'] === 'array' ? 'items' : 'additionalProperties');
  return isObject(element) ? element : undefined;
}
