import { describe, expect, it } from 'vitest';
import type { FeedbackValue, ManifestWork } from '@berth/ocm/kind/manifest-work';
import { workProgress } from '../../../src/core/work/replica-set/work-rollout-status.ts';
import { condition, template } from './replica-set-harness.ts';

type Conditions = Readonly<Record<string, string>>;

/** `Progressing: 'True@1'` is a condition of generation 1; the work itself is at generation 2. */
function work(conditions: Conditions, more: Partial<ManifestWork> = {}): ManifestWork {
  return {
    apiVersion: 'work.open-cluster-management.io/v1',
    kind: 'ManifestWork',
    metadata: { name: 'w', namespace: 'c1', generation: 2 },
    spec: template('1'),
    ...more,
    status: {
      conditions: Object.entries(conditions).map(([type, text]) => {
        const [status, generation] = text.split('@');
        return condition(type, status as 'True', Number(generation ?? 2));
      }),
      ...more.status,
    },
  };
}

describe('workProgress under upstream rules', () => {
  it.each<[string, Conditions]>([
    ['ToApply', {}],
    ['ToApply', { Applied: 'True@1', Progressing: 'False' }],
    ['ToApply', { Applied: 'Unknown', Progressing: 'False' }],
    ['ToApply', { Applied: 'False', Progressing: 'False' }],
    ['ToApply', { Applied: 'True' }],
    ['ToApply', { Applied: 'True', Progressing: 'False@1' }],
    ['ToApply', { Applied: 'True', Progressing: 'False', Degraded: 'True@1' }],
    ['ToApply', { Applied: 'True', Progressing: 'False', Degraded: 'True@3' }],
    ['Failed', { Applied: 'True', Progressing: 'True', Degraded: 'True' }],
    ['Progressing', { Applied: 'True', Progressing: 'True', Degraded: 'False' }],
    ['Progressing', { Applied: 'True', Progressing: 'True' }],
    ['Progressing', { Applied: 'True', Progressing: 'Unknown' }],
    ['Succeeded', { Applied: 'True', Progressing: 'False' }],
    ['Succeeded', { Applied: 'True', Progressing: 'False', Degraded: 'True' }],
  ])('%s: %j', (want, conditions) => {
    expect(workProgress(work(conditions), 'upstream').status).toBe(want);
  });
});

describe('workProgress under our rules', () => {
  it.each<[string, Conditions]>([
    ['Progressing', {}],
    ['Progressing', { Applied: 'True@1', Available: 'True' }],
    ['Failed', { Applied: 'False' }],
    ['Progressing', { Applied: 'True' }],
    ['Progressing', { Applied: 'True', Available: 'True@1' }],
    ['Progressing', { Applied: 'True', Available: 'False' }],
    ['Succeeded', { Applied: 'True', Available: 'True' }],
    ['Failed', { Applied: 'True', Available: 'True', Degraded: 'True' }],
    ['Succeeded', { Applied: 'True', Available: 'True', Degraded: 'True@1' }],
    // A work with a Progressing rule is judged by it, as upstream does.
    ['Progressing', { Applied: 'True', Available: 'True', Progressing: 'True' }],
    ['Succeeded', { Applied: 'True', Available: 'False', Progressing: 'False' }],
    ['Progressing', { Applied: 'True', Available: 'True', Progressing: 'False@1' }],
  ])('%s: %j', (want, conditions) => {
    expect(workProgress(work(conditions), 'berth').status).toBe(want);
  });

  it('counts the time of what was written but never confirmed, so that a silent cluster times out', () => {
    const annotations = { 'berth.dev/rolled-out-at': '2026-03-01T11:59:00Z' };
    const silent = work({}, { metadata: { name: 'w', namespace: 'c1', generation: 2, annotations } });
    expect(workProgress(silent, 'berth').lastTransitionMs).toBe(Date.parse('2026-03-01T11:59:00Z'));
  });

  it('starts the time of success again with each content, although Progressing never stopped being False', () => {
    const annotations = { 'berth.dev/rolled-out-at': '2026-03-01T11:59:00Z' };
    const metadata = { name: 'w', namespace: 'c1', generation: 2, annotations };
    const done = work({ Applied: 'True', Progressing: 'False' }, { metadata });
    expect(workProgress(done, 'upstream').lastTransitionMs).toBe(Date.parse('2026-03-01T11:00:00Z'));
    expect(workProgress(done, 'berth').lastTransitionMs).toBe(Date.parse('2026-03-01T11:59:00Z'));
  });

  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd', namespace: 'x' },
    spec: { replicas: 2 },
  };
  const resourceIdentifier = { group: 'apps', resource: 'deployments', name: 'd', namespace: 'x' };
  const integer = (name: string, value: number): FeedbackValue => ({
    name,
    fieldValue: { type: 'Integer', integer: value },
  });

  it.each([
    { name: 'no feedback asked for', rules: false, values: [], want: 'Succeeded' },
    { name: 'no status yet', rules: true, values: [], want: 'Progressing' },
    { name: 'too few ready', rules: true, values: [integer('ReadyReplicas', 1)], want: 'Progressing' },
    { name: 'all ready', rules: true, values: [integer('ReadyReplicas', 2)], want: 'Succeeded' },
    {
      name: 'ready, but still the old pods',
      rules: true,
      values: [integer('ReadyReplicas', 2), integer('UpdatedReplicas', 1)],
      want: 'Progressing',
    },
  ])('reads the readiness of a Deployment: $name', ({ rules, values, want }) => {
    const subject = work(
      {},
      {
        spec: {
          workload: { manifests: [deployment] },
          manifestConfigs: rules
            ? [{ resourceIdentifier, feedbackRules: [{ type: 'WellKnownStatus' }] }]
            : [],
        },
        status: {
          conditions: [condition('Applied', 'True', 2), condition('Available', 'True', 2)],
          resourceStatus: {
            manifests: [
              {
                resourceMeta: { ordinal: 0, version: 'v1', kind: 'Deployment', ...resourceIdentifier },
                statusFeedback: { values },
              },
            ],
          },
        },
      },
    );
    expect(workProgress(subject, 'berth').status).toBe(want);
  });
});
