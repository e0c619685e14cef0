import { type CelCompilation, compileCel } from '@berth/kube-cel/compile-cel';
import { KUBERNETES_CEL } from '@berth/kube-cel/kubernetes-environment';
import { DYN } from '@berth/kube-cel/value/cel-type';
import { CelFailure, type CelResult, type CelValue } from '@berth/kube-cel/value/cel-value';
import { overload } from '@berth/kube-cel/value/overload';
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
