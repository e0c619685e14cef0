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
