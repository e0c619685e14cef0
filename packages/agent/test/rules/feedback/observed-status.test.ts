import { describe, expect, it } from 'vitest';
import type { ManifestWorkStatus } from '@berth/ocm/kind/manifest-work';
import { type Observation, observedStatus } from '../../../src/rules/feedback/observed-status.ts';

const BEFORE = '2026-06-01T00:00:00Z';
const NOW = '2026-06-01T00:01:00Z';
const QUOTED = 'the object says: hello';

const rule = (type: string, status: 'True' | 'False' = 'True') => ({
  type,
  status,
  reason: 'ConditionRuleEvaluated',
  message: QUOTED,
  observedGeneration: 1,
  lastTransitionTime: BEFORE,
});

/** A manifest that was reported in full at generation 1. */
const reported: ManifestWorkStatus = {
  conditions: [],
  resourceStatus: {
    manifests: [
      {
        resourceMeta: { ordinal: 0, version: 'v1', resource: 'configmaps', name: 'a', namespace: 'd' },
        statusFeedback: { values: [{ name: 'v', fieldValue: { type: 'String', string: 'hello' } }] },
        conditions: [
          rule('Complete'),
          rule('Gone'),
          { ...rule('StatusFeedbackSynced'), reason: 'StatusFeedbackSynced' },
        ],
      },
    ],
  },
};

const denied = (asksFeedback: boolean): Observation => ({
  kind: 'denied',
  ruleTypes: ['Complete'],
  problem: 'executor d/e is not allowed to get the resource',
  asksFeedback,
});

describe('the status of an object that the executor may not get', () => {
  const look = (before: ManifestWorkStatus, observation: Observation) =>
    observedStatus(before, [observation], { generation: 2, now: NOW });

  it('keeps no value and no message of before, but the result of rules that still stand', () => {
    const after = look(reported, denied(true));
    const [manifest] = after.resourceStatus?.manifests ?? [];
    expect(manifest?.statusFeedback).toBeUndefined();
    expect(JSON.stringify(after)).not.toContain('hello');
    expect(manifest?.conditions?.map(({ type, status, reason }) => [type, status, reason])).toEqual([
      ['Complete', 'True', 'ConditionRuleEvaluated'],
      ['StatusFeedbackSynced', 'False', 'ExecutorNotAllowed'],
      ['Available', 'Unknown', 'ExecutorNotAllowed'],
    ]);
    expect(manifest?.conditions?.[0]).toMatchObject({ observedGeneration: 2, lastTransitionTime: BEFORE });
    expect(manifest?.conditions?.[1]?.lastTransitionTime).toBe(NOW);
    expect(after.conditions).toContainEqual(
      expect.objectContaining({ type: 'Available', status: 'Unknown', reason: 'ResourcesStatusUnknown' }),
    );
  });

  it('says nothing of feedback that nobody asks for, and the same again the next time', () => {
    const fresh = { resourceStatus: { manifests: [{ resourceMeta: { ordinal: 0 } }] } };
    const once = look(fresh, denied(false));
    expect(once.resourceStatus?.manifests?.[0]?.conditions?.map(({ type }) => type)).toEqual(['Available']);
    expect(look(once, denied(false))).toEqual(once);
  });
});
