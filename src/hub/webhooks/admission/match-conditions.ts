import { compileMatchCondition } from '../../../core/cel/admission-cel.ts';
import { evaluateWithin, newCelBudget } from '../../../core/cel/cel-budget.ts';
import type { JsonObject } from '../../json/json-value.ts';
import type { MatchCondition } from './webhook-configurations.ts';

/** A quarter of what validation may cost. Source: apiserver `pkg/apis/cel/config.go`. */
const COST_BUDGET = 2_500_000;

export interface ConditionInput {
  readonly object: JsonObject | null;
  readonly oldObject: JsonObject | null;
  readonly request: JsonObject;
}

/** One condition that is false decides, whatever the others are; a condition that fails is an error then. */
export function evaluateConditions(
  conditions: readonly MatchCondition[],
  input: ConditionInput,
): boolean | { readonly error: string } {
  const budget = newCelBudget(COST_BUDGET);
  const errors: string[] = [];
  for (const { name, expression } of conditions) {
    const compilation = compileMatchCondition(expression);
    if (!compilation.ok) {
      errors.push(`compilation error: ${compilation.problem.message}`);
      continue;
    }
    const outcome = evaluateWithin(budget, compilation.program, { ...input });
    if (!outcome.ok) errors.push(`expression '${expression}' resulted in error: ${outcome.message}`);
    else if (outcome.value === false) return false;
    else if (outcome.value !== true) errors.push(`match condition ${name} evaluated to no bool`);
  }
  if (errors.length === 0) return true;
  return { error: errors.length === 1 ? (errors[0] as string) : `[${errors.join(', ')}]` };
}
