import { CONDITION_REASON, COUNT_OR_PERCENT, DURATION_OR_NONE, QUALIFIED_NAME } from './patterns.ts';
import {
  atomicList,
  int32,
  int64,
  intOrString,
  listBy,
  listOf,
  mapOf,
  object,
  string,
  time,
} from './schema-notation.ts';

export const condition = object({
  'lastTransitionTime!': time(),
  'message!': string({ maxLength: 32768 }),
  observedGeneration: int64({ minimum: 0 }),
  'reason!': string({ maxLength: 1024, minLength: 1, pattern: CONDITION_REASON }),
  'status!': string({ enum: ['True', 'False', 'Unknown'] }),
  'type!': string({ maxLength: 316, pattern: QUALIFIED_NAME }),
});

export const conditions = listBy(['type'], condition);

export const rolloutAll = object({
  maxFailures: intOrString({ default: 0, pattern: COUNT_OR_PERCENT }),
  minSuccessTime: string({ default: '0' }),
  progressDeadline: string({ default: 'None', pattern: DURATION_OR_NONE }),
});

export const mandatoryDecisionGroups = listOf(object({ groupIndex: int32(), groupName: string() }));

export const rolloutProgressive = object({
  mandatoryDecisionGroups: mandatoryDecisionGroups,
  maxConcurrency: intOrString({ pattern: COUNT_OR_PERCENT }),
  maxFailures: intOrString({ default: 0, pattern: COUNT_OR_PERCENT }),
  minSuccessTime: string({ default: '0' }),
  progressDeadline: string({ default: 'None', pattern: DURATION_OR_NONE }),
});

export const rolloutProgressivePerGroup = object({
  mandatoryDecisionGroups: mandatoryDecisionGroups,
  maxFailures: intOrString({ default: 0, pattern: COUNT_OR_PERCENT }),
  minSuccessTime: string({ default: '0' }),
  progressDeadline: string({ default: 'None', pattern: DURATION_OR_NONE }),
});

export const selectorRequirement = object({
  'key!': string(),
  'operator!': string(),
  values: atomicList(string()),
});

export const claimSelector = object({ matchExpressions: listOf(selectorRequirement) });

export const labelSelector = object(
  { matchExpressions: atomicList(selectorRequirement), matchLabels: mapOf(string()) },
  { 'x-kubernetes-map-type': 'atomic' },
);
