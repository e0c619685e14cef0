import { dnsSubdomain, pathSegment } from '@berth/kube/model/selector/name-rules';
import { type JsonObject, objectAt, textAt, appendAll } from '../json/json-value.ts';
import { hasRules, validateRules } from '../schema/cel/validate-rules.ts';
import { validateEmbedded } from '../schema/embedded-resources.ts';
import { required } from '../schema/field-problems.ts';
import type { Schema } from '../schema/schema.ts';
import { validateChangedMetadata, validateNewMetadata } from '../schema/validate-metadata.ts';
import { validateValue } from '../schema/validate-value.ts';
import { rulesOf } from '../validation/all-rules.ts';
import { checkStatus } from '../validation/status-rules.ts';
import { FieldReporter } from '../validation/values/field-reporter.ts';
import { checkMetadata } from '../validation/values/metadata-rules.ts';
import { type FieldProblem, invalid } from '../wire/status-errors.ts';
import { strategyOf } from './strategy/all-strategies.ts';
import { changedPart } from './changed-part.ts';
import type { WriteRequest } from './write-request.ts';

/** Problems after which CEL rules are not evaluated, since rules rely on correct types. */
const BLOCKING = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

/** Reported after problems of fields, in place of the rules that need correct fields. */
export const RULES_NOT_CHECKED: FieldProblem = {
  field: '<nil>',
  reason: 'FieldValueInvalid',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

/**
 * Throws 422 with all problems. On update, problems of unchanged values are ignored (ratcheting).
 */
export function validateObject(request: WriteRequest, object: JsonObject, old: JsonObject | undefined): void {
  let problems = problemsOf(request, object, old);
  if (problems.length > 0 && old !== undefined) {
    // An earlier version may have stored it with fewer defaults; the API server adds defaults when
    // it reads from storage.
    const complete = strategyOf(request.ref).fillIn?.(old, old, request.now) ?? old;
    const fresh = complete === old ? problems : problemsOf(request, object, complete);
    problems = withoutKnown(fresh, problemsOf(request, complete, undefined));
  }
  if (problems.length === 0) return;
  throw invalid(request.ref.definition, textAt(objectAt(object, 'metadata'), 'name'), problems);
}

function problemsOf(
  request: WriteRequest,
  object: JsonObject,
  old: JsonObject | undefined,
): readonly FieldProblem[] {
  const { ref } = request;
  if (ref.definition.builtIn) return kindProblems(request, object, old);
  const problems: FieldProblem[] = [];
  checkOwnMetadata(object, old, problems);
  checkSchema(ref.version.schema, object, old, problems);
  return problems;
}

/**
 * On update the API server checks these rules in three places, and reports each problem three
 * times.
 */
function checkOwnMetadata(object: JsonObject, old: JsonObject | undefined, problems: FieldProblem[]): void {
  if (old === undefined) {
    validateNewMetadata(object, dnsSubdomain, problems);
    return;
  }
  validateNewMetadata(object, pathSegment, problems);
  if (problems.length === 0) return;
  validateChangedMetadata(object, problems);
  validateChangedMetadata(object, problems);
}

function checkSchema(
  schema: Schema,
  object: JsonObject,
  old: JsonObject | undefined,
  problems: FieldProblem[],
): void {
  const changed = changedPart(schema, object, old);
  if (changed.part !== object) {
    const missing = (schema.required ?? []).filter((key) => !Object.hasOwn(object, key));
    appendAll(
      problems,
      missing.map((key) => required(key)),
    );
  }
  validateValue(changed.schema, changed.part, problems);
  validateEmbedded(changed.schema, changed.part, problems);
  if (!hasRules(schema)) return;
  if (problems.some((problem) => BLOCKING.has(problem.reason))) problems.push(RULES_NOT_CHECKED);
  else appendAll(problems, validateRules(schema, object, old));
}

function withoutKnown(
  problems: readonly FieldProblem[],
  known: readonly FieldProblem[],
): readonly FieldProblem[] {
  const texts = new Set(known.map((problem) => `${problem.field}\n${problem.message}`));
  const fresh = problems.filter((problem) => !texts.has(`${problem.field}\n${problem.message}`));
  return fresh.every((problem) => problem === RULES_NOT_CHECKED) ? [] : fresh;
}

/** Problems of an object of a built-in kind, in the order of the API server. */
function kindProblems(
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
