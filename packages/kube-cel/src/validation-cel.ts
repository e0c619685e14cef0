import { DYN } from './value/cel-type.ts';
import type { CelCompilation } from './compile-cel.ts';
import { compileCel } from './compile-cel.ts';
import { KUBERNETES_CEL } from './kubernetes-environment.ts';

/**
 * `x-kubernetes-validations` of a custom resource definition: `self` is the value at the schema node, `oldSelf` the one
 * before an update. A rule whose program uses `oldSelf` (`usedVariables`) is a transition rule: skipped on create.
 */
const VALIDATIONS = KUBERNETES_CEL.withVariables({ self: DYN, oldSelf: DYN });

/** For `rule` (the value should be a bool) and `messageExpression` (a string). */
export function compileValidation(expression: string): CelCompilation {
  return compileCel(expression, VALIDATIONS);
}
