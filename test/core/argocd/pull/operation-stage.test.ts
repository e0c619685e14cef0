import { expect, it } from 'vitest';
import { operationStage } from '../../../../src/core/argocd/pull/refresh-request.ts';
import type { Application } from '../../../../src/core/argocd/argocd-kinds.ts';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { Condition } from '@berth/kube/model/object-meta';

const SYNC = { sync: { revision: 'abc' } };
const [EARLY, LATE] = ['2026-01-02T03:04:05Z', '2026-01-02T03:05:05Z'];

interface Given {
  readonly carried?: object;
  readonly observed?: number;
  readonly reported?: readonly [startedAt: string, phase: string, reconciledAt?: string];
}

function workOf({ carried, observed, reported }: Given): ManifestWork {
  const values = [
    ['operationStateStartedAt', reported?.[0]],
    ['operationStatePhase', reported?.[1]],
    ['reconciledAt', reported?.[2]],
  ].flatMap(([name = '', string]) =>
    string === undefined ? [] : [{ name, fieldValue: { type: 'String', string } as const }],
  );
  const manifests = [{ resourceMeta: { ordinal: 0 }, statusFeedback: { values } }];
  const applied: Condition = {
    type: 'Applied',
    status: 'True',
    reason: '',
    message: '',
    observedGeneration: observed,
  };
  const manifest = { apiVersion: '', kind: 'Application', metadata: { name: 'web' }, operation: carried };
  return {
    apiVersion: '',
    kind: 'ManifestWork',
    metadata: { name: 'web', generation: 3 },
    spec: { workload: { manifests: [manifest] } },
    status: { conditions: observed === undefined ? [] : [applied], resourceStatus: { manifests } },
  };
}

it.each([
  { name: 'no operation', operation: undefined, given: {}, want: 'none' },
  { name: 'no work yet', operation: SYNC, given: undefined, want: 'carried' },
  { name: 'an agent that never spoke', operation: SYNC, given: {}, want: 'carried' },
  { name: 'an agent that is behind', operation: SYNC, given: { observed: 2 }, want: 'waits' },
  { name: 'an agent that is not', operation: SYNC, given: { observed: 3 }, want: 'carried' },
  { name: 'runs', operation: SYNC, given: { carried: SYNC, reported: [LATE, 'Running'] }, want: 'carried' },
  { name: 'ended', operation: SYNC, given: { carried: SYNC, reported: [LATE, 'Failed'] }, want: 'ended' },
  {
    name: 'ended, and not compared since',
    operation: SYNC,
    given: { carried: SYNC, reported: [LATE, 'Succeeded', EARLY] },
    want: 'finishing',
  },
  {
    name: 'ended, and compared since',
    operation: SYNC,
    given: { carried: SYNC, reported: [LATE, 'Succeeded', LATE] },
    want: 'ended',
  },
  {
    name: 'the one before',
    operation: SYNC,
    given: { carried: SYNC, reported: [EARLY, 'Error'] },
    want: 'carried',
  },
  { name: 'no start', operation: SYNC, given: { carried: SYNC, reported: ['', 'Error'] }, want: 'carried' },
  {
    name: 'another one',
    operation: SYNC,
    given: { carried: {}, reported: [LATE, 'Error'] },
    want: 'carried',
  },
] as const)('$name: $want', ({ operation, given, want }) => {
  const application: Application = {
    apiVersion: '',
    kind: 'Application',
    metadata: { name: 'web' },
    operation,
    status: { operationState: { startedAt: EARLY, phase: 'Succeeded' } },
  };
  expect(operationStage(application, given && workOf(given))).toBe(want);
});
