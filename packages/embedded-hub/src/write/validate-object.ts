import { dnsSubdomain, pathSegment } from '@berth/kube/model/selector/name-rules';
import {
  appendAll,
  getOwn,
  type JsonObject,
  type JsonValue,
  objectAt,
  setOwn,
  textAt,
} from '../json/json-value.ts';
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

const partialSchemas = new WeakMap<Schema, Schema | 'whole'>();

/** The top-level fields that a write changed, and a schema of these fields alone. */
export interface ChangedPart {
  readonly schema: Schema;
  readonly part: JsonObject;
  /** The complete object with the processed part. */
  readonly whole: (processed: JsonObject) => JsonObject;
}

/**
 * The schema for some of the fields, without `required`. Rules about the complete object are not
 * checked on a part.
 */
function partialSchema(schema: Schema): Schema | 'whole' {
  const cached = partialSchemas.get(schema);
  if (cached !== undefined) return cached;
  const withRequiredFields = [...(schema.properties?.values() ?? [])].some(
    (one) => one.default !== undefined,
  );
  const { required: _required, ...rest } = schema;
  const result = withRequiredFields || schema.limits !== undefined ? 'whole' : rest;
  partialSchemas.set(schema, result);
  return result;
}

/**
 * The part of an object that must be validated. A patch leaves most fields identical (by reference)
 * to those of the live object, which are valid already. Most writes of a hub are status writes, and
 * this way large specs do not slow them down.
 */
export function changedPart(schema: Schema, object: JsonObject, live: JsonObject | undefined): ChangedPart {
  const partSchema = live === undefined ? 'whole' : partialSchema(schema);
  if (live === undefined || partSchema === 'whole')
    return { schema, part: object, whole: (processed) => processed };
  const part: JsonObject = {};
  for (const key of Object.keys(object)) {
    const value = object[key] as JsonValue;
    if (value !== getOwn(live, key)) setOwn(part, key, value);
  }
  return {
    schema: partSchema,
    part,
    whole: (processed) => (processed === part ? object : mergePart(object, part, processed)),
  };
}

function mergePart(object: JsonObject, part: JsonObject, processed: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(object)) {
    if (!Object.hasOwn(part, key)) setOwn(result, key, object[key] as JsonValue);
    else if (Object.hasOwn(processed, key)) setOwn(result, key, processed[key] as JsonValue);
  }
  return result;
}
