import { describe, expect, it } from 'vitest';
import type { ConditionRule } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { evaluateConditionRules } from '../../../src/rules/conditions/condition-rules.ts';

const widget: KubeObject = {
  apiVersion: 'record.example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w', namespace: 'default', labels: { l: '1' } },
  spec: { replicas: 2 },
};
const job = (conditions: readonly object[]): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'j' },
  status: { conditions },
});
const pod = (phase: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  status: { phase },
});
const cel = (celExpressions: readonly string[], more: Partial<ConditionRule> = {}): ConditionRule => ({
  condition: 'X',
  type: 'CEL',
  celExpressions,
  ...more,
});
const wellKnown = (more: Partial<ConditionRule> = {}): ConditionRule => ({
  condition: 'Complete',
  type: 'WellKnownConditions',
  ...more,
});

describe('evaluateConditionRules', () => {
  it.each([
    {
      name: 'true',
      rule: cel(['object.spec.replicas == 2']),
      want: 'True ConditionRuleEvaluated Manifest is X',
    },
    {
      name: 'int against double',
      rule: cel(['object.spec.replicas == 2.0 && object.spec.replicas / 2 == 1']),
      want: 'True ConditionRuleEvaluated Manifest is X',
    },
    {
      name: 'first false stops',
      rule: cel(['false', 'object.no.such == 1']),
      want: 'False ConditionRuleEvaluated Manifest is not X',
    },
    { name: 'no expression', rule: cel([]), want: 'True ConditionRuleEvaluated Manifest is X' },
    {
      name: 'missing key',
      rule: cel(['true', 'object.no.such == 1']),
      want: 'False ConditionRuleExpressionError no such key: no',
    },
    {
      name: 'no bool',
      rule: cel(['object.spec.replicas']),
      want: 'False ConditionRuleExpressionError expected bool result, got int64',
    },
    {
      name: 'undeclared',
      rule: cel(['nothing == 1']),
      want: "False ConditionRuleExpressionError ERROR: <input>:1:1: undeclared reference to 'nothing' (in container '')\n | nothing == 1\n | ^",
    },
    {
      name: 'result is for messages',
      rule: cel(['result']),
      want: "False ConditionRuleExpressionError ERROR: <input>:1:1: undeclared reference to 'result' (in container '')\n | result\n | ^",
    },
    { name: 'message', rule: cel(['true'], { message: 'own' }), want: 'True ConditionRuleEvaluated own' },
    {
      name: 'message expression',
      rule: cel(['true'], { messageExpression: 'result ? object.metadata.name : "no"' }),
      want: 'True ConditionRuleEvaluated w',
    },
    {
      name: 'empty message expression',
      rule: cel(['true'], { messageExpression: '""', message: 'fallback' }),
      want: 'True ConditionRuleEvaluated fallback',
    },
    {
      name: 'message expression of another type',
      rule: cel(['true'], { messageExpression: '1', message: 'fallback' }),
      want: 'True ConditionRuleEvaluated expected message expression to have a string result, got int64',
    },
    {
      name: 'message expression that fails',
      rule: cel(['true'], { messageExpression: 'object.status.none' }),
      want: 'True ConditionRuleEvaluated no such key: status',
    },
    {
      name: 'a type that does not exist',
      rule: { condition: 'X', type: 'Magic' } as unknown as ConditionRule,
      want: 'Unknown ConditionRuleInvalid unrecognized condition rule type Magic',
    },
    { name: 'a well-known condition that is not', rule: wellKnown(), want: undefined },
    { name: 'a name of the agent', rule: cel(['true'], { condition: 'Available' }), want: undefined },
    {
      name: 'unfinished job',
      object: job([{ type: 'Complete', status: 'False' }]),
      rule: wellKnown(),
      want: 'False ConditionRuleEvaluated Job is not finished',
    },
    {
      name: 'failed job',
      object: job([{ type: 'Failed', status: 'True' }]),
      rule: wellKnown(),
      want: 'True ConditionRuleEvaluated Job is finished',
    },
    {
      name: 'pod, own message',
      object: pod('Succeeded'),
      rule: wellKnown({ message: 'own' }),
      want: 'True ConditionRuleEvaluated Pod is in phase Succeeded',
    },
    {
      name: 'pod, own expression',
      object: pod('Running'),
      rule: wellKnown({ messageExpression: '"in " + object.status.phase' }),
      want: 'False ConditionRuleEvaluated in Running',
    },
  ])('$name', ({ object, rule, want }) => {
    const [got] = evaluateConditionRules(object ?? widget, [rule]);
    expect(got && `${got.status} ${got.reason} ${got.message}`).toBe(want);
  });

  it('bounds an expression that costs too much, and leaves the other rules their share', () => {
    const items = Array.from({ length: 2_000 }, (_, index) => index);
    const greedy = cel(['object.items.all(a, object.items.all(b, a + b >= 0))']);
    const got = evaluateConditionRules({ ...widget, items }, [greedy, cel(['true'], { condition: 'Fine' })]);
    expect(got.map(({ status, message }) => `${status} ${message}`)).toEqual([
      'False operation cancelled: actual cost limit exceeded',
      'True Manifest is Fine',
    ]);
  });
});
