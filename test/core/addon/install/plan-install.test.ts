import { describe, expect, it } from 'vitest';
import type { ClusterManagementAddOn, ManagedClusterAddOn } from '@berth/ocm/kind/addon';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { sha256 } from '@berth/runtime/sha256';
import { planOwners } from '@berth/addon/rules/addon-owner';
import { judgeAddOnRemovals, leavingClusters } from '../../../../src/core/addon/install/held-removal.ts';
import { findMissingManager } from '../../../../src/core/addon/install/missing-manager.ts';
import { planAnnotations, planInstall, type PlacementSelection } from '@berth/addon/rules/plan-install';

const GROUP = 'addon.open-cluster-management.io';

function addOnOf(placements: readonly string[], over: object = {}): ClusterManagementAddOn {
  const all = placements.map((name) => ({ namespace: 'n', name }));
  const spec = { installStrategy: { type: 'Placements', placements: all } };
  const metadata = { name: 'a', uid: 'u' };
  return { apiVersion: `${GROUP}/v1beta1`, kind: 'ClusterManagementAddOn', metadata, spec, ...over };
}

function clusterAddOn(namespace: string, metadata: object = {}): ManagedClusterAddOn {
  return {
    apiVersion: `${GROUP}/v1beta1`,
    kind: 'ManagedClusterAddOn',
    metadata: { name: 'a', namespace, creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
  };
}

const installedOn = (...names: string[]): ReadonlyMap<string, ManagedClusterAddOn> =>
  new Map(names.map((name) => [name, clusterAddOn(name)]));

function decided(...clusters: string[]): PlacementSelection {
  const decisions = clusters.map((clusterName) => ({ clusterName, reason: '' }));
  const page = { apiVersion: '', kind: 'PlacementDecision' as const, metadata: { name: '' } };
  return { kind: 'decided', decisions: [{ ...page, status: { decisions } }] };
}

function cluster(name: string): ManagedCluster | undefined {
  if (name === 'unknown') return undefined;
  const deletionTimestamp = name === 'going' ? '2026-01-01T00:00:00Z' : undefined;
  return { metadata: { name, deletionTimestamp } } as ManagedCluster;
}

describe('planInstall', () => {
  it.each<{
    name: string;
    selections: Readonly<Record<string, PlacementSelection>>;
    installed?: ReadonlyMap<string, ManagedClusterAddOn>;
    want: readonly [joining: readonly string[], leaving: readonly string[]];
  }>([
    {
      name: 'joins placements',
      selections: { p: decided('b', 'c'), q: decided('a', 'b') },
      want: [['a', 'b', 'c'], []],
    },
    {
      name: 'leaves out clusters that go or are unknown',
      selections: { p: decided('going', 'unknown', 'c') },
      want: [['c'], []],
    },
    {
      name: 'takes the add-on from clusters that left',
      selections: { p: decided('b') },
      installed: installedOn('a', 'b'),
      want: [[], ['a']],
    },
    {
      name: 'takes it from all when none is selected',
      selections: { p: decided() },
      installed: installedOn('a'),
      want: [[], ['a']],
    },
    {
      name: 'takes nothing beside a missing placement',
      selections: { p: decided('b'), q: { kind: 'missing' } },
      installed: installedOn('a'),
      want: [['b'], []],
    },
    {
      name: 'takes nothing beside an undecided placement',
      selections: { p: decided('b'), q: { kind: 'undecided' } },
      installed: installedOn('a'),
      want: [['b'], []],
    },
    {
      name: 'takes nothing twice',
      selections: { p: decided() },
      installed: new Map([['a', clusterAddOn('a', { deletionTimestamp: 'x' })]]),
      want: [[], []],
    },
  ])('$name', ({ selections, installed = new Map<string, ManagedClusterAddOn>(), want }) => {
    const plan = planInstall({
      ...{ addOn: addOnOf(Object.keys(selections)), installed, cluster },
      selectionOf: ({ name }) => selections[name] ?? { kind: 'missing' },
    });
    expect([plan.joining, plan.leaving.map(({ metadata }) => metadata.namespace)]).toEqual(want);
  });

  it.each([
    ['Manual', addOnOf([], { spec: { installStrategy: { type: 'Manual' } } })],
    ['no strategy', addOnOf([], { spec: {} })],
    [
      'a manager of its own',
      addOnOf(['p'], { metadata: { name: 'a', annotations: { [`${GROUP}/lifecycle`]: 'self' } } }),
    ],
  ])('does nothing with %s', (_, addOn) => {
    const plan = planInstall({
      addOn,
      installed: installedOn('a'),
      cluster,
      selectionOf: () => decided('b'),
    });
    expect(plan).toEqual({ joining: [], leaving: [], unknown: undefined });
  });
});

describe('judgeAddOnRemovals', () => {
  const judge = (clusters: readonly string[], over: object = {}) =>
    judgeAddOnRemovals({
      ...{ addOn: 'a', present: 8, leaving: clusters.map((one) => clusterAddOn(one)), removals: [] },
      ...{ budget: { percent: 25, atLeast: 2 }, nowMs: 1_000_000, digest: sha256, ...over },
    });

  it('counts each removal, with those of the last ten minutes', () => {
    expect(judge(['x', 'y'])).toEqual({ kind: 'remove', counted: 2 });
    expect(judge(['x', 'y', 'z']).kind).toBe('held');
    expect(judge(['x', 'y'], { removals: [{ atMs: 900_000, count: 1 }] }).kind).toBe('held');
    expect(judge(['x', 'y'], { removals: [{ atMs: 100_000, count: 1 }] }).kind).toBe('remove');
  });

  it('lets a release approve exactly its clusters', () => {
    const { code } = leavingClusters(
      sha256,
      'a',
      ['x', 'y', 'z'].map((one) => clusterAddOn(one)),
    );
    const released = clusterAddOn('z', { annotations: { 'berth.dev/release': code } });
    const [x, y, w] = [clusterAddOn('x'), clusterAddOn('y'), clusterAddOn('w')];
    expect(judge([], { leaving: [x, y, released] })).toEqual({ kind: 'remove', counted: 0 });
    expect(judge([], { leaving: [x, w, y, released] }).kind).toBe('held');
  });
});

describe('planOwners', () => {
  const owner = { name: 'a', uid: 'new' };
  const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' };
  const ours = {
    apiVersion: `${GROUP}/v1beta1`,
    kind: 'ClusterManagementAddOn',
    name: 'a',
    controller: true,
  };

  it('adds the owner, replaces an earlier one of the name, and keeps others', () => {
    const wanted = expect.objectContaining({
      uid: 'new',
      controller: true,
      blockOwnerDeletion: true,
    }) as unknown;
    expect(planOwners({ name: 'a' }, owner)).toEqual([wanted]);
    expect(planOwners({ name: 'a', ownerReferences: [other, { ...ours, uid: 'old' }] }, owner)).toEqual([
      other,
      wanted,
    ]);
  });

  it('writes nothing where it is there, in whatever version', () => {
    expect(planOwners({ name: 'a', ownerReferences: [{ ...ours, uid: 'new' }] }, owner)).toBeUndefined();
  });

  it('leaves another controller in charge', () => {
    const planned = planOwners({ name: 'a', ownerReferences: [{ ...other, controller: true }] }, owner);
    expect(planned?.[1]).toMatchObject({ uid: 'new', controller: false });
    expect(planOwners({ name: 'a', ownerReferences: planned }, owner)).toBeUndefined();
  });
});

describe('planAnnotations', () => {
  const [values, node, host] = [`${GROUP}/values`, `${GROUP}/node`, `${GROUP}/hosting-cluster-name`];
  const copied = 'berth.dev/copied-annotations';
  const clusterWith = (annotations: Readonly<Record<string, string>>) => ({ name: 'c', annotations });

  it('copies those of add-ons, changes and removes them with the cluster, and leaves the rest', () => {
    expect(planAnnotations(undefined, clusterWith({ [node]: 'x', other: 'y' }))).toEqual({
      [node]: 'x',
      [copied]: node,
    });
    const addon = { name: 'a', annotations: { [node]: 'x', [values]: '{}', [copied]: node } };
    expect(planAnnotations(addon, clusterWith({ [node]: 'x' }))).toBeUndefined();
    expect(planAnnotations(addon, clusterWith({ [node]: 'z' }))).toEqual({ [node]: 'z', [copied]: node });
    expect(planAnnotations(addon, clusterWith({}))).toEqual({ [node]: null, [copied]: null });
  });

  it.each([
    ['true', 'Hosted', 'h'],
    ['True', 'SingletonHosted', 'h'],
    ['true', 'Default', undefined],
    ['false', 'Hosted', undefined],
  ])('hosts add-ons with the klusterlet: %s, %s', (enabled, mode, want) => {
    const planned = planAnnotations(
      undefined,
      clusterWith({
        [`${GROUP}/enable-hosted-mode-addons`]: enabled,
        'import.open-cluster-management.io/klusterlet-deploy-mode': mode,
        'import.open-cluster-management.io/hosting-cluster-name': 'h',
      }),
    );
    expect(planned?.[host]).toBe(want);
  });
});

describe('findMissingManager', () => {
  const LATER = Date.parse('2026-01-01T00:02:00Z');
  const template = { spec: { defaultConfigs: [{ group: GROUP, resource: 'addontemplates', name: 't' }] } };
  const registered = { type: 'RegistrationApplied', status: 'False' as const, reason: '', message: '' };

  it.each([
    ['without its ClusterManagementAddOn', undefined, 'ClusterManagementAddOnNotFound', 'Create it'],
    ['whose own manager does not run', addOnOf([]), 'ManagerNotRunning', 'Start that manager on the hub'],
    [
      'of a template that nothing registers',
      addOnOf([], template),
      'ManagerNotRunning',
      'berth serve --addons registration',
    ],
  ])('finds an add-on %s', (_, addOn, reason, message) => {
    const { condition } = findMissingManager(clusterAddOn('c'), addOn, LATER);
    expect(condition).toMatchObject({ type: 'Managed', status: 'False', reason });
    expect(condition?.message).toContain(message);
  });

  it('waits a minute, and says nothing of an add-on that is registered', () => {
    const early = Date.parse('2026-01-01T00:00:50Z');
    expect(findMissingManager(clusterAddOn('c'), undefined, early)).toEqual({
      condition: undefined,
      recheckAfterMs: 10_000,
    });
    const addon = { ...clusterAddOn('c'), status: { conditions: [registered] } };
    expect(findMissingManager(addon, addOnOf([]), LATER)).toEqual({ condition: undefined });
  });

  it('says nothing of an add-on of a template that waits for its rollout', () => {
    const waits = { ...registered, type: 'Configured' };
    const addon = { ...clusterAddOn('c'), status: { conditions: [waits] } };
    expect(findMissingManager(addon, addOnOf([], template), LATER)).toEqual({ condition: undefined });
  });
});
