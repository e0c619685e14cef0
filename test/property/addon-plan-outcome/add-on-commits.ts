import fc from 'fast-check';
import { binding, cluster, clusterSet, namespace, placement, yaml } from '../../app/serve/fleet-fixture.ts';

/* What Git may say next of placements and the add-ons that they install, as data. */

export const CLUSTERS = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'];
export const PLACEMENTS = ['edge', 'infra', 'ops'];
export const ADD_ONS = ['logs', 'mesh'];

const gone = <T>(present: fc.Arbitrary<T>, freq: number): fc.Arbitrary<T | undefined> =>
  fc.option(present, { freq, nil: undefined });

const placementState = fc.record({
  clusters: fc.subarray(CLUSTERS),
  /** Of the placement: the one of add-ons is that of the controller. */
  budget: fc.constantFrom('1', '100%', '100%', '100%'),
});
/** No placements: people install it. */
const addOnState = fc.record({ placements: fc.subarray(PLACEMENTS) });

export const commit = fc.record({
  placements: fc.dictionary(fc.constantFrom(...PLACEMENTS), gone(placementState, 12), {
    minKeys: 1,
    maxKeys: 2,
  }),
  addOns: fc.dictionary(fc.constantFrom(...ADD_ONS), gone(addOnState, 8), { maxKeys: 1 }),
  /** What the plan would hold is released after the merge, by the codes of the plan. */
  isReleased: fc.constantFrom(true, false, false),
});
export type Commit = typeof commit extends fc.Arbitrary<infer T> ? T : never;

export type State = Pick<Commit, 'placements' | 'addOns'>;

export const START: State = {
  placements: {
    edge: { clusters: ['c1', 'c2', 'c3'], budget: '100%' },
    infra: { clusters: CLUSTERS, budget: '100%' },
    ops: { clusters: ['c4', 'c5'], budget: '100%' },
  },
  addOns: { logs: { placements: ['infra'] }, mesh: { placements: ['edge', 'ops'] } },
};

export function stateAfter(state: State, { placements, addOns }: Commit): State {
  return {
    placements: { ...state.placements, ...placements },
    addOns: { ...state.addOns, ...addOns },
  };
}

/** The files of a state; undefined: it is not there. */
export function filesOf(state: State, number: number): Readonly<Record<string, string | undefined>> {
  const files: Record<string, string | undefined> = {
    'fleet.yaml': yaml(
      ...['team-a', ...CLUSTERS].map(namespace),
      clusterSet,
      binding(),
      ...CLUSTERS.map((name) => cluster(name, { labels: { name } })),
    ),
    'marker.yaml': yaml({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'team-a', name: 'marker' },
      data: { commit: String(number) },
    }),
  };
  for (const name of PLACEMENTS) {
    const own = state.placements[name];
    files[`placements/${name}.yaml`] = own && yaml(placementOf(name, own));
  }
  for (const name of ADD_ONS) {
    const own = state.addOns[name];
    files[`add-ons/${name}.yaml`] = own && yaml(addOnOf(name, own));
  }
  return files;
}

function placementOf(name: string, { clusters, budget }: NonNullable<State['placements'][string]>) {
  const matchExpressions = [{ key: 'name', operator: 'In', values: [...clusters, 'none'] }];
  const spec = { predicates: [{ requiredClusterSelector: { labelSelector: { matchExpressions } } }] };
  return placement(name, spec, { 'berth.dev/removal-budget': budget });
}

function addOnOf(name: string, { placements }: NonNullable<State['addOns'][string]>) {
  const installed = placements.map((placed) => ({ namespace: 'team-a', name: placed }));
  const installStrategy =
    installed.length === 0 ? { type: 'Manual' } : { type: 'Placements', placements: installed };
  return {
    apiVersion: 'addon.open-cluster-management.io/v1alpha1',
    kind: 'ClusterManagementAddOn',
    metadata: { name },
    spec: { installStrategy },
  };
}
