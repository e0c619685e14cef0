import type { BuildNode } from './build-literal.ts';
import type { BuildScope, BuiltCel, CelFrame } from './build-scope.ts';
import { celAccess, celMapGet, celMapKey, isCelMap, unsupportedIndex } from '../value/cel-map.ts';
import type { CelNode } from '../syntax/cel-node.ts';
import { type CelType, celType, DYN, formatType, INT, STRING, unify } from '../value/cel-type.ts';
import type { CelResult, CelValue } from '../value/cel-value.ts';
import { CelFailure, CelOptional, lift, OPTIONAL_NONE } from '../value/cel-value.ts';

type AccessNode = Extract<CelNode, { kind: 'select' | 'index' }>;

/**
 * `a.b`, `a[k]`, `a.?b`, `a[?k]`. Applied to an optional, each of them accesses its value and gives
 * an optional.
 */
export function buildAccess(node: AccessNode, scope: BuildScope, build: BuildNode): BuiltCel {
  const operand = build(node.operand, scope);
  const key = buildKey(node, scope, build);
  const insideOptional = operand.type.name === 'optional';
  const container = insideOptional ? (operand.type.params[0] ?? DYN) : operand.type;
  const member = memberType(node, container, key.type, scope);
  const optional = node.optional || insideOptional;
  const access = node.optional ? optionalAccess : plainAccess;
  return {
    type: optional && member.name !== 'optional' ? celType('optional', member) : member,
    run: (frame) => {
      const from = operand.run(frame);
      if (from instanceof CelFailure) return from;
      const k = key.run(frame);
      if (k instanceof CelFailure) return k;
      frame.cost += 1;
      return access(from, k);
    },
  };
}

function buildKey(node: AccessNode, scope: BuildScope, build: BuildNode): BuiltCel {
  if (node.kind === 'index') return build(node.index, scope);
  const field = node.field;
  return { type: STRING, run: () => field };
}

function memberType(node: AccessNode, container: CelType, key: CelType, scope: BuildScope): CelType {
  if (container.name === 'dyn') return DYN;
  if (container.fields !== undefined && node.kind === 'select')
    return container.fields.get(node.field) ?? scope.fail(node, `undefined field '${node.field}'`);
  if (container.name === 'map' && unify(container.params[0] ?? DYN, key, new Map()))
    return container.params[1] ?? DYN;
  if (container.name === 'list' && node.kind === 'index' && unify(INT, key, new Map()))
    return container.params[0] ?? DYN;
  if (node.kind === 'select')
    return scope.fail(node, `type '${formatType(container)}' does not support field selection`);
  const operands = `(${formatType(container)}, ${formatType(key)})`;
  return scope.fail(node, `found no matching overload for '_[_]' applied to '${operands}'`);
}

function plainAccess(from: CelValue, key: CelValue): CelResult {
  return from instanceof CelOptional ? optionalAccess(from, key) : celAccess(from, key);
}

function optionalAccess(from: CelValue, key: CelValue): CelResult {
  const inner = from instanceof CelOptional ? from.value : from;
  if (inner === undefined) return OPTIONAL_NONE;
  const stored = celMapKey(key);
  if (isCelMap(inner)) {
    const value = stored === undefined ? undefined : celMapGet(inner, stored);
    if (value instanceof CelFailure) return value;
    return value === undefined ? OPTIONAL_NONE : new CelOptional(value);
  }
  if (!Array.isArray(inner) || typeof stored !== 'bigint') return celAccess(inner, key);
  const inside = stored >= 0n && stored < BigInt(inner.length);
  return inside ? new CelOptional(lift(inner[Number(stored)])) : OPTIONAL_NONE;
}

/** `has(a.b)`: whether the field is present; a field with the value `null` is. */
export function buildHas(argument: CelNode, scope: BuildScope, build: BuildNode): BuiltCel {
  if (argument.kind !== 'select') return scope.fail(argument, 'invalid argument to has() macro');
  const operand = build(argument.operand, scope);
  const inner = operand.type.name === 'optional' ? (operand.type.params[0] ?? DYN) : operand.type;
  memberType(argument, inner, STRING, scope);
  const field = argument.field;
  return {
    type: celType('bool'),
    run: (frame: CelFrame) => {
      const from = operand.run(frame);
      if (from instanceof CelFailure) return from;
      frame.cost += 1;
      const container = from instanceof CelOptional ? from.value : from;
      if (container === undefined) return false;
      if (isCelMap(container)) return celMapGet(container, field) !== undefined;
      return Array.isArray(container) ? unsupportedIndex('string') : false;
    },
  };
}
