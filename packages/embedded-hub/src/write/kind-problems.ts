import type { JsonObject } from '../json/json-value.ts';
import type { FieldProblem } from '../wire/status-errors.ts';
import { rulesOf } from '../validation/all-rules.ts';
import { checkStatus } from '../validation/status-rules.ts';
import { checkMetadata } from '../validation/values/metadata-rules.ts';
import { FieldReporter } from '../validation/values/field-reporter.ts';
import { strategyOf } from './strategy/all-strategies.ts';
import type { WriteRequest } from './write-request.ts';

/** Problems of an object of a built-in kind, in the order of the API server. */
export function kindProblems(
  { ref, subresource }: WriteRequest,
  object: JsonObject,
  old: JsonObject | undefined,
): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const reporter = new FieldReporter(problems);
  const rules = rulesOf(ref);
  checkMetadata(rules, object, reporter, old);
  if (subresource === '') {
    rules?.validate(object, reporter, old);
    problems.push(...(strategyOf(ref).validate?.(object, old) ?? []));
  } else if (old !== undefined) rules?.validateSubresource?.(subresource, object, reporter, old);
  if (subresource === 'status') checkStatus(ref, object, reporter);
  return problems;
}
