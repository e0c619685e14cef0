import { describe, expect, it } from 'vitest';
import type { Condition } from '@berth/kube/model/object-meta';
import type {
  AddOnConfigReference,
  ClusterManagementAddOn,
  ManagedClusterAddOn,
} from '@berth/ocm/kind/addon';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import {
  planConfiguration,
  planProgress,
} from '../../../../src/core/addon/configuration/plan-configuration.ts';
import { planReferences } from '@berth/addon/rules/plan-references';
import { withOwnHashes } from '@berth/addon/rules/config-references';

const GROUP = 'addon.open-cluster-management.io';
const ADC = { group: GROUP, resource: 'addondeploymentconfigs' };
const TEMPLATE = { group: GROUP, resource: 'addontemplates' };
const NOW = '2026-01-01T00:00:00Z';

function addOnOf(spec: object, status: object = {}): ClusterManagementAddOn {
  return {
    ...{ apiVersion: `${GROUP}/v1beta1`, kind: 'ClusterManagementAddOn', metadata: { name: 'a' } },
    ...{ spec, status },
  };
}

const desired = (name: string, specHash = '', namespace?: string) => ({
  ...(namespace !== undefined && { namespace }),
  ...{ name, specHash },
});

describe('planReferences', () => {
  const defaults = [
    { ...TEMPLATE, name: 't' },
    { ...ADC, name: '__reserved_no_default__' },
  ];
  const strategy = (...configs: readonly object[]) => ({
    type: 'Placements',
    placements: [{ namespace: 'n', name: 'p', configs }],
  });

  it('names defaults without the reserved name, and for placements the strategy over the defaults', () => {
    const configs = [
      { ...ADC, namespace: 'n', name: 'x' },
      { ...ADC, namespace: 'n', name: 'y' },
      { ...ADC, namespace: 'n', name: 'x' },
    ];
    const planned = planReferences(
      addOnOf({ defaultConfigs: defaults, installStrategy: strategy(...configs) }),
      ({ name }) => ({ specHash: `hash of ${name}`, generation: 1 }),
    );
    expect(planned.defaultConfigReferences).toEqual([
      { ...TEMPLATE, desiredConfig: desired('t', 'hash of t') },
    ]);
    expect(planned.installProgressions).toEqual([
      {
        ...{ namespace: 'n', name: 'p' },
        configReferences: [
          { ...ADC, desiredConfig: desired('x', 'hash of x', 'n') },
          { ...ADC, desiredConfig: desired('y', 'hash of y', 'n') },
          { ...TEMPLATE, desiredConfig: desired('t', 'hash of t') },
        ],
      },
    ]);
  });

  it('keeps what another process found out, and starts again with other configurations', () => {
    const conditions: readonly Condition[] = [
      { type: 'Progressing', status: 'False', reason: 'Completed', message: '' },
    ];
    const reference = {
      ...ADC,
      desiredConfig: desired('x', 'known'),
      lastAppliedConfig: desired('x', 'known'),
    };
    const progression = { namespace: 'n', name: 'p', conditions, configReferences: [reference] };
    const status = { installProgressions: [progression] };
    const same = addOnOf({ installStrategy: strategy({ ...ADC, name: 'x' }) }, status);
    expect(planReferences(same, () => undefined).installProgressions).toEqual([progression]);
    const other = addOnOf({ installStrategy: strategy({ ...ADC, name: 'z' }) }, status);
    expect(planReferences(other, () => undefined).installProgressions).toEqual([
      { namespace: 'n', name: 'p', configReferences: [{ ...ADC, desiredConfig: desired('z') }] },
    ]);
  });

  it('has no progress with Manual, and leaves that of an add-on with its own manager', () => {
    const status = { installProgressions: [{ namespace: 'n', name: 'p' }] };
    expect(planReferences(addOnOf({}, status), () => undefined).installProgressions).toEqual([]);
    const own = { ...addOnOf({ installStrategy: strategy() }, status) };
    const metadata = { name: 'a', annotations: { [`${GROUP}/lifecycle`]: 'self' } };
    expect(planReferences({ ...own, metadata }, () => undefined).installProgressions).toEqual(
      status.installProgressions,
    );
  });
});

describe('withOwnHashes', () => {
  const references: readonly AddOnConfigReference[] = [
    { ...ADC, lastObservedGeneration: 1, desiredConfig: desired('x', 'old', 'n') },
    { ...TEMPLATE, lastObservedGeneration: 1, desiredConfig: desired('t', 'old') },
  ];
  const spec = { configs: [{ ...ADC, namespace: 'n', name: 'x' }] };
  const lookup = () => ({ specHash: 'new', generation: 7 });

  it('gives the hash of what the add-on itself names, and generations of all', () => {
    const hashed = withOwnHashes(references, { spec }, { supported: [ADC, TEMPLATE], lookup });
    expect(hashed.map((one) => [one.desiredConfig?.specHash, one.lastObservedGeneration])).toEqual([
      ['new', 7],
      ['old', 7],
    ]);
  });

  it('gives no hash of a kind that is not supported', () => {
    const [own] = withOwnHashes(references, { spec }, { supported: [TEMPLATE], lookup });
    expect(own?.desiredConfig?.specHash).toBe('old');
  });
});

describe('planProgress', () => {
  const applied: Condition = { type: 'ManifestApplied', status: 'False', reason: '', message: '' };
  const reference = { ...ADC, lastObservedGeneration: 1, desiredConfig: desired('x', 'h', 'n') };
  const hash = {
    'open-cluster-management.io/config-spec-hash': JSON.stringify({ [`${ADC.resource}.${GROUP}/n/x`]: 'h' }),
  };

  function addon(status: object, over: object = {}): ManagedClusterAddOn {
    const metadata = { name: 'a', namespace: 'c' };
    return { apiVersion: '', kind: 'ManagedClusterAddOn', metadata, status, ...over };
  }

  function work(
    name: string,
    annotations: object = hash,
    over: { readonly observed?: number; readonly status?: string } = {},
  ) {
    const { observed = 2, status = 'True' } = over;
    const conditions = ['Applied', 'Available'].map((type) => ({
      type,
      status,
      observedGeneration: observed,
    }));
    return {
      metadata: { name, generation: 2, annotations },
      status: { conditions },
    } as unknown as ManifestWork;
  }

  const ready = addon({ conditions: [applied], configReferences: [reference] });
  it.each<[string, ManagedClusterAddOn, readonly ManifestWork[], readonly [string, string]]>([
    [
      'a kind that is not supported',
      addon({}, { spec: { configs: [{ group: 'g', resource: 'r', name: 'x' }] } }),
      [],
      ['ConfigurationUnsupported', 'Configuration with gvr g/r is not supported for this addon'],
    ],
    [
      'manifests that are not applied yet',
      addon({}),
      [],
      ['WaitingForManifestApplied', 'Waiting for ManagedClusterAddOn ManifestApplied condition'],
    ],
    [
      'hosted manifests that are not applied yet',
      addon(
        { conditions: [applied] },
        { metadata: { name: 'a', annotations: { [`${GROUP}/hosting-cluster-name`]: 'h' } } },
      ),
      [],
      [
        'WaitingForHostingManifestApplied',
        'Waiting for ManagedClusterAddOn HostingManifestApplied condition',
      ],
    ],
    ['no works', ready, [], ['Progressing', 'progressing... no addon works']],
    [
      'a work of other configurations',
      ready,
      [work('w', { ...hash, 'open-cluster-management.io/config-spec-hash': '{}' })],
      ['Progressing', 'progressing... mca and work configs mismatch'],
    ],
    [
      'a work that cannot be compared',
      ready,
      [work('w', { 'open-cluster-management.io/config-spec-hash': '{' })],
      ['Progressing', 'progressing... mca and work configs mismatch'],
    ],
    [
      'a work without configurations',
      ready,
      [work('w', {})],
      ['Progressing', 'progressing... mca and work configs mismatch'],
    ],
    [
      'a work that is not ready',
      ready,
      [work('w', hash, { status: 'False' })],
      ['Progressing', 'progressing... work is not ready'],
    ],
    [
      'a work whose status is old',
      ready,
      [work('w', hash, { observed: 1 })],
      ['Progressing', 'progressing... work is not ready'],
    ],
    [
      'works that are ready, beside a hook',
      ready,
      [work('w'), work('addon-a-pre-delete', {}, { status: 'False' })],
      ['Completed', 'completed with no errors.'],
    ],
    [
      'an add-on without configurations',
      addon({ conditions: [applied] }),
      [work('w', {})],
      ['Completed', 'completed with no errors.'],
    ],
  ])('of %s', (_, given, works, [reason, message]) => {
    const { conditions } = planProgress(given, works, NOW);
    const status = reason === 'Progressing' ? 'True' : 'False';
    expect(conditions?.at(-1)).toEqual({
      type: 'Progressing',
      status,
      reason,
      message,
      lastTransitionTime: NOW,
    });
  });

  it('keeps what was applied while a work fails later', () => {
    const done = planProgress(ready, [work('w')], NOW);
    expect(done.configReferences?.[0]?.lastAppliedConfig).toEqual(reference.desiredConfig);
    const later = planProgress(
      addon({ ...ready.status, ...done }),
      [work('w', hash, { status: 'False' })],
      NOW,
    );
    expect(later.configReferences).toEqual(done.configReferences);
  });
});

describe('the progress of a placement', () => {
  const decisionsOf = (clusters: readonly string[]) => [
    {
      ...{ apiVersion: 'cluster.open-cluster-management.io/v1beta1', kind: 'PlacementDecision' as const },
      metadata: {
        ...{ namespace: 'n', name: 'p-decision-1' },
        labels: { 'cluster.open-cluster-management.io/decision-group-index': '0' },
      },
      status: { decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })) },
    },
  ];
  const config = desired('t', 'h');
  const done = { ...TEMPLATE, desiredConfig: config, lastAppliedConfig: config };
  const onCluster = (namespace: string, configReferences: readonly object[]): ManagedClusterAddOn =>
    ({
      ...{ apiVersion: `${GROUP}/v1beta1`, kind: 'ManagedClusterAddOn', spec: {} },
      ...{ metadata: { namespace, name: 'a' }, status: { configReferences } },
    }) as unknown as ManagedClusterAddOn;

  it.each([
    { name: 'is not selected', selection: { kind: 'decided', decisions: decisionsOf([]) } as const },
    { name: 'has an unknown placement', selection: { kind: 'undecided' } as const },
  ])('says only that a new add-on waits, on a cluster that $name', ({ selection }) => {
    const plan = planConfiguration({
      ...{ nowMs: Date.parse(NOW), now: NOW },
      addOn: addOnOf({
        defaultConfigs: [{ ...TEMPLATE, name: 't' }],
        installStrategy: { type: 'Placements', placements: [{ namespace: 'n', name: 'p' }] },
      }),
      installed: new Map([['c1', onCluster('c1', [])]]),
      selectionOf: () => selection,
      placement: () => undefined,
      lookup: () => ({ specHash: 'h', generation: 1 }),
    });
    expect(plan.addons.get('c1')).toEqual({
      conditions: [expect.objectContaining({ type: 'Progressing', reason: 'WaitingForManifestApplied' })],
    });
  });

  it('begins again when a cluster joins a finished rollout', () => {
    const conditions = [{ type: 'Progressing', status: 'False', reason: 'Completed', message: '' }];
    const progression = { namespace: 'n', name: 'p', conditions, configReferences: [done] };
    const plan = planConfiguration({
      ...{ nowMs: Date.parse(NOW), now: NOW },
      addOn: addOnOf(
        {
          defaultConfigs: [{ ...TEMPLATE, name: 't' }],
          installStrategy: { type: 'Placements', placements: [{ namespace: 'n', name: 'p' }] },
        },
        { installProgressions: [progression] },
      ),
      installed: new Map([
        ['c1', onCluster('c1', [done])],
        ['c2', onCluster('c2', [])],
      ]),
      selectionOf: () => ({ kind: 'decided', decisions: decisionsOf(['c1', 'c2']) }),
      placement: (namespace, name) => ({
        ...{ apiVersion: 'cluster.open-cluster-management.io/v1beta1', kind: 'Placement' },
        ...{ metadata: { namespace, name }, spec: {} },
      }),
      lookup: () => ({ specHash: 'h', generation: 1 }),
    });
    expect(plan.status.installProgressions?.[0]?.conditions).toEqual([
      {
        ...{ type: 'Progressing', status: 'True', reason: 'Progressing', lastTransitionTime: NOW },
        message: 'selected clusters 2. configured addons 2/2 progressing..., 0 failed 0 timeout.',
      },
    ]);
    expect(plan.addons.get('c2')?.configReferences).toMatchObject([{ desiredConfig: config }]);
  });
});
