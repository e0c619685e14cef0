import type { BuildNode } from './build-literal.ts';
import type { BuildScope, BuiltCel } from './build-scope.ts';
import type { CelCallNode } from '../syntax/cel-node.ts';
import { celType, DYN, formatType, unify } from '../value/cel-type.ts';
import { CelFailure, CelOptional, celTypeName, OPTIONAL_NONE } from '../value/cel-value.ts';

/** The functions of optionals whose argument is only evaluated when it is needed: or, orValue, optMap, optFlatMap. */
export function isOptionalMacro(node: CelCallNode): boolean {
  if (node.receiver === undefined) return false;
  if (node.name === 'or' || node.name === 'orValue') return node.args.length === 1;
  return (node.name === 'optMap' || node.name === 'optFlatMap') && node.args.length === 2;
}

export function buildOptionalMacro(node: CelCallNode, scope: BuildScope, build: BuildNode): BuiltCel {
  const { receiver } = node;
  if (receiver === undefined) return scope.fail(node, 'optional expected');
  const from = build(receiver, scope);
  if (from.type.name !== 'optional' && from.type.name !== 'dyn')
    return scope.fail(
      node,
      `found no matching overload for '${node.name}' applied to '${formatType(from.type)}'`,
    );
  return node.name.startsWith('opt')
    ? buildOptionalMap(node, from, { scope, build })
    : buildAlternative(node, from, { scope, build });
}

interface Context {
  readonly scope: BuildScope;
  readonly build: BuildNode;
}

function buildAlternative(node: CelCallNode, from: BuiltCel, { scope, build }: Context): BuiltCel {
  const [argument] = node.args;
  if (argument === undefined) return scope.fail(node, 'one argument expected');
  const other = build(argument, scope);
  const wanted = node.name === 'or' ? from.type : (from.type.params[0] ?? DYN);
  if (!unify(wanted, other.type, new Map()))
    return scope.fail(
      node,
      `found no matching overload for '${node.name}' applied to '${formatType(from.type)}.(${formatType(other.type)})'`,
    );
  return {
    type: other.type,
    run: (frame) => {
      const value = from.run(frame);
      if (value instanceof CelFailure) return value;
      if (!(value instanceof CelOptional)) return notOptional(node.name, value);
      frame.cost += 1;
      if (value.value === undefined) return other.run(frame);
      return node.name === 'or' ? value : value.value;
    },
  };
}

function buildOptionalMap(node: CelCallNode, from: BuiltCel, { scope, build }: Context): BuiltCel {
  const [variable, body] = node.args;
  if (variable?.kind !== 'ident' || body === undefined)
    return scope.fail(variable ?? node, `${node.name}() variable name must be a simple identifier`);
  const inner = scope.with(variable.name, from.type.params[0] ?? DYN);
  const mapped = build(body, inner.scope);
  const flat = node.name === 'optFlatMap';
  return {
    type: flat ? mapped.type : celType('optional', mapped.type),
    run: (frame) => {
      const value = from.run(frame);
      if (value instanceof CelFailure) return value;
      if (!(value instanceof CelOptional)) return notOptional(node.name, value);
      frame.cost += 1;
      if (value.value === undefined) return OPTIONAL_NONE;
      frame.slots[inner.slot] = value.value;
      const result = mapped.run(frame);
      if (result instanceof CelFailure) return result;
      if (!flat) return new CelOptional(result);
      return result instanceof CelOptional ? result : notOptional(node.name, result);
    },
  };
}

function notOptional(name: string, value: Parameters<typeof celTypeName>[0]): CelFailure {
  return new CelFailure(`no such overload: ${name} on ${celTypeName(value)}`);
}
