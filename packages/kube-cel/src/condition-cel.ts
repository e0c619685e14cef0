import { BOOL, DYN } from './value/cel-type.ts';
import type { CelValue } from './value/cel-value.ts';
import type { CelCompilation } from './compile-cel.ts';
import { compileCel } from './compile-cel.ts';
import { celMapGet, isCelMap } from './value/cel-map.ts';
import { KUBERNETES_CEL } from './kubernetes-environment.ts';
import { overload } from './value/overload.ts';

/**
 * Condition rules of a ManifestWork: `object` is the applied object; message expressions may also
 * use `result`, the result of the rule.
 */

const RULES = KUBERNETES_CEL.withVariables({ object: DYN }).withFunctions([
  overload('hasConditions(dyn): bool', hasConditions),
]);
const MESSAGES = RULES.withVariables({ result: BOOL });

/** Variable `object`. The value should be a bool. Name any other type with `celTypeName`. */
export function compileConditionRule(expression: string): CelCompilation {
  return compileCel(expression, RULES);
}

/** Variables `object` and `result` (bool). The value should be a string. */
export function compileConditionMessage(expression: string): CelCompilation {
  return compileCel(expression, MESSAGES);
}

function hasConditions(value: CelValue): boolean {
  const conditions = isCelMap(value) ? celMapGet(value, 'conditions') : undefined;
  return Array.isArray(conditions) && conditions.length > 0;
}
