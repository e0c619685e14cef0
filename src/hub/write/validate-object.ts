import { validateMetadata } from '../admit/validate-metadata.ts';
import { validateRules } from '../admit/validate-rules.ts';
import { validateValue } from '../admit/validate-value.ts';
import type { JsonObject } from '../json/json-value.ts';
import { objectAt, textAt } from '../json/json-value.ts';
import type { FieldProblem } from '../status/status-errors.ts';
import { invalid } from '../status/status-errors.ts';
import { requiredOfBuiltin } from './required-fields.ts';
import { strategyOf } from './strategy/all-strategies.ts';
import type { WriteRequest } from './write-request.ts';

/** These keep rules from being checked: a rule may rely on the types. */
const BLOCKING = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

const RULES_NOT_CHECKED: FieldProblem = {
  field: '<nil>',
  reason: 'FieldValueInvalid',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

/** Throws 422 with everything that is wrong. On update, what was wrong before in the same way is let through. */
export function validateObject(request: WriteRequest, object: JsonObject, old: JsonObject | undefined): void {
  let problems = problemsOf(request, object, old);
  if (problems.length > 0 && old !== undefined)
    problems = withoutKnown(problems, problemsOf(request, old, old));
  if (problems.length === 0) return;
  throw invalid(request.ref.definition, textAt(objectAt(object, 'metadata'), 'name'), problems);
}

function problemsOf(
  request: WriteRequest,
  object: JsonObject,
  old: JsonObject | undefined,
): readonly FieldProblem[] {
  const { ref } = request;
  const problems: FieldProblem[] = [...validateMetadata(ref.definition, object)];
  const { schema } = ref.version;
  if (ref.definition.builtIn) problems.push(...requiredOfBuiltin(schema, object));
  else {
    validateValue(schema, object, problems);
    const blocked = problems.some((problem) => BLOCKING.has(problem.reason));
    const rules = blocked ? undefined : validateRules(schema, object, old);
    if (rules !== undefined) problems.push(...rules);
    else if (hasRules(ref.version.schema)) problems.push(RULES_NOT_CHECKED);
  }
  problems.push(...(strategyOf(ref).validate?.(object, old) ?? []));
  return problems;
}

function withoutKnown(
  problems: readonly FieldProblem[],
  known: readonly FieldProblem[],
): readonly FieldProblem[] {
  const texts = new Set(known.map((problem) => `${problem.field}\n${problem.message}`));
  const fresh = problems.filter((problem) => !texts.has(`${problem.field}\n${problem.message}`));
  return fresh.every((problem) => problem === RULES_NOT_CHECKED) ? [] : fresh;
}

const withRules = new WeakMap<object, boolean>();

/** Whether any node of the schema has validation rules. */
function hasRules(schema: WriteRequest['ref']['version']['schema']): boolean {
  const known = withRules.get(schema);
  if (known !== undefined) return known;
  withRules.set(schema, false);
  const below = [
    ...(schema.properties?.values() ?? []),
    schema.items,
    schema.additional === true ? undefined : schema.additional,
  ];
  const found = (schema.rules?.length ?? 0) > 0 || below.some((one) => one !== undefined && hasRules(one));
  withRules.set(schema, found);
  return found;
}
