import { buildAccess } from './build/build-access.ts';
import { buildCall } from './build/build-call.ts';
import { buildList, buildLiteral, buildMap } from './build/build-literal.ts';
import { BuildScope, CelCompileError, type BuiltCel } from './build/build-scope.ts';
import type { CelNode } from './syntax/cel-node.ts';
import { parseCel } from './syntax/parse-cel.ts';
import { COST_EXCEEDED, COST_LIMIT_PER_CALL } from './value/cel-cost.ts';
import type { CelEnvironment } from './value/cel-environment.ts';
import { type CelProblem, celProblem } from './value/cel-problem.ts';
import type { CelType } from './value/cel-type.ts';
import { type CelValue, CelFailure, lift, CelTypeValue } from './value/cel-value.ts';

export type CelCompilation =
  | { readonly ok: true; readonly program: CelProgram }
  | { readonly ok: false; readonly problem: CelProblem };

/** `cost` is set for every outcome. `cost-limit`: the evaluation was cancelled. */
export type CelOutcome =
  | { readonly ok: true; readonly value: CelValue; readonly cost: number }
  | {
      readonly ok: false;
      readonly kind: 'runtime' | 'cost-limit';
      readonly message: string;
      readonly cost: number;
    };

export interface CelProgram {
  readonly expression: string;
  readonly type: CelType;
  /** Variables of the environment that the expression reads. */
  readonly usedVariables: ReadonlySet<string>;
  /**
   * @param variables JSON values by name; absent ones are null.
   * @param costLimit default: Kubernetes' 1,000,000
   */
  evaluate(variables: Readonly<Record<string, unknown>>, costLimit?: number): CelOutcome;
}

/**
 * Parses and type-checks; returns a program, or the first problem with its position. Never throws
 * on bad input.
 */
export function compileCel(expression: string, environment: CelEnvironment): CelCompilation {
  const parsed = parseCel(expression);
  if ('problem' in parsed) return { ok: false, problem: parsed.problem };
  const scope = BuildScope.root(environment, expression);
  try {
    const { type, run } = buildCel(parsed.node, scope);
    const names = [...environment.variables.keys()];
    return {
      ok: true,
      program: {
        expression,
        type,
        usedVariables: scope.usedVariables(),
        evaluate: (variables, costLimit = COST_LIMIT_PER_CALL) => {
          const frame = { slots: names.map((name) => lift(variables[name])), cost: 0, limit: costLimit };
          const value = run(frame);
          return outcome(frame.cost > costLimit ? COST_EXCEEDED : value, frame.cost);
        },
      },
    };
  } catch (error) {
    if (error instanceof CelCompileError) return { ok: false, problem: error.problem };
    // A chain of thousands of operators is a deep tree, although it contains no parentheses.
    if (error instanceof RangeError)
      return { ok: false, problem: celProblem(expression, 0, 'expression is nested too deeply') };
    throw error;
  }
}

function outcome(value: CelValue | CelFailure, cost: number): CelOutcome {
  if (!(value instanceof CelFailure)) return { ok: true, value, cost };
  return { ok: false, kind: value.fatal ? 'cost-limit' : 'runtime', message: value.message, cost };
}

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
function buildCel(node: CelNode, scope: BuildScope): BuiltCel {
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
