import { type CelCompilation, compileCel } from './compile-cel.ts';
import { CONVERSIONS } from './library/conversions.ts';
import { FORMATS } from './library/formats.ts';
import { NETWORK } from './library/ips.ts';
import { LISTS, SETS } from './library/lists.ts';
import { OPERATORS } from './library/operators.ts';
import { OPTIONALS } from './library/optionals.ts';
import { QUANTITIES } from './library/quantities.ts';
import { REGEX } from './library/regex.ts';
import { SEMVERS } from './library/semvers.ts';
import { STRING_FORMAT } from './library/string-format.ts';
import { STRINGS } from './library/strings.ts';
import { TIMES } from './library/time.ts';
import { URLS } from './library/urls.ts';
import { CelEnvironment } from './value/cel-environment.ts';
import { celMapGet, isCelMap } from './value/cel-map.ts';
import { BOOL, DYN } from './value/cel-type.ts';
import type { CelValue } from './value/cel-value.ts';
import { overload } from './value/overload.ts';

/**
 * The CEL environment of the Kubernetes API server, without variables. Each use adds its own
 * variables and functions.
 */
export const KUBERNETES_CEL: CelEnvironment = CelEnvironment.of(
  OPERATORS,
  CONVERSIONS,
  TIMES,
  OPTIONALS,
  STRINGS,
  STRING_FORMAT,
  LISTS,
  SETS,
  REGEX,
  URLS,
  QUANTITIES,
  NETWORK,
  FORMATS,
  SEMVERS,
);

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

/**
 * `x-kubernetes-validations` of a custom resource definition: `self` is the value at the schema node, `oldSelf` the one
 * before an update. A rule whose program uses `oldSelf` (`usedVariables`) is a transition rule: skipped on create.
 */
const VALIDATIONS = KUBERNETES_CEL.withVariables({ self: DYN, oldSelf: DYN });

/** For `rule` (the value should be a bool) and `messageExpression` (a string). */
export function compileValidation(expression: string): CelCompilation {
  return compileCel(expression, VALIDATIONS);
}
