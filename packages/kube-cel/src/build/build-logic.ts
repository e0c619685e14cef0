import type { BuildNode } from './build-literal.ts';
import type { BuildScope, BuiltCel } from './build-scope.ts';
import type { CelCallNode, CelNode } from '../syntax/cel-node.ts';
import { BOOL, DYN, formatType, unify } from '../value/cel-type.ts';
import { CelFailure, type CelResult, celTypeName } from '../value/cel-value.ts';

/** `&&` and `||`: when one side alone decides the result, an error of the other side is ignored. */
export function buildAnd(node: CelCallNode, scope: BuildScope, build: BuildNode): BuiltCel {
  return buildLogic(node, scope, { build, deciding: false });
}

export function buildOr(node: CelCallNode, scope: BuildScope, build: BuildNode): BuiltCel {
  return buildLogic(node, scope, { build, deciding: true });
}

function buildLogic(
  node: CelCallNode,
  scope: BuildScope,
  how: { readonly build: BuildNode; readonly deciding: boolean },
): BuiltCel {
  const { deciding } = how;
  const [left, right] = node.args.map((arg) => buildBool(arg, node, { scope, build: how.build }));
  if (left === undefined || right === undefined) return scope.fail(node, 'two operands expected');
  return {
    type: BOOL,
    run: (frame) => {
      const a = left.run(frame);
      if (a === deciding) return deciding;
      if (a instanceof CelFailure && a.fatal) return a;
      const b = right.run(frame);
      if (b === deciding) return deciding;
      return combine(a, b, !deciding);
    },
  };
}

/**
 * The result when no side decides: the neutral value if both sides have it, otherwise the first
 * error.
 */
export function combine(a: CelResult, b: CelResult, neutral: boolean): CelResult {
  if (b instanceof CelFailure && b.fatal) return b;
  if (a !== neutral) return asFailure(a);
  return b === neutral ? b : asFailure(b);
}

function asFailure(value: CelResult): CelFailure {
  return value instanceof CelFailure
    ? value
    : new CelFailure(`no such overload: a bool was expected, got ${celTypeName(value)}`);
}

function buildBool(
  arg: CelNode,
  node: CelCallNode,
  context: { readonly scope: BuildScope; readonly build: BuildNode },
): BuiltCel {
  const built = context.build(arg, context.scope);
  if (!unify(BOOL, built.type, new Map()))
    context.scope.fail(
      arg,
      `found no matching overload for '${node.name}': expected type 'bool' but found '${formatType(built.type)}'`,
    );
  return built;
}

/** `c ? a : b`; only the chosen branch is evaluated. */
export function buildConditional(node: CelCallNode, scope: BuildScope, build: BuildNode): BuiltCel {
  const [conditionNode, thenNode, elseNode] = node.args;
  if (conditionNode === undefined || thenNode === undefined || elseNode === undefined)
    return scope.fail(node, 'three operands expected');
  const condition = buildBool(conditionNode, node, { scope, build });
  const yes = build(thenNode, scope);
  const no = build(elseNode, scope);
  if (!unify(yes.type, no.type, new Map())) {
    const applied = `(bool, ${formatType(yes.type)}, ${formatType(no.type)})`;
    scope.fail(node, `found no matching overload for '_?_:_' applied to '${applied}'`);
  }
  return {
    type: no.type.name === 'dyn' ? DYN : yes.type,
    run: (frame) => {
      const value = condition.run(frame);
      if (value === true) return yes.run(frame);
      return value === false ? no.run(frame) : asFailure(value);
    },
  };
}
