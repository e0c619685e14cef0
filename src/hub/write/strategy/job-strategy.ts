import type { JsonObject } from '../../json/json-value.ts';
import { objectAt, textAt } from '../../json/json-value.ts';
import { withTemplateDefaults } from './pod-defaults.ts';
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

export const JOB_STRATEGY: Strategy = {
  generation: true,
  fillIn: (object) => withStatusCounts(withJobDefaults(object), JOB_COUNTS),
  onCreate: withJobSelector,
};
