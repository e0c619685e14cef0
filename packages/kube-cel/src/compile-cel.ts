import { buildCel } from './build/build-cel.ts';
import { BuildScope, CelCompileError } from './build/build-scope.ts';
import { COST_EXCEEDED, COST_LIMIT_PER_CALL } from './value/cel-cost.ts';
import type { CelEnvironment } from './value/cel-environment.ts';
import type { CelProblem } from './value/cel-problem.ts';
import { celProblem } from './value/cel-problem.ts';
import type { CelType } from './value/cel-type.ts';
import type { CelValue } from './value/cel-value.ts';
import { CelFailure, lift } from './value/cel-value.ts';
import { parseCel } from './syntax/parse-cel.ts';

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
