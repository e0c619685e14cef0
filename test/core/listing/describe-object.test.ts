import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { describe, expect, it } from 'vitest';
import { describeObject } from '../../../src/core/listing/describe-object.ts';
import { listHolds } from '../../../src/core/listing/list-holds.ts';
import { listWorks } from '../../../src/core/listing/list-works.ts';
import { describeManifests, workRow } from '../../../src/core/work/describe-work.ts';

const NOW_MS = Date.parse('2026-01-01T12:00:00Z');
const describeWork = (work: ManifestWork, events: readonly KubeObject[] | string = []): string =>
  describeObject(
    {
      object: work as unknown as KubeObject,
      listed: listWorks([work], NOW_MS),
      sections: [{ title: 'Manifests', lines: describeManifests(work) }],
      events,
    },
    NOW_MS,
  );

describe('berth describe', () => {
  const work: ManifestWork = {
    apiVersion: 'work.open-cluster-management.io/v1',
    kind: 'ManifestWork',
    metadata: { name: 'web', namespace: 'c1', generation: 2, labels: { app: 'web' } },
    spec: { workload: { manifests: [{ apiVersion: 'apps/v1', kind: 'Deployment' } as never] } },
    status: {
      conditions: [
        {
          type: 'Applied',
          status: 'True',
          reason: 'AppliedManifestWorkComplete',
          message: 'Apply manifest work complete',
          observedGeneration: 1,
        },
        {
          type: 'Available',
          status: 'False',
          reason: 'ResourcesNotAvailable',
          message: '1 of 1 resources are not available',
          observedGeneration: 2,
        },
      ],
      resourceStatus: {
        manifests: [
          {
            resourceMeta: { ordinal: 0, kind: 'Deployment', name: 'web', namespace: 'default' },
            conditions: [
              {
                type: 'Available',
                status: 'False',
                reason: 'ResourceNotAvailable',
                message: 'Resource is not available',
              },
            ],
            statusFeedback: {
              values: [{ name: 'ReadyReplicas', fieldValue: { type: 'Integer', integer: 0 } }],
            },
          },
        ],
      },
    },
  };

  it('distinguishes a status of an older generation', () => {
    expect(workRow(work)).toEqual(['web', 'c1', '1', 'Pending', 'False', '-']);
    expect(describeWork(work)).toBe(`Name:                 web
Cluster:              c1
Number of manifests:  1
Applied:              Pending
Available:            False
Degraded:             -
Labels:               app=web
Conditions:
  Applied True, AppliedManifestWorkComplete (of generation 1): Apply manifest
    work complete
  Available False, ResourcesNotAvailable: 1 of 1 resources are not available
Manifests:
  [0] Deployment default/web ReadyReplicas=0
    Available False: Resource is not available
`);
  });

  it.each([
    { status: 'True', shown: true },
    { status: 'False', shown: false },
  ] as const)('Degraded=$status by a condition rule', ({ status, shown }) => {
    const degraded = { type: 'Degraded', status, reason: 'Rule', message: 'half of it is down' };
    const [manifest] = work.status?.resourceStatus?.manifests ?? [];
    const ruled: ManifestWork = {
      ...work,
      status: {
        conditions: [degraded],
        resourceStatus: { manifests: [{ ...manifest!, conditions: [degraded] }] },
      },
    };
    expect(workRow(ruled).at(-1)).toBe(status);
    expect(describeWork(ruled).includes('    Degraded True: half of it is down')).toBe(shown);
    expect(describeWork(ruled)).not.toContain('    Degraded False');
  });

  it('has the newest Events last, and counts older ones', () => {
    const event = (minute: number, over: object = {}): KubeObject => ({
      ...{ apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: `e${minute}` } },
      ...{ eventTime: `2026-01-01T11:${minute}:00Z`, type: 'Normal', reason: 'Moved', note: `at ${minute}` },
      ...over,
    });
    const series = { count: 5, lastObservedTime: '2026-01-01T11:59:00Z' };
    const all = Array.from({ length: 12 }, (_, at) => event(20 + at));
    const text = describeWork(work, [event(10, { series, type: 'Warning' }), ...all]);
    const [, events = ''] = text.split('Events:\n');
    const lines = events.trimEnd().split('\n');
    expect(lines[0]).toBe('  3 older Events');
    expect(lines.slice(-2)).toEqual(['  29m ago Moved: at 31', '  60s ago, 5 times Warning Moved: at 10']);
    expect(describeWork(work, 'not read: forbidden')).toContain('Events:\n  not read: forbidden\n');
  });

  it('fits 80 columns, divides no word, and says what waits with its code', () => {
    const message = `${'It would leave clusters. '.repeat(8)}To approve this change, set the annotation berth.dev/release: "0a1b2c3d4e5f".`;
    const long = 'a-very-long-word-'.repeat(8);
    const condition = { type: 'berth.dev/Held', status: 'True', reason: 'WouldEmpty', message };
    const conditions = [{ ...condition, lastTransitionTime: '2026-01-01T11:55:00Z' }];
    const object = {
      ...{ apiVersion: 'cluster.open-cluster-management.io/v1beta1', kind: 'Placement' },
      ...{ metadata: { namespace: 'shop', name: 'web', labels: { [long]: 'x' } }, status: { conditions } },
    } as unknown as KubeObject;
    const listed = listHolds([object], NOW_MS);
    const text = describeObject({ object, listed, sections: [], events: [] }, NOW_MS);
    for (const line of text.split('\n').filter((one) => !one.includes(long)))
      expect(line.length, line).toBeLessThanOrEqual(80);
    expect(text).toContain('Waits for an approval:\n  placement shop/web for 5m: It would leave');
    expect(text).toContain('    approval code 0a1b2c3d4e5f\n');
    expect(text).toContain(`${long}=x\n`);
  });
});
