import fc from 'fast-check';
import { binding, cluster, clusterSet, namespace, placement, yaml } from '../../app/serve/fleet-fixture.ts';

/* What Git may say next of placements and the add-ons that they install, as data. */

export const CLUSTERS = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'];
export const PLACEMENTS = ['edge', 'infra', 'ops'];
export const ADD_ONS = ['logs', 'mesh'];
export const SIZES = ['big', 'small'];
const TEMPLATES = ['v1', 'v2'];

const gone = <T>(present: fc.Arbitrary<T>, freq: number): fc.Arbitrary<T | undefined> =>
  fc.option(present, { freq, nil: undefined });

const placementState = fc.record({
  clusters: fc.subarray(CLUSTERS),
  /** Of the placement: the one of add-ons is that of the controller. */
  budget: fc.constantFrom('1', '100%', '100%', '100%'),
});
const addOnState = fc.record({
  /** None: people install it. */
  placements: fc.subarray(PLACEMENTS),
  /** Its AddOnTemplate by default. */
  template: fc.constantFrom('v1', 'v2'),
  /** Its AddOnDeploymentConfig where the first of its placements selects. */
  first: fc.constantFrom(undefined, ...SIZES),
});

export const commit = fc.record({
  placements: fc.dictionary(fc.constantFrom(...PLACEMENTS), gone(placementState, 12), {
    minKeys: 1,
    maxKeys: 2,
  }),
  addOns: fc.dictionary(fc.constantFrom(...ADD_ONS), gone(addOnState, 8), { maxKeys: 1 }),
  /** What the AddOnDeploymentConfigs say: one is edited in place. */
  sizes: fc.dictionary(fc.constantFrom(...SIZES), fc.constantFrom('1', '2', '3'), { maxKeys: 1 }),
  /** What the plan would hold is released after the merge, by the codes of the plan. */
  isReleased: fc.constantFrom(true, false, false),
});
export type Commit = typeof commit extends fc.Arbitrary<infer T> ? T : never;

export type State = Pick<Commit, 'placements' | 'addOns' | 'sizes'>;

export const START: State = {
  placements: {
    edge: { clusters: ['c1', 'c2', 'c3'], budget: '100%' },
    infra: { clusters: CLUSTERS, budget: '100%' },
    ops: { clusters: ['c4', 'c5'], budget: '100%' },
  },
  addOns: {
    logs: { placements: ['infra'], template: 'v1', first: undefined },
    mesh: { placements: ['edge', 'ops'], template: 'v1', first: 'big' },
  },
  sizes: { big: '1', small: '1' },
};

export function stateAfter(state: State, { placements, addOns, sizes }: Commit): State {
  return {
    placements: { ...state.placements, ...placements },
    addOns: { ...state.addOns, ...addOns },
    sizes: { ...state.sizes, ...sizes },
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
  files['configs.yaml'] = yaml(
    ...SIZES.map((name) => deploymentConfig(name, state.sizes[name] ?? '1')),
    ...ADD_ONS.flatMap((addOn) => TEMPLATES.map((version) => template(addOn, version))),
  );
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

const ADDON = 'addon.open-cluster-management.io';

const deploymentConfig = (name: string, value: string) => ({
  apiVersion: `${ADDON}/v1alpha1`,
  kind: 'AddOnDeploymentConfig',
  metadata: { namespace: 'team-a', name },
  spec: { agentInstallNamespace: 'agents', customizedVariables: [{ name: 'SIZE', value }] },
});

const template = (addonName: string, version: string) => ({
  apiVersion: `${ADDON}/v1alpha1`,
  kind: 'AddOnTemplate',
  metadata: { name: `${addonName}-${version}` },
  spec: {
    addonName,
    agentSpec: {
      workload: {
        manifests: [
          {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { namespace: 'agents', name: 'agent' },
            data: { version, size: '{{SIZE}}' },
          },
        ],
      },
    },
  },
});

function addOnOf(name: string, own: NonNullable<State['addOns'][string]>) {
  const { placements, template: version, first } = own;
  const configs = { group: ADDON, resource: 'addondeploymentconfigs' };
  const installed = placements.map((placed, at) => ({
    ...{ namespace: 'team-a', name: placed },
    ...(at === 0 && first !== undefined && { configs: [{ ...configs, namespace: 'team-a', name: first }] }),
  }));
  const installStrategy =
    installed.length === 0 ? { type: 'Manual' } : { type: 'Placements', placements: installed };
  return {
    apiVersion: `${ADDON}/v1alpha1`,
    kind: 'ClusterManagementAddOn',
    metadata: { name },
    spec: {
      supportedConfigs: [
        {
          ...{ group: ADDON, resource: 'addontemplates' },
          defaultConfig: { name: `${name}-${version}` },
        },
        { ...configs, defaultConfig: { namespace: 'team-a', name: 'small' } },
      ],
      installStrategy,
    },
  };
}
