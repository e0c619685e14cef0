import { IMMUTABLE, invalidValue } from '../../admit/field-problems.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { deepEqual, getOwn, objectAt, textAt } from '../../json/json-value.ts';
import type { FieldProblem } from '../../status/status-errors.ts';
import { withPodDefaults, withTemplateDefaults } from './pod-defaults.ts';
import type { Strategy } from './strategy.ts';

/*
 * Workloads are stored with the defaults an API server fills in, so that clients and hashes see what they see elsewhere. Nothing here
 * runs them: their status stays what somebody writes into it.
 */
type SpecDefaults = (spec: JsonObject) => JsonObject;

function workload(defaults: SpecDefaults, validate?: Strategy['validate']): Strategy {
  return {
    generation: true,
    fillIn: (object) => {
      const spec = objectAt(object, 'spec');
      return spec === undefined ? object : { ...object, spec: defaults(spec) };
    },
    onCreate: (object) => ({ ...object, status: {} }),
    ...(validate === undefined ? {} : { validate }),
  };
}

/** `spec.selector` names the pods for good, and must name those of the template. */
function selectorRules(object: JsonObject, old: JsonObject | undefined): readonly FieldProblem[] {
  const spec = objectAt(object, 'spec') ?? {};
  const selector = getOwn(spec, 'selector');
  if (old !== undefined && !deepEqual(selector, getOwn(objectAt(old, 'spec') ?? {}, 'selector'))) {
    return [invalidValue('spec.selector', selector, IMMUTABLE)];
  }
  const wanted = Object.entries(objectAt(objectAt(spec, 'selector'), 'matchLabels') ?? {});
  const labels = objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels') ?? {};
  if (wanted.every(([key, value]) => getOwn(labels, key) === value)) return [];
  return [
    invalidValue('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'),
  ];
}

const ROLLING = 'RollingUpdate';

export const DEPLOYMENT_STRATEGY = workload((spec) => {
  const strategy: JsonObject = { type: ROLLING, ...objectAt(spec, 'strategy') };
  if (strategy['type'] === ROLLING) {
    strategy['rollingUpdate'] = {
      maxSurge: '25%',
      maxUnavailable: '25%',
      ...objectAt(strategy, 'rollingUpdate'),
    };
  }
  const defaults = { progressDeadlineSeconds: 600, replicas: 1, revisionHistoryLimit: 10 };
  return withTemplateDefaults({ ...defaults, ...spec, strategy });
}, selectorRules);

export const REPLICA_SET_STRATEGY = workload(
  (spec) => withTemplateDefaults({ replicas: 1, ...spec }),
  selectorRules,
);

export const STATEFUL_SET_STRATEGY = workload((spec) => {
  const updateStrategy: JsonObject = { type: ROLLING, ...objectAt(spec, 'updateStrategy') };
  if (updateStrategy['type'] === ROLLING) {
    updateStrategy['rollingUpdate'] = { partition: 0, ...objectAt(updateStrategy, 'rollingUpdate') };
  }
  const defaults = { podManagementPolicy: 'OrderedReady', replicas: 1, revisionHistoryLimit: 10 };
  return withTemplateDefaults({ ...defaults, ...spec, updateStrategy });
}, selectorRules);

export const DAEMON_SET_STRATEGY = workload((spec) => {
  const updateStrategy: JsonObject = { type: ROLLING, ...objectAt(spec, 'updateStrategy') };
  if (updateStrategy['type'] === ROLLING) {
    updateStrategy['rollingUpdate'] = {
      maxSurge: 0,
      maxUnavailable: 1,
      ...objectAt(updateStrategy, 'rollingUpdate'),
    };
  }
  return withTemplateDefaults({ revisionHistoryLimit: 10, ...spec, updateStrategy });
}, selectorRules);

const JOB_DEFAULTS = {
  backoffLimit: 6,
  completionMode: 'NonIndexed',
  manualSelector: false,
  podReplacementPolicy: 'TerminatingOrFailed',
  suspend: false,
};

function withJobDefaults(spec: JsonObject): JsonObject {
  const counts =
    spec['completions'] === undefined && spec['parallelism'] === undefined ? { completions: 1 } : {};
  return withTemplateDefaults({ ...JOB_DEFAULTS, ...counts, parallelism: 1, ...spec });
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

export const JOB_STRATEGY: Strategy = { ...workload(withJobDefaults), onCreate: withJobSelector };

export const CRON_JOB_STRATEGY = workload((spec) => {
  const defaults = {
    concurrencyPolicy: 'Allow',
    failedJobsHistoryLimit: 1,
    successfulJobsHistoryLimit: 3,
    suspend: false,
  };
  return { ...defaults, ...spec };
});

export const POD_STRATEGY: Strategy = {
  generation: true,
  fillIn: (object) => {
    const spec = objectAt(object, 'spec');
    return spec === undefined
      ? object
      : { ...object, spec: { enableServiceLinks: true, ...withPodDefaults(spec) } };
  },
  onCreate: (object) => ({ ...object, status: { phase: 'Pending', qosClass: 'BestEffort' } }),
};
