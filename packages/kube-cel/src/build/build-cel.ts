import { buildAccess } from './build-access.ts';
import { buildCall } from './build-call.ts';
import type { BuildScope, BuiltCel } from './build-scope.ts';
import { buildList, buildLiteral, buildMap } from './build-literal.ts';
import type { CelNode } from '../syntax/cel-node.ts';
import { CelTypeValue } from '../value/cel-value.ts';

/** Names of types are values: `type(x) == string`. */
const TYPE_NAMES: ReadonlyMap<string, CelTypeValue> = new Map(
  [
    'bool',
    'int',
    'uint',
    'double',
    'string',
    'bytes',
    'list',
    'map',
    'null_type',
    'type',
    'optional_type',
  ].map((name) => [name, new CelTypeValue(name)]),
);

/** Checks a node and everything below it, and turns it into a closure. */
export function buildCel(node: CelNode, scope: BuildScope): BuiltCel {
  switch (node.kind) {
    case 'literal':
      return buildLiteral(node.value, node, scope);
    case 'ident':
      return buildVariable(node.name, node, scope);
    case 'select':
      return buildQualified(node, scope) ?? buildAccess(node, scope, buildCel);
    case 'index':
      return buildAccess(node, scope, buildCel);
    case 'list':
      return buildList(node, scope, buildCel);
    case 'map':
      return buildMap(node, scope, buildCel);
    case 'call':
      return buildCall(node, scope, buildCel);
  }
}

/** A variable with a dot in its name, e.g. `authorizer.requestResource`. */
function buildQualified(node: Extract<CelNode, { kind: 'select' }>, scope: BuildScope): BuiltCel | undefined {
  if (node.operand.kind !== 'ident' || node.optional) return undefined;
  const name = `${node.operand.name}.${node.field}`;
  return scope.environment.variables.has(name) ? buildVariable(name, node, scope) : undefined;
}

function buildVariable(name: string, node: CelNode, scope: BuildScope): BuiltCel {
  const variable = scope.find(name);
  if (variable === undefined) {
    const type = TYPE_NAMES.get(name);
    if (type !== undefined) return buildLiteral(type, node, scope);
    return scope.fail(node, `undeclared reference to '${name}' (in container '')`);
  }
  const { slot, type } = variable;
  return {
    type,
    run: (frame) => {
      frame.cost += 1;
      return frame.slots[slot] ?? null;
    },
  };
}
