import { dnsLabel } from '@berth/kube/model/selector/name-rules';
import {
  type JsonObject,
  getOwn,
  numberAt,
  objectAt,
  textAt,
  type JsonValue,
} from '../../json/json-value.ts';
import { checkPodTemplate, checkTemplateLabels } from '../pod/pod-rules.ts';
import { checkDomainPath, type FieldReporter, type KindRules } from '../values/field-reporter.ts';
import { checkSelector, isCompilable, selects } from '../values/metadata-rules.ts';
import { semanticEqual } from '../values/semantic-equal.ts';
import { cronProblem } from './cron-schedule.ts';
import { checkFailurePolicy, checkSuccessPolicy } from './job-policies.ts';

/** Source: pkg/apis/batch/validation (ValidateJob, ValidateJobUpdate). */
export const JOB_RULES: KindRules = {
  metadataChecks: 4,
  validate: (job, at, old) => {
    const spec = objectAt(job, 'spec') ?? {};
    const place = at.at('spec');
    checkGeneratedLabels(job, old, place);
    checkSelectedSpec(spec, place);
    checkPodNames(job, spec, at);
    if (old === undefined) return;
    checkSelectedSpec(spec, place);
    checkJobChange(spec, old, place);
  },
};

const FIXED_FIELDS = [
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
];

/** The API server validates this twice on update, and reports each problem twice. */
function checkSelectedSpec(spec: JsonObject, at: FieldReporter): void {
  checkJobSpec(spec, at);
  const selector = objectAt(spec, 'selector');
  if (selector === undefined) at.at('selector').required();
  else checkSelector(selector, at.at('selector'));
  if (isCompilable(selector)) checkTemplateLabels(spec, at);
}

function templateLabels(job: JsonObject): JsonObject {
  return objectAt(objectAt(objectAt(objectAt(job, 'spec'), 'template'), 'metadata'), 'labels') ?? {};
}

/**
 * Checks the labels and the selector that the API server generates. An update needs no label that
 * the Job does not have yet: Jobs of an earlier version of this hub have fewer. Source:
 * pkg/apis/batch/validation (validateGeneratedSelector).
 */
function checkGeneratedLabels(job: JsonObject, old: JsonObject | undefined, at: FieldReporter): void {
  const spec = objectAt(job, 'spec') ?? {};
  const selector = objectAt(spec, 'selector');
  if (spec['manualSelector'] === true || selector === undefined) return;
  const metadata = objectAt(job, 'metadata');
  const [uid, name] = [textAt(metadata, 'uid'), textAt(metadata, 'name')];
  const expected: Readonly<Record<string, string>> = {
    'controller-uid': uid,
    'job-name': name,
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
  };
  const labels = templateLabels(job);
  for (const [key, value] of Object.entries(expected)) {
    if (old !== undefined && getOwn(templateLabels(old), key) === undefined) continue;
    const place = at.at('template').at('metadata').at('labels').entry(key);
    const found = getOwn(labels, key);
    if (found === undefined) place.required(`must be '${value}'`);
    else if (found !== value) place.invalid(labels, `must be '${value}'`);
  }
  if (isCompilable(selector) && !selects(selector, expected))
    at.at('selector').invalid(selector, '`selector` not auto-generated');
}

/** The host name of each pod of an Indexed Job is JOB-INDEX, which must be a valid name. */
function checkPodNames(job: JsonObject, spec: JsonObject, at: FieldReporter): void {
  const completions = numberAt(spec, 'completions') ?? 0;
  if (textAt(spec, 'completionMode') !== 'Indexed' || completions <= 0) return;
  const name = textAt(objectAt(job, 'metadata'), 'name');
  const longest = `${name}-${String(completions - 1)}`;
  if (dnsLabel(longest).length === 0) return;
  const detail = `will not able to create pod with invalid DNS label: ${longest}`;
  at.at('metadata').at('name').invalid(name, detail);
}

const MAX_MANAGER_LENGTH = 63;
const COUNTS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
];

function checkJobSpec(spec: JsonObject, at: FieldReporter): void {
  for (const key of COUNTS) at.at(key).nonNegative(numberAt(spec, key));
  const perIndex = getOwn(spec, 'backoffLimitPerIndex');
  if (numberAt(spec, 'maxFailedIndexes') !== undefined && perIndex === undefined)
    at.at('backoffLimitPerIndex').required('when maxFailedIndexes is specified');
  const manager = getOwn(spec, 'managedBy');
  if (typeof manager === 'string') {
    checkDomainPath(manager, at.at('managedBy'));
    if (manager.length > MAX_MANAGER_LENGTH) at.at('managedBy').tooLong(MAX_MANAGER_LENGTH);
  }
  checkMode(spec, at);
  checkFailurePolicy(spec, at.at('podFailurePolicy'));
  checkSuccessPolicy(spec, at.at('successPolicy'));
  const failure = objectAt(spec, 'podFailurePolicy');
  const replacements = failure === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed'];
  at.at('podReplacementPolicy').oneOfIfPresent(getOwn(spec, 'podReplacementPolicy'), replacements);
  checkPodTemplate(objectAt(spec, 'template') ?? {}, at.at('template'));
  checkRestartPolicy(spec, failure !== undefined, at.at('template').at('spec').at('restartPolicy'));
}

const MODES = ['NonIndexed', 'Indexed'];
const MAX_INDEXED = 100_000;
const MAX_WITH_MANY_COMPLETIONS = 10_000;

function checkMode(spec: JsonObject, at: FieldReporter): void {
  const mode = textAt({ completionMode: 'NonIndexed', ...spec }, 'completionMode');
  if (!MODES.includes(mode)) at.at('completionMode').unsupported(mode, MODES);
  const [failed, completions] = [numberAt(spec, 'maxFailedIndexes'), numberAt(spec, 'completions')];
  const perIndex = numberAt(spec, 'backoffLimitPerIndex');
  if (mode === 'NonIndexed') {
    const detail = 'requires indexed completion mode';
    if (perIndex !== undefined) at.at('backoffLimitPerIndex').invalid(perIndex, detail);
    if (failed !== undefined) at.at('maxFailedIndexes').invalid(failed, detail);
  }
  if (mode !== 'Indexed') return;
  const parallelism = numberAt(spec, 'parallelism') ?? 0;
  const most = `must be less than or equal to`;
  if (completions === undefined) at.at('completions').required('when completion mode is Indexed');
  if (parallelism > MAX_INDEXED)
    at.at('parallelism').invalid(
      parallelism,
      `${most} ${String(MAX_INDEXED)} when completion mode is Indexed`,
    );
  if (completions !== undefined && failed !== undefined && failed > completions)
    at.at('maxFailedIndexes').invalid(failed, `${most} completions`);
  if (failed !== undefined && failed > MAX_INDEXED)
    at.at('maxFailedIndexes').invalid(failed, `${most} ${String(MAX_INDEXED)}`);
  if (completions === undefined || completions <= MAX_INDEXED || perIndex === undefined) return;
  const many = `${most} ${String(MAX_WITH_MANY_COMPLETIONS)} when completions are above ${String(MAX_INDEXED)} and used with backoff limit per index`;
  if (failed === undefined)
    at.at('maxFailedIndexes').required(`must be specified when completions is above ${String(MAX_INDEXED)}`);
  if (parallelism > MAX_WITH_MANY_COMPLETIONS) at.at('parallelism').invalid(parallelism, many);
  if (failed !== undefined && failed > MAX_WITH_MANY_COMPLETIONS)
    at.at('maxFailedIndexes').invalid(failed, many);
}

function checkRestartPolicy(spec: JsonObject, hasFailurePolicy: boolean, at: FieldReporter): void {
  const policy = textAt(objectAt(objectAt(spec, 'template'), 'spec'), 'restartPolicy');
  if (policy === '' || policy === 'Always') at.required('valid values: "OnFailure", "Never"');
  else if (policy !== 'OnFailure' && policy !== 'Never') at.unsupported(policy, ['OnFailure', 'Never']);
  else if (hasFailurePolicy && policy !== 'Never')
    at.invalid(policy, 'only "Never" is supported when podFailurePolicy is specified');
}

const CONCURRENCY = ['Allow', 'Forbid', 'Replace'];
const NAME_LIMIT = 52;

/** Source: pkg/apis/batch/validation (ValidateCronJobCreate, ValidateCronJobUpdate). */
export const CRON_JOB_RULES: KindRules = {
  validate: (cronJob, at, old) => {
    const spec = objectAt(cronJob, 'spec') ?? {};
    const before = objectAt(old, 'spec');
    const place = at.at('spec');
    checkSchedule(spec, before, place.at('schedule'));
    place.at('startingDeadlineSeconds').nonNegative(numberAt(spec, 'startingDeadlineSeconds'));
    const zone = getOwn(spec, 'timeZone');
    if (typeof zone === 'string' && (before === undefined || getOwn(before, 'timeZone') !== zone))
      checkTimeZone(zone, place.at('timeZone'));
    place.at('concurrencyPolicy').oneOfIfSet(textAt(spec, 'concurrencyPolicy'), CONCURRENCY);
    checkJobTemplate(
      objectAt(objectAt(spec, 'jobTemplate'), 'spec') ?? {},
      place.at('jobTemplate').at('spec'),
    );
    for (const key of ['successfulJobsHistoryLimit', 'failedJobsHistoryLimit'])
      place.at(key).nonNegative(numberAt(spec, key));
    const name = textAt(objectAt(cronJob, 'metadata'), 'name');
    if (old === undefined && name.length > NAME_LIMIT)
      at.at('metadata')
        .at('name')
        .invalid(name, `must be no more than ${String(NAME_LIMIT)} characters`);
  },
};

function checkSchedule(spec: JsonObject, old: JsonObject | undefined, at: FieldReporter): void {
  const schedule = textAt(spec, 'schedule');
  if (schedule === '') {
    at.required();
    return;
  }
  const problem = cronProblem(schedule);
  if (problem !== undefined) at.invalid(schedule, problem);
  if (!schedule.includes('TZ')) return;
  if (!textAt(old, 'schedule').includes('TZ'))
    at.invalid(schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead');
  else if (getOwn(spec, 'timeZone') !== undefined)
    at.invalid(schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule');
}

function checkTimeZone(zone: string, at: FieldReporter): void {
  if (zone === '') {
    at.invalid(zone, 'timeZone must be nil or non-empty string');
    return;
  }
  const parts = zone.split('/');
  const plain = parts.every(
    (part) => /^[A-Za-z.\-_0-9+]{1,14}$/.test(part) && !part.startsWith('-') && !/^\.\.?$/.test(part),
  );
  const local = zone.toLowerCase() === 'local';
  if (local) {
    const detail = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
    at.invalid(zone, detail);
  } else if (!plain || !isTimeZone(zone)) at.invalid(zone, `unknown time zone ${zone}`);
}

function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return !/^[+-]/.test(zone);
  } catch {
    return false;
  }
}

function checkJobTemplate(spec: JsonObject, at: FieldReporter): void {
  checkJobSpec(spec, at);
  const selector = getOwn(spec, 'selector');
  if (selector !== undefined) at.at('selector').invalid(selector, '`selector` will be auto-generated');
  if (spec['manualSelector'] === true) at.at('manualSelector').unsupported(true, ['nil', 'false']);
}

/**
 * Most of the spec of a Job is immutable. Source: pkg/apis/batch/validation
 * (ValidateJobSpecUpdate).
 */
function checkJobChange(spec: JsonObject, old: JsonObject, at: FieldReporter): void {
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
