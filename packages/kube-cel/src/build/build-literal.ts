import type { BuildScope, BuiltCel } from './build-scope.ts';
import { LIST_CREATE_COST, MAP_CREATE_COST } from '../value/cel-cost.ts';
import { celMapKey } from '../value/cel-map.ts';
import type { CelNode } from '../syntax/cel-node.ts';
import { type CelType, celType, DYN, formatType, unify } from '../value/cel-type.ts';
import type { CelMapKey, CelValue } from '../value/cel-value.ts';
import {
  CelFailure,
  CelMap,
  CelOptional,
  CelTypeValue,
  celTypeName,
  MAX_INT,
  MIN_INT,
} from '../value/cel-value.ts';

export type BuildNode = (node: CelNode, scope: BuildScope) => BuiltCel;

export function buildLiteral(value: CelValue, node: CelNode, scope: BuildScope): BuiltCel {
  if (typeof value === 'bigint' && (value > MAX_INT || value < MIN_INT))
    return scope.fail(node, `Syntax error: invalid int literal ${value}`);
  return { type: celType(value instanceof CelTypeValue ? 'type' : celTypeName(value)), run: () => value };
}

export function buildList(node: ListNode, scope: BuildScope, build: BuildNode): BuiltCel {
  let item: CelType | undefined;
  const runs = node.items.map((itemNode, index) => {
    const built = build(itemNode, scope);
    const type = node.optional.has(index) ? valueType(built.type, itemNode, scope) : built.type;
    item = joinTypes(item, type, itemNode, scope);
    return built.run;
  });
  return { type: celType('list', item ?? DYN), run: collectItems(runs, node.optional) };
}

/** The arguments of `format`: the one list that may mix types. */
export function buildMixedList(node: ListNode, scope: BuildScope, build: BuildNode): BuiltCel {
  return {
    type: celType('list', DYN),
    run: collectItems(
      node.items.map((item) => build(item, scope).run),
      node.optional,
    ),
  };
}

type ListNode = Extract<CelNode, { kind: 'list' }>;

function collectItems(runs: readonly BuiltCel['run'][], optional: ReadonlySet<number>): BuiltCel['run'] {
  return (frame) => {
    frame.cost += LIST_CREATE_COST;
    const items: CelValue[] = [];
    for (const [index, run] of runs.entries()) {
      const value = run(frame);
      if (value instanceof CelFailure) return value;
      if (!optional.has(index)) items.push(value);
      else if (!(value instanceof CelOptional)) return notOptional(value);
      else if (value.value !== undefined) items.push(value.value);
    }
    return items;
  };
}

/** The type of the value of an optional element. */
function valueType(type: CelType, node: CelNode, scope: BuildScope): CelType {
  if (type.name === 'dyn') return DYN;
  if (type.name === 'optional') return type.params[0] ?? DYN;
  return scope.fail(
    node,
    `expected type 'optional_type(${formatType(type)})' but found '${formatType(type)}'`,
  );
}

function notOptional(value: CelValue): CelFailure {
  return new CelFailure(
    `cannot initialize an optional element from a non-optional value of type ${celTypeName(value)}`,
  );
}

export function buildMap(
  node: Extract<CelNode, { kind: 'map' }>,
  scope: BuildScope,
  build: BuildNode,
): BuiltCel {
  let key: CelType | undefined;
  let value: CelType | undefined;
  const runs = node.entries.map(([keyNode, valueNode], index) => {
    const builtKey = build(keyNode, scope);
    const builtValue = build(valueNode, scope);
    const isOptional = node.optional.has(index);
    const type = isOptional ? valueType(builtValue.type, valueNode, scope) : builtValue.type;
    key = joinTypes(key, builtKey.type, keyNode, scope);
    value = joinTypes(value, type, valueNode, scope);
    return [builtKey.run, builtValue.run, isOptional] as const;
  });
  return {
    type: celType('map', key ?? DYN, value ?? DYN),
    run: (frame) => {
      frame.cost += MAP_CREATE_COST;
      const entries = new Map<CelMapKey, CelValue>();
      for (const [runKey, runValue, isOptional] of runs) {
        const k = runKey(frame);
        if (k instanceof CelFailure) return k;
        const given = runValue(frame);
        if (given instanceof CelFailure) return given;
        if (isOptional && !(given instanceof CelOptional)) return notOptional(given);
        const v = isOptional ? (given as CelOptional).value : given;
        if (v === undefined) continue;
        const stored = celMapKey(k);
        if (stored === undefined) return new CelFailure(`unsupported key type: ${celTypeName(k)}`);
        if (entries.has(stored)) return new CelFailure(`Failed with repeated key: ${String(stored)}`);
        entries.set(stored, v);
      }
      return new CelMap(entries);
    },
  };
}

/**
 * The element type of a literal. Unless the environment allows mixed types, all elements have one
 * type; `dyn` accepts any.
 */
function joinTypes(joined: CelType | undefined, next: CelType, node: CelNode, scope: BuildScope): CelType {
  if (joined === undefined || next.name === 'dyn') return next;
  if (unify(joined, next, new Map())) return joined;
  if (scope.environment.mixesTypes) return DYN;
  return scope.fail(node, `expected type '${formatType(joined)}' but found '${formatType(next)}'`);
}
