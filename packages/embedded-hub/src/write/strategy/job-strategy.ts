import { isObject, type JsonObject, listAt, objectAt, textAt } from '../../json/json-value.ts';
import { withLabelsOfTemplate, withTemplateDefaults } from './pod-defaults.ts';
import type { Strategy } from './strategy.ts';

const DEFAULT_BACKOFF = 6;
const UNLIMITED_BACKOFF = 2 ** 31 - 1;
const JOB_DEFAULTS = {
  completionMode: 'NonIndexed',
  manualSelector: false,
  suspend: false,
};

function withJobDefaults(object: JsonObject): JsonObject {
  const spec = objectAt(object, 'spec') ?? {};
  const counts =
    spec['completions'] === undefined && spec['parallelism'] === undefined ? { completions: 1 } : {};
  return {
    ...object,
    spec: withTemplateDefaults(
      withConditionStatus({
        ...JOB_DEFAULTS,
        ...counts,
        ...dependentDefaults(spec),
        parallelism: 1,
        ...spec,
      }),
    ),
  };
}

/**
 * Defaults of the Job template in a CronJob. Source: pkg/apis/batch/v1 (SetObjectDefaults_CronJob).
 */
export function withJobTemplateDefaults(spec: JsonObject): JsonObject {
  return withTemplateDefaults(withConditionStatus(spec));
}

/** Defaults that depend on how failures are handled. Source: pkg/apis/batch/v1 (SetDefaults_Job). */
function dependentDefaults(spec: JsonObject): JsonObject {
  const policy = objectAt(spec, 'podFailurePolicy');
  const backoffLimit = spec['backoffLimitPerIndex'] === undefined ? DEFAULT_BACKOFF : UNLIMITED_BACKOFF;
  if (policy === undefined) return { backoffLimit, podReplacementPolicy: 'TerminatingOrFailed' };
  return { backoffLimit, podReplacementPolicy: 'Failed' };
}

/** The default `status` of a pod condition pattern is `True`. */
function withConditionStatus(spec: JsonObject): JsonObject {
  const policy = objectAt(spec, 'podFailurePolicy');
  if (policy === undefined || !Array.isArray(policy['rules'])) return spec;
  const rules = listAt(policy, 'rules').map((rule) => {
    if (!isObject(rule) || !Array.isArray(rule['onPodConditions'])) return rule;
    const conditions = listAt(rule, 'onPodConditions').map((condition) =>
      isObject(condition) && textAt(condition, 'status') === ''
        ? { ...condition, status: 'True' }
        : condition,
    );
    return { ...rule, onPodConditions: conditions };
  });
  return { ...spec, podFailurePolicy: { ...policy, rules } };
}

/**
 * A Job finds its pods by labels that carry its uid; labels of the user stay, and are refused when they differ.
 * Source: pkg/registry/batch/job (generateSelector).
 */
function withJobSelector(object: JsonObject): JsonObject {
  const spec = objectAt(object, 'spec') ?? {};
  const template = objectAt(spec, 'template') ?? {};
  if (spec['manualSelector'] === true) return object;
  const metadata = objectAt(object, 'metadata');
  const [uid, name] = [textAt(metadata, 'uid'), textAt(metadata, 'name')];
  const labels = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
    ...objectAt(objectAt(template, 'metadata'), 'labels'),
  };
  const selector = objectAt(spec, 'selector');
  const matchLabels = { 'batch.kubernetes.io/controller-uid': uid, ...objectAt(selector, 'matchLabels') };
  const newMetadata = { ...metadata };
  const ownLabels = objectAt(metadata, 'labels');
  // Upstream the labels of a Job that has none of its own are those of the template, as one map.
  if (ownLabels !== undefined && ownLabels === objectAt(objectAt(template, 'metadata'), 'labels'))
    newMetadata['labels'] = labels;
  const labelled = { ...template, metadata: { ...objectAt(template, 'metadata'), labels } };
  const selected = { ...spec, selector: { ...selector, matchLabels }, template: labelled };
  return { ...object, metadata: newMetadata, spec: selected };
}

export const JOB_STRATEGY: Strategy = {
  generation: true,
  fillIn: (object) => withLabelsOfTemplate(withJobDefaults(object)),
  onCreate: withJobSelector,
  onReadBack: withLabelsOfTemplate,
};
