import type { CelValue } from '@berth/kube-cel/value/cel-value';
import { CelDouble, CelFailure, CelMap, CelOptional, CelUint, lift } from '@berth/kube-cel/value/cel-value';
import { DYN } from '@berth/kube-cel/value/cel-type';
import { compileCel } from '@berth/kube-cel/compile-cel';
import { KUBERNETES_CEL } from '@berth/kube-cel/kubernetes-environment';

const ENVIRONMENT = KUBERNETES_CEL.withVariables({ x: DYN, y: DYN });

/** Value of an expression in a form that reads well in a table; `error: …` when it has none. */
export function evaluateCel(expression: string, variables: Record<string, unknown> = {}): unknown {
  const compiled = compileCel(expression, ENVIRONMENT);
  if (!compiled.ok) return `compile: ${compiled.problem.column}: ${compiled.problem.message}`;
  const outcome = compiled.program.evaluate(variables);
  return outcome.ok ? plain(outcome.value) : `error: ${outcome.message}`;
}

export function celCost(expression: string, variables: Record<string, unknown> = {}): number {
  const compiled = compileCel(expression, ENVIRONMENT);
  if (!compiled.ok) throw new Error(compiled.problem.message);
  return compiled.program.evaluate(variables).cost;
}

/** ints as bigint, doubles as number, lists and maps unwrapped. */
function plain(value: CelValue | CelFailure): unknown {
  if (value instanceof CelFailure) return value.message;
  if (value instanceof CelDouble) return value.value;
  if (value instanceof CelUint) return `${value.value}u`;
  if (value instanceof CelOptional) return value.value === undefined ? 'none' : { some: plain(value.value) };
  if (value instanceof CelMap)
    return Object.fromEntries([...value.entries].map(([key, item]) => [String(key), plain(item)]));
  return Array.isArray(value) ? value.map((item) => plain(lift(item))) : value;
}
