import { describe, expect, it } from 'vitest';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { DecisionTable } from '@berth/placement/explain/text/decision-table';
import { clusterState, fleetView } from '../../../src/core/dashboard/fleet-view.ts';
import { type Sight, visibleClusters, visiblePlan, visibleTable } from '../../../src/core/dashboard/sight.ts';
import type { Plan } from '../../../src/core/preview/plan.ts';

const SET = 'cluster.open-cluster-management.io/clusterset';
const cluster = (name: string, set: string, over: object = {}) => ({
  metadata: { name, labels: { [SET]: set } },
  spec: { hubAcceptsClient: true },
  ...over,
});
const SNAPSHOT = {
  now: '2026-01-01T00:00:00Z',
  clusters: [cluster('a1', 'a'), cluster('b1', 'b'), cluster('b2', 'b')],
  clusterSets: [
    { metadata: { name: 'a' }, spec: {} },
    { metadata: { name: 'b' }, spec: {} },
  ],
  bindings: [{ metadata: { namespace: 'shop', name: 'b' }, spec: { clusterSet: 'b' } }],
  placements: [
    { metadata: { namespace: 'shop', name: 'web' }, spec: { numberOfClusters: 1 } },
    { metadata: { namespace: 'bank', name: 'web' }, spec: {} },
  ],
  decisions: [],
  scores: [],
} as unknown as Snapshot;
const TENANT: Sight = { namespaces: new Set(['shop']), allClusters: false };
const ADMIN: Sight = { namespaces: 'all', allClusters: true };

describe('what a viewer sees', () => {
  it.each([
    ['everything with all rights', ADMIN, ['a1', 'b1', 'b2'], ['shop/web', 'bank/web']],
    ['a tenant: his namespaces and the sets bound there', TENANT, ['b1', 'b2'], ['shop/web']],
    [
      'all clusters without placements',
      { namespaces: new Set<string>(), allClusters: true },
      ['a1', 'b1', 'b2'],
      [],
    ],
    ['nothing without rights', { namespaces: new Set<string>(), allClusters: false }, [], []],
  ])('%s', (_name, sight: Sight, clusters, placements) => {
    const view = fleetView(SNAPSHOT, () => 1, sight);
    expect(view.clusters.map(([name]) => name)).toEqual(clusters);
    expect(view.placements.map(({ namespace, name }) => `${namespace}/${name}`)).toEqual(placements);
    for (const [name, set] of view.clusters) expect(view.sets[set]).toBe(name.slice(0, 1));
  });

  it('keeps numbers and leaves out names of hidden clusters, and advice that names one', () => {
    const reason = {
      text: 'not in the sets',
      count: 2,
      clusters: ['a1', 'b1'],
      leaving: ['a1'],
      flipsIf: 'label a1',
    };
    const table = {
      refused: [{ gate: 'cluster sets', count: 2, reasons: [reason] }],
    } as unknown as DecisionTable;
    const [gate] = visibleTable(table, visibleClusters(SNAPSHOT, TENANT)).refused;
    expect(gate).toMatchObject({
      count: 2,
      reasons: [{ count: 2, clusters: ['b1'], leaving: [], flipsIf: '' }],
    });
  });

  it('leaves of a plan what is about the placements of the viewer', () => {
    const move = { cluster: 'b1', because: '', causes: [] };
    const plan = {
      summary: { placements: 2, placementsChanged: 2, clusters: 3, added: 9, removed: 9, held: 2 },
      placements: [
        { namespace: 'shop', name: 'web', added: [move], removed: [] },
        { namespace: 'bank', name: 'vault', added: [], removed: [move], held: { reason: 'r', message: 'm' } },
      ],
      later: [{ namespace: 'bank', name: 'vault' }],
      ...{
        clusters: [
          { name: 'a1', labels: { secret: 'x' } },
          { name: 'b1', labels: { secret: 'x' } },
        ],
      },
      ...{ fleet: [{ name: 'a1' }, { name: 'b1' }], decisions: [], whatIf: ['--drain b1'] },
      objects: [{ ref: { kind: 'Placement', namespace: 'bank', name: 'vault' } }],
      ...{
        findings: [{ subject: 'bank/vault' }],
        workloads: [{ name: 'vault' }],
        waiting: [
          { kind: 'hold', subject: 'bank/vault' },
          { kind: 'deletions', subject: 'vault' },
          { kind: 'hold', subject: 'shop/web' },
        ],
      },
      ...{ applications: [{ name: 'vault' }], rollouts: [{ name: 'vault' }], lostFiles: [{ file: 'vault' }] },
      ...{
        deletionsHeld: [{ source: 'vault' }],
        addOnsHeld: [{ addOn: 'vault' }],
        rules: { vault: 1 },
        token: { vault: 1 },
      },
      notEvaluated: ['vault is not evaluated'],
    } as unknown as Plan;
    const seen = visiblePlan(plan, TENANT, visibleClusters(SNAPSHOT, TENANT));
    expect(JSON.stringify(seen)).not.toMatch(/vault|a1|secret/);
    expect(seen.waiting).toEqual([{ kind: 'hold', subject: 'shop/web' }]);
    expect(seen.summary).toEqual({
      placements: 1,
      placementsChanged: 1,
      clusters: 1,
      added: 1,
      removed: 0,
      held: 0,
    });
    expect(visiblePlan(plan, ADMIN, () => true)).toBe(plan);
  });
});

describe('the state of a cluster', () => {
  const available = (status: string) => ({
    status: { conditions: [{ type: 'ManagedClusterConditionAvailable', status }] },
  });
  const taints = (key: string) => ({
    spec: { hubAcceptsClient: true, taints: [{ key, effect: 'NoSelect' }] },
  });
  it.each([
    ['available', available('True')],
    ['unavailable', available('False')],
    ['unknown', available('Unknown')],
    ['unknown', {}],
    ['tainted', { ...available('True'), ...taints('disk') }],
    ['available', { ...available('True'), ...taints('cluster.open-cluster-management.io/unreachable') }],
    ['unavailable', { ...available('False'), ...taints('disk') }],
    ['not accepted', { ...available('True'), spec: {} }],
    ['leaving', { ...available('True'), metadata: { name: 'x', deletionTimestamp: 'now' } }],
  ])('%s', (want, over) => {
    expect(clusterState(cluster('x', 'a', over) as never)).toBe(want);
  });
});
