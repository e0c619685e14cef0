import { IMMUTABLE, invalidValue, required } from '../../admit/field-problems.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { deepEqual, getOwn, objectAt, textAt } from '../../json/json-value.ts';
import type { FieldProblem } from '../../status/status-errors.ts';
import { withTemplateDefaults } from './pod-defaults.ts';
import { selectorProblems } from './pod-selector.ts';
import type { Strategy } from './strategy.ts';
import { JOB_COUNTS, withStatusCounts } from './workload-status.ts';

const JOB_DEFAULTS = {
  backoffLimit: 6,
  completionMode: 'NonIndexed',
  manualSelector: false,
  podReplacementPolicy: 'TerminatingOrFailed',
  suspend: false,
};

function withJobDefaults(object: JsonObject): JsonObject {
  const spec = objectAt(object, 'spec');
  if (spec === undefined) return object;
  const counts =
    spec['completions'] === undefined && spec['parallelism'] === undefined ? { completions: 1 } : {};
  return {
    ...object,
    spec: withTemplateDefaults({ ...JOB_DEFAULTS, ...counts, parallelism: 1, ...spec }),
  };
}

/** A Job finds its pods by labels that carry its uid. */
function withJobSelector(object: JsonObject): JsonObject {
  const spec = objectAt(object, 'spec');
  const template = objectAt(spec, 'template');
  if (spec === undefined || template === undefined || spec['manualSelector'] === true) return object;
  const metadata = objectAt(object, 'metadata');
  const owner = { 'batch.kubernetes.io/controller-uid': textAt(metadata, 'uid') };
  const labels = {
    ...objectAt(objectAt(template, 'metadata'), 'labels'),
    ...owner,
    'batch.kubernetes.io/job-name': textAt(metadata, 'name'),
  };
  const labelled = { ...template, metadata: { ...objectAt(template, 'metadata'), labels } };
  return { ...object, spec: { ...spec, selector: { matchLabels: owner }, template: labelled }, status: {} };
}

const FIXED_FIELDS = [
  'completionMode',
  'podFailurePolicy',
  'successPolicy',
  'backoffLimitPerIndex',
  'managedBy',
];

/** What a Job runs is decided when it is made. The selector is generated: a PUT that leaves it out is refused, as elsewhere. */
function jobProblems(object: JsonObject, old: JsonObject | undefined): readonly FieldProblem[] {
  const spec = objectAt(object, 'spec') ?? {};
  const missing = getOwn(spec, 'selector') === undefined ? [required('spec.selector')] : [];
  const problems = [...missing, ...selectorProblems(object, old)];
  if (old === undefined) return problems;
  const before = objectAt(old, 'spec') ?? {};
  const fixed = [...(mayGrow(spec) ? [] : ['completions']), ...FIXED_FIELDS];
  for (const field of fixed)
    if (!deepEqual(getOwn(spec, field), getOwn(before, field)))
      problems.push(invalidValue(`spec.${field}`, getOwn(spec, field), IMMUTABLE));
  const template = objectAt(spec, 'template') ?? {};
  const place = isUnstarted(old) ? withoutScheduling : (kept: JsonObject): JsonObject => kept;
  if (!deepEqual(place(template), place(objectAt(before, 'template') ?? {})))
    problems.push(invalidValue('spec.template', template, IMMUTABLE));
  return problems;
}

/** An Indexed Job may change its completions together with its parallelism. */
function mayGrow(spec: JsonObject): boolean {
  return spec['completionMode'] === 'Indexed' && spec['completions'] === spec['parallelism'];
}

function isUnstarted(job: JsonObject): boolean {
  return objectAt(job, 'spec')?.['suspend'] === true && objectAt(job, 'status')?.['startTime'] === undefined;
}

/** Where the pods of a Job that has not started are to run may still change. */
function withoutScheduling(template: JsonObject): JsonObject {
  const metadata = { ...objectAt(template, 'metadata') };
  const spec = { ...objectAt(template, 'spec') };
  for (const field of ['labels', 'annotations']) delete metadata[field];
  for (const field of ['nodeSelector', 'tolerations', 'affinity', 'schedulingGates']) delete spec[field];
  return { ...template, metadata, spec };
}

export const JOB_STRATEGY: Strategy = {
  generation: true,
  fillIn: (object) => withStatusCounts(withJobDefaults(object), JOB_COUNTS),
  onCreate: withJobSelector,
  validate: jobProblems,
};
