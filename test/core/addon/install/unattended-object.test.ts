import { describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Placement } from '@berth/ocm/kind/placement';
import {
  undecidedEvent,
  unattendedGitOpsEvent,
} from '../../../../src/core/addon/install/unattended-object.ts';

const NOW = Date.parse('2026-01-01T00:10:00Z');
const CONDITIONS = [
  { type: 'PlacementSatisfied', status: 'True' as const, reason: '', message: '', lastTransitionTime: '' },
];
const DISABLED = { 'cluster.open-cluster-management.io/experimental-scheduling-disable': 'true' };
const OWN = { 'berth.dev/scheduler': 'berth' };

describe('a placement that nobody decides', () => {
  it.each([
    {
      name: 'without a status, of others',
      want: /^Nobody decides .* Start OCM's placement controller, or let Berth/,
    },
    { name: 'of others, where Berth decides all', decides: 'all', want: undefined },
    { name: 'with the annotation of Berth', annotations: OWN, want: undefined },
    { name: 'with a decision', hasDecisions: true, want: undefined },
    { name: 'with a status', conditions: CONDITIONS, want: undefined },
    { name: 'that is new', at: '2026-01-01T00:08:01Z', want: undefined },
    { name: 'that is being deleted', deleted: '2026-01-01T00:00:00Z', want: undefined },
    {
      name: 'that is disabled',
      annotations: DISABLED,
      want: /experimental-scheduling-disable keeps every scheduler away: remove it/,
    },
    {
      name: 'that is disabled, where Berth decides all',
      annotations: DISABLED,
      decides: 'all',
      want: /remove it/,
    },
    { name: 'that Berth disabled for others', annotations: { ...DISABLED, ...OWN }, want: undefined },
  ] as const)('$name', (given) => {
    const {
      at = '2026-01-01T00:00:00Z',
      annotations,
      conditions,
      deleted,
      decides = 'own',
      hasDecisions = false,
      want,
    } = {
      ...{ at: undefined, annotations: undefined, conditions: undefined, deleted: undefined },
      ...{ decides: undefined, hasDecisions: undefined },
      ...given,
    };
    const placement = {
      metadata: {
        name: 'web',
        namespace: 'team-a',
        creationTimestamp: at,
        annotations,
        deletionTimestamp: deleted,
      },
      status: { conditions },
    } as unknown as Placement;
    const event = undecidedEvent(placement, hasDecisions, { decides, nowMs: NOW });
    if (want === undefined) expect(event).toBeUndefined();
    else
      expect(event).toMatchObject({
        type: 'Warning',
        reason: 'Undecided',
        note: expect.stringMatching(want) as string,
      });
  });
});

describe('a GitOpsCluster without a controller', () => {
  const object = (status?: object): KubeObject =>
    ({
      metadata: { name: 'argo', creationTimestamp: '2026-01-01T00:00:00Z' },
      status,
    }) as unknown as KubeObject;

  it('gets an Event that says what to start, until a controller writes its status', () => {
    expect(unattendedGitOpsEvent(object(), NOW)).toMatchObject({
      reason: 'ControllerNotRunning',
      note: expect.stringContaining('Start berth serve --argocd-cluster-secrets') as string,
    });
    expect(unattendedGitOpsEvent(object({ phase: 'successful' }), NOW)).toBeUndefined();
    expect(unattendedGitOpsEvent(object({ conditions: CONDITIONS }), NOW)).toBeUndefined();
  });
});
