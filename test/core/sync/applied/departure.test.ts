import { describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { RECORDED_STATUS_MANAGER } from '../../../../src/core/registration/health/is-live.ts';
import { departureOf } from '../../../../src/core/sync/applied/departure.ts';
import { planWithdrawal } from '../../../../src/core/sync/applied/plan-withdrawal.ts';

const WORKS = 'is registered, and its agent works';
const WAS_THERE = 'was on the hub before Git declared it';

interface Given {
  readonly kind?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: object;
  readonly status?: object;
  /** Manager to the fields that it owns by updates; `berth` by apply. */
  readonly owners?: Readonly<Record<string, object>>;
  /** Managers that wrote the status. */
  readonly reporters?: readonly string[];
}

function live({
  kind = 'ManagedCluster',
  annotations = {},
  owners = {},
  reporters = [],
  ...more
}: Given): KubeObject {
  const managedFields = [
    ...Object.entries(owners).map(([manager, fieldsV1]) => ({
      manager,
      operation: manager === 'berth' ? 'Apply' : 'Update',
      fieldsV1,
    })),
    ...reporters.map((manager) => ({ manager, operation: 'Update', subresource: 'status', fieldsV1: {} })),
  ];
  return { apiVersion: 'v1', kind, metadata: { name: 'x', annotations, managedFields }, ...more };
}

const ACCEPTED = { hubAcceptsClient: true };
const conditions = (available?: string, joined = 'True') => ({
  conditions: [
    { type: 'ManagedClusterJoined', status: joined },
    ...(available === undefined ? [] : [{ type: 'ManagedClusterConditionAvailable', status: available }]),
  ],
});
const OF_GIT = { 'f:metadata': { 'f:labels': { 'f:env': {} } } };
const ACCEPTANCE = { 'f:spec': { 'f:hubAcceptsClient': {} } };
const REGISTRATION = { 'f:spec': { 'f:managedClusterClientConfigs': {}, 'f:taints': {} } };
const ADOPTED = { 'berth.dev/adopted': 'true' };

describe('an object that leaves Git', () => {
  it.each<{ readonly what: string; readonly given: Given; readonly want: string }>([
    // The lease, as the hub judges it.
    {
      what: 'a live cluster that Git made',
      given: { spec: ACCEPTED, status: conditions('True') },
      want: WORKS,
    },
    {
      what: 'one whose API server is down',
      given: { spec: ACCEPTED, status: conditions('False') },
      want: WORKS,
    },
    { what: 'one that has just joined', given: { spec: ACCEPTED, status: conditions() }, want: WORKS },
    {
      what: 'one whose agent is silent',
      given: { spec: ACCEPTED, status: conditions('Unknown') },
      want: 'deleted',
    },
    {
      what: 'one that never joined',
      given: { spec: ACCEPTED, status: conditions(undefined, 'False') },
      want: 'deleted',
    },
    { what: 'one that never reported', given: { spec: ACCEPTED }, want: 'deleted' },
    {
      what: 'one that the hub denies',
      given: { spec: { hubAcceptsClient: false }, status: conditions('True') },
      want: 'deleted',
    },
    {
      what: 'one whose status Git recorded',
      given: { spec: ACCEPTED, status: conditions('True'), reporters: [RECORDED_STATUS_MANAGER] },
      want: 'deleted',
    },
    {
      what: 'one whose agent reported over what Git recorded',
      given: { spec: ACCEPTED, status: conditions('True'), reporters: [RECORDED_STATUS_MANAGER, 'agent'] },
      want: WORKS,
    },
    // The record.
    {
      what: 'an adopted cluster that is silent',
      given: { annotations: ADOPTED, status: conditions('Unknown') },
      want: WAS_THERE,
    },
    { what: 'an adopted Placement', given: { kind: 'Placement', annotations: ADOPTED }, want: WAS_THERE },
    { what: 'an adopted Namespace', given: { kind: 'Namespace', annotations: ADOPTED }, want: WAS_THERE },
    {
      what: 'an adopted definition',
      given: { kind: 'CustomResourceDefinition', annotations: ADOPTED },
      want: WAS_THERE,
    },
    { what: 'a Namespace that Git made', given: { kind: 'Namespace' }, want: 'kept' },
    { what: 'a Placement that Git made', given: { kind: 'Placement' }, want: 'deleted' },
    // The word.
    ...['ManagedCluster', 'Placement', 'Namespace'].flatMap((kind) => [
      {
        what: `${kind}, enabled`,
        given: {
          kind,
          spec: ACCEPTED,
          status: conditions('True'),
          annotations: { ...ADOPTED, 'berth.dev/prune': 'enabled' },
        },
        want: 'deleted',
      },
      {
        what: `${kind}, disabled`,
        given: { kind, annotations: { ...ADOPTED, 'berth.dev/prune': 'disabled' } },
        want: 'kept',
      },
      { what: `${kind}, misspelt`, given: { kind, annotations: { 'berth.dev/prune': 'yes' } }, want: 'kept' },
    ]),
    // The owners, where an earlier version left no record.
    {
      what: 'labels on a cluster that a person accepted',
      given: { owners: { berth: OF_GIT, kubectl: ACCEPTANCE } },
      want: 'belongs to kubectl, too',
    },
    {
      what: 'taints on a cluster that its agent made',
      given: {
        owners: {
          berth: { 'f:spec': { 'f:taints': {} } },
          agent: { 'f:spec': { 'f:hubAcceptsClient': {}, 'f:managedClusterClientConfigs': {} } },
        },
      },
      want: 'belongs to agent, too',
    },
    {
      what: 'a cluster that Git accepted, with an agent that is silent',
      given: { owners: { berth: ACCEPTANCE, agent: REGISTRATION }, status: conditions('Unknown') },
      want: 'deleted',
    },
    {
      what: 'a cluster that others accept, too',
      given: { owners: { berth: ACCEPTANCE, 'kubectl-create': ACCEPTANCE } },
      want: 'belongs to kubectl-create, too',
    },
    {
      what: 'a Placement that others declare as well',
      given: {
        kind: 'Placement',
        owners: {
          berth: { 'f:spec': { 'f:numberOfClusters': {} } },
          argocd: { 'f:spec': { 'f:numberOfClusters': {} } },
        },
      },
      want: 'belongs to argocd, too',
    },
    {
      what: 'a Placement in which others set another field',
      given: {
        kind: 'Placement',
        owners: {
          berth: { 'f:spec': { 'f:predicates': {} } },
          kubectl: { 'f:spec': { 'f:numberOfClusters': {} } },
        },
      },
      want: 'deleted',
    },
    {
      what: 'an empty Placement that others filled',
      given: {
        kind: 'Placement',
        owners: { berth: { 'f:spec': {} }, kubectl: { 'f:spec': { 'f:numberOfClusters': {} } } },
      },
      want: 'deleted',
    },
    {
      what: 'labels of others on what Git made',
      given: { kind: 'ConfigMap', owners: { berth: { 'f:data': { 'f:a': {} } }, kubectl: OF_GIT } },
      want: 'deleted',
    },
  ])('$what: $want', ({ given, want }) => {
    const departure = departureOf(live(given));
    expect(departure.kind === 'withdrawn' ? departure.because : departure.kind).toBe(want);
  });
});

describe('taking off what Git applied', () => {
  it('leaves what nobody owns, as on a hub whose members gave their fields up', () => {
    const object = live({
      spec: ACCEPTED,
      annotations: { 'berth.dev/registered-by': 'berth-member' },
      owners: { berth: OF_GIT },
    });
    const labelled = { ...object, metadata: { ...object.metadata, labels: { env: 'prod' } } };
    const { kept, after } = planWithdrawal(labelled);
    expect(kept).toBeUndefined();
    expect(after).toMatchObject({ spec: ACCEPTED, metadata: { annotations: object.metadata.annotations } });
    expect(after.metadata.labels).toBeUndefined();
  });

  it('takes a taint of Git off a list that registration wrote last', () => {
    const taints = [
      { key: 'drain', effect: 'NoSelect' },
      { key: 'unreachable', effect: 'NoSelect' },
    ];
    const { kept, after } = planWithdrawal(
      live({
        spec: { ...ACCEPTED, taints },
        annotations: { 'berth.dev/applied-taints': 'drain:NoSelect' },
        owners: { berth: OF_GIT, registration: REGISTRATION },
      }),
    );
    expect(kept?.['spec']).toEqual({ taints: [taints[1]] });
    expect(after['spec']).toEqual({ ...ACCEPTED, taints: [taints[1]] });
  });

  it('goes on applying what an interrupted one had handed over', () => {
    const taints = [{ key: 'unreachable', effect: 'NoSelect' }];
    const { kept } = planWithdrawal(
      live({
        spec: { ...ACCEPTED, taints },
        owners: { berth: OF_GIT },
      }),
    );
    expect(kept).toBeUndefined();
    const handedOver = live({ spec: { ...ACCEPTED, taints }, owners: { berth: OF_GIT } });
    const withOwner = {
      ...handedOver,
      metadata: {
        ...handedOver.metadata,
        managedFields: [
          ...(handedOver.metadata.managedFields ?? []),
          {
            manager: 'berth-withdrawn',
            operation: 'Apply',
            fieldsV1: { 'f:spec': { 'f:hubAcceptsClient': {}, 'f:taints': {} } },
          },
        ],
      },
    };
    expect(planWithdrawal(withOwner).kept?.['spec']).toEqual({ ...ACCEPTED, taints });
  });

  it('removes labels and items of lists that nobody else owns', () => {
    const object: KubeObject = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: 'x',
        labels: { a: '1' },
        annotations: { a: '1' },
        managedFields: [
          {
            manager: 'berth',
            operation: 'Apply',
            fieldsV1: {
              'f:metadata': { 'f:labels': { 'f:a': {} } },
              'f:spec': {
                'f:ports': {
                  'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {} },
                  'k:{"port":90}': { 'f:name': {} },
                },
                'f:list': { 'v:"b"': {} },
                'f:shared': {},
              },
            },
          },
          {
            manager: 'kubectl',
            operation: 'Update',
            fieldsV1: {
              'f:spec': { 'f:ports': { 'k:{"port":90}': { '.': {}, 'f:port': {} } }, 'f:shared': {} },
            },
          },
        ],
      },
      spec: { ports: [{ port: 80 }, { port: 90, name: 'b' }], list: ['a', 'b'], shared: 1 },
    };
    const { after } = planWithdrawal(object);
    expect(after['spec']).toEqual({ ports: [{ port: 90 }], list: ['a'], shared: 1 });
    expect(after.metadata.annotations).toEqual({ a: '1' });
    expect(after.metadata.labels).toBeUndefined();
  });
});
