import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { getOwn, numberAt, objectAt } from '../../json/json-value.ts';
import type { FieldReporter } from '../values/field-reporter.ts';
import { semanticEqual } from '../values/semantic-equal.ts';

const FIXED_FIELDS = [
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
];

/**
 * Most of the spec of a Job is immutable. Source: pkg/apis/batch/validation
 * (ValidateJobSpecUpdate).
 */
export function checkJobChange(spec: JsonObject, old: JsonObject, at: FieldReporter): void {
  const before = objectAt(old, 'spec') ?? {};
  checkCompletions(spec, before, at.at('completions'));
  const fixed = (field: string): void => {
    if (!semanticEqual(getOwn(spec, field), getOwn(before, field)))
      at.at(field).invalid(getOwn(spec, field), 'field is immutable');
  };
  fixed('selector');
  const template = objectAt(spec, 'template') ?? {};
  const place = isUnstarted(old) ? withoutScheduling : (kept: JsonObject): JsonObject => kept;
  if (!semanticEqual(place(template), place(objectAt(before, 'template') ?? {})))
    at.at('template').invalid(template, 'field is immutable');
  for (const field of FIXED_FIELDS) fixed(field);
}

/** `completions` of an Indexed Job may change, together with `parallelism`. */
function checkCompletions(spec: JsonObject, before: JsonObject, at: FieldReporter): void {
  const [now, then] = [numberAt(spec, 'completions'), numberAt(before, 'completions')];
  if (now === then) return;
  const value: JsonValue = now ?? null;
  if (spec['completionMode'] !== 'Indexed') at.invalid(value, 'field is immutable');
  else if (now !== undefined && now !== (numberAt(spec, 'parallelism') ?? 1))
    at.invalid(value, 'can only be modified in tandem with spec.parallelism');
}

function isUnstarted(job: JsonObject): boolean {
  return objectAt(job, 'spec')?.['suspend'] === true && objectAt(job, 'status')?.['startTime'] === undefined;
}

/** The scheduling rules in the template of a suspended Job that has not started may change. */
function withoutScheduling(template: JsonObject): JsonObject {
  const metadata = { ...objectAt(template, 'metadata') };
  const spec = { ...objectAt(template, 'spec') };
  for (const field of ['labels', 'annotations']) delete metadata[field];
  for (const field of ['nodeSelector', 'tolerations', 'affinity', 'schedulingGates']) delete spec[field];
  return { ...template, metadata, spec };
}
