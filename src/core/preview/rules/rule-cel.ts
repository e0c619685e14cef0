import { type CelCompilation, compileCel } from '../../cel/compile-cel.ts';
import { KUBERNETES_CEL } from '../../cel/kubernetes-environment.ts';
import { DYN } from '../../cel/value/cel-type.ts';
import { CelFailure, type CelResult, type CelValue } from '../../cel/value/cel-value.ts';
import { overload } from '../../cel/value/overload.ts';
import { type FindPlacement, PLAN_PLACEMENTS } from './plan-view.ts';

const ENVIRONMENT = KUBERNETES_CEL.withVariables({ plan: DYN })
  .withMixedLiterals()
  .withFunctions([overload('dyn.placement(string): dyn', placementOf)]);

/** Compiles the expression of a rule: variable `plan`, function `plan.placement("namespace/name")`. */
export function compileRule(expression: string): CelCompilation {
  return compileCel(expression, ENVIRONMENT);
}

function placementOf(plan: CelValue, key: string): CelResult {
  const find = (plan as { readonly [PLAN_PLACEMENTS]?: FindPlacement } | null)?.[PLAN_PLACEMENTS];
  if (find === undefined) return new CelFailure('no such overload: placement() is a function of plan');
  return find(key) ?? new CelFailure(`there is no Placement ${key} before or after the change`);
}
