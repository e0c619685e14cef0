import { kindSchema } from './cluster.ts';
import { anyObject, metadataSchema } from './meta.ts';
import { any, between, boolean, integer, list, object, oneOf, string, text } from './schema.ts';
import type { Schema } from './schema.ts';

const identifier = object({ group: string, 'resource!': string, 'name!': string, namespace: string });

const accountName = text({
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  patternName: 'a DNS subdomain name',
  minLength: 1,
  maxLength: 253,
});

const updateStrategy = object({
  type: oneOf('Update', 'CreateOnly', 'ServerSideApply', 'ReadOnly'),
  serverSideApply: object({
    force: boolean,
    fieldManager: text({ pattern: /^work-agent/, patternName: 'a name that starts with work-agent' }),
    ignoreFields: list(
      object({
        condition: oneOf('OnSpokePresent', 'OnSpokeChange'),
        jsonPaths: list(string),
        jsonPointers: list(string),
        jqPathExpressions: list(string),
      }),
      { uniqueBy: 'condition' },
    ),
  }),
});

const manifestConfig = object({
  'resourceIdentifier!': identifier,
  feedbackRules: list(
    object({
      'type!': oneOf('WellKnownStatus', 'JSONPaths'),
      jsonPaths: list(object({ 'name!': string, 'path!': string, version: string }), { uniqueBy: 'name' }),
    }),
  ),
  updateStrategy,
  conditionRules: list(
    object({
      'condition!': string,
      'type!': oneOf('WellKnownConditions', 'CEL'),
      celExpressions: list(string),
      message: string,
      messageExpression: string,
    }),
    { uniqueBy: 'condition' },
  ),
  feedbackScrapeType: oneOf('Poll', 'Watch'),
});

const workSpec = object({
  workload: object({ manifests: list(anyObject) }),
  deleteOption: object({
    propagationPolicy: oneOf('Foreground', 'Orphan', 'SelectivelyOrphan'),
    selectivelyOrphans: object({ orphaningRules: list(identifier) }),
    ttlSecondsAfterFinished: integer,
  }),
  manifestConfigs: list(manifestConfig),
  executor: object({
    'subject!': object({
      'type!': oneOf('ServiceAccount'),
      'serviceAccount!': object({ 'namespace!': accountName, 'name!': accountName }),
    }),
  }),
});

export const manifestWork = kindSchema(metadataSchema(undefined, true), { spec: workSpec, status: any });

const countOrPercent: Schema = {
  type: 'intOrString',
  pattern: /^((100|[0-9]{1,2})%|[0-9]+)$/,
  patternName: 'a number, or a percentage from "0%" to "100%"',
};

const rolloutConfig = {
  minSuccessTime: string,
  progressDeadline: text({
    pattern: /^([0-9]+[hms])+$|^None$/,
    patternName: 'a duration such as 30s, 10m or 1h, or None',
  }),
  maxFailures: countOrPercent,
};
const mandatoryDecisionGroups = list(object({ groupName: string, groupIndex: between(0, 2147483647) }));

const rolloutStrategy = object({
  type: oneOf('All', 'Progressive', 'ProgressivePerGroup'),
  all: object(rolloutConfig),
  progressive: object({ ...rolloutConfig, mandatoryDecisionGroups, maxConcurrency: countOrPercent }),
  progressivePerGroup: object({ ...rolloutConfig, mandatoryDecisionGroups }),
});

export const manifestWorkReplicaSet = kindSchema(metadataSchema(undefined, true), {
  'spec!': object({
    manifestWorkTemplate: workSpec,
    'placementRefs!': list(object({ 'name!': text({ minLength: 1 }), rolloutStrategy }), { minItems: 1 }),
    cascadeDeletionPolicy: oneOf('Background', 'Foreground'),
  }),
  status: any,
});
