import type { AdmissionCompilation, AdmissionNames } from '@berth/kube-cel/admission-cel';
import { compileAdmission } from '@berth/kube-cel/admission-cel';
import type { AdmissionInput } from '@berth/kube-cel/admission-run';
import { AdmissionRun, CONDITION_BUDGET } from '@berth/kube-cel/admission-run';
import type { CompiledVariable } from '@berth/kube-cel/admission-cel';
import type { JsonObject } from '../../json/json-value.ts';
import { isObject, listAt, textAt } from '../../json/json-value.ts';

/** One of `matchConditions`. */
export interface MatchCondition {
  readonly expression: string;
  readonly compilation: AdmissionCompilation;
}

export function readMatchConditions(owner: JsonObject, names: AdmissionNames): readonly MatchCondition[] {
  return listAt(owner, 'matchConditions')
    .filter(isObject)
    .map((condition) => {
      const expression = textAt(condition, 'expression');
      return { expression, compilation: compileAdmission(expression, names, 'bool') };
    });
}

/**
 * A false condition decides, even if another one fails; otherwise a failing condition is an error.
 * `cost`: the CEL cost. Source: apiserver
 * `pkg/admission/plugin/webhook/matchconditions/matcher.go`.
 */
export function evaluateConditions(
  conditions: readonly MatchCondition[],
  input: AdmissionInput,
  variables: readonly CompiledVariable[] = [],
): { readonly result: boolean | { readonly error: string }; readonly cost: number } {
  const run = new AdmissionRun(input, CONDITION_BUDGET, variables);
  const outcomes = [];
  for (const { expression, compilation } of conditions) {
    const outcome = run.evaluate(expression, compilation);
    if (outcome.kind === 'budget') return { result: { error: outcome.message }, cost: run.cost };
    outcomes.push(outcome);
  }
  const { cost } = run;
  if (outcomes.some((one) => one.kind === 'value' && one.value === false)) return { result: false, cost };
  const errors = [...new Set(outcomes.flatMap((one) => (one.kind === 'value' ? [] : [one.message])))];
  if (errors.length === 0) return { result: true, cost };
  return { result: { error: errors.length === 1 ? (errors[0] as string) : `[${errors.join(', ')}]` }, cost };
}
