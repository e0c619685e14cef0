import fc from 'fast-check';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { binding, cluster, clusterSet, namespace, placement, yaml } from '../../app/serve/fleet-fixture.ts';

/** What a repository declares, as data; a change replaces some of it. */
export interface Declared {
  readonly clusters: Readonly<Record<string, ClusterState | undefined>>;
  readonly placements: Readonly<Record<string, PlacementState | undefined>>;
  readonly sets: Readonly<Record<string, SetState | undefined>>;
}

interface ClusterState {
  readonly region: string;
  readonly tainted: boolean;
}
interface PlacementState {
  readonly numberOfClusters: number | undefined;
  readonly region: string | undefined;
  readonly grouped: boolean;
}
interface SetState {
  readonly generator: keyof typeof GENERATORS;
  readonly placement: string;
  readonly revision: string;
  readonly goTemplate: boolean;
}

const [CLUSTERS, PLACEMENTS] = [
  ['c1', 'c2', 'c3', 'c4', 'c5'],
  ['web', 'db'],
] as const;
const SETS = ['shop', 'search', 'edge'] as const;
/** Of the ApplicationSets and of the placements that they read. */
export const NAMESPACE = 'team-a';

const GENERATORS = {
  pages: (name: string) => [
    {
      clusterDecisionResource: {
        configMapRef: 'berth-placement-decisions',
        labelSelector: { matchLabels: { 'cluster.open-cluster-management.io/placement': name } },
      },
    },
  ],
  plugin: (name: string) => [
    {
      plugin: {
        configMapRef: { name: 'berth' },
        input: { parameters: { placement: `${NAMESPACE}/${name}` } },
      },
    },
  ],
  clusters: () => [{ clusters: { selector: { matchLabels: { region: 'eu' } } } }],
  matrix: (name: string) => [
    {
      matrix: {
        generators: [
          ...GENERATORS.pages(name),
          { list: { elements: [{ tier: 'front' }, { tier: 'back' }] } },
        ],
      },
    },
  ],
} as const;

const maybe = <T>(present: fc.Arbitrary<T>, freq: number): fc.Arbitrary<T | undefined> =>
  fc.option(present, { freq, nil: undefined });
const clusterState = fc.record({
  region: fc.constantFrom('eu', 'us'),
  tainted: fc.constantFrom(false, false, false, true),
});
const placementState = fc.record({
  numberOfClusters: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined, freq: 4 }),
  region: fc.constantFrom(undefined, undefined, 'eu'),
  grouped: fc.boolean(),
});
const setState = fc.record({
  generator: fc.constantFrom<SetState['generator'][]>('pages', 'plugin', 'clusters', 'matrix'),
  placement: fc.constantFrom(...PLACEMENTS),
  revision: fc.constantFrom('v1', 'v2'),
  goTemplate: fc.boolean(),
});
const some = <T>(names: readonly string[], state: fc.Arbitrary<T>, freq: number) =>
  fc.dictionary(fc.constantFrom(...names), maybe(state, freq), { maxKeys: 2 });

/** What one pull request says. */
export const change: fc.Arbitrary<Declared> = fc.record({
  clusters: some(CLUSTERS, clusterState, 5),
  placements: some(PLACEMENTS, placementState, 8),
  sets: some(SETS, setState, 5),
});

/** A repository to begin with. */
export const beginning: fc.Arbitrary<Declared> = fc.record({
  clusters: fc.record(Object.fromEntries(CLUSTERS.map((name) => [name, clusterState]))),
  placements: fc.record(Object.fromEntries(PLACEMENTS.map((name) => [name, placementState]))),
  sets: fc.record(Object.fromEntries(SETS.map((name) => [name, maybe(setState, 5)]))),
});

export function declaredAfter(before: Declared, said: Declared): Declared {
  return {
    clusters: { ...before.clusters, ...said.clusters },
    placements: { ...before.placements, ...said.placements },
    sets: { ...before.sets, ...said.sets },
  };
}

/** One file for each object; undefined: it is not there. */
export function filesOf(declared: Declared, number: number): Readonly<Record<string, string | undefined>> {
  const marker = {
    ...namespace('marker'),
    metadata: { name: 'marker', annotations: { change: String(number) } },
  };
  const files: Record<string, string | undefined> = {
    'base.yaml': yaml(namespace(NAMESPACE), clusterSet, binding()),
    'marker.yaml': yaml(marker),
  };
  for (const [name, own] of Object.entries(declared.clusters))
    files[`clusters/${name}.yaml`] = own && yaml(clusterOf(name, own));
  for (const [name, own] of Object.entries(declared.placements))
    files[`placements/${name}.yaml`] = own && yaml(placementOf(name, own));
  for (const [name, own] of Object.entries(declared.sets))
    files[`sets/${name}.yaml`] = own && yaml(applicationSet(name, own));
  return files;
}

/** The ApplicationSets of a repository. */
export function applicationSets({ sets }: Declared): readonly KubeObject[] {
  return Object.entries(sets).flatMap(([name, own]) =>
    own === undefined ? [] : [applicationSet(name, own)],
  );
}

function clusterOf(name: string, { region, tainted }: ClusterState) {
  const taints = tainted ? [{ key: 'drain', effect: 'NoSelect' }] : [];
  return cluster(name, { labels: { region }, taints });
}

function placementOf(name: string, { numberOfClusters, region, grouped }: PlacementState) {
  const matches = (value: string) => ({ labelSelector: { matchLabels: { region: value } } });
  const group = { groupName: 'canary', groupClusterSelector: matches('us') };
  return placement(name, {
    ...(numberOfClusters !== undefined && { numberOfClusters }),
    ...(region !== undefined && { predicates: [{ requiredClusterSelector: matches(region) }] }),
    ...(grouped && { decisionStrategy: { groupStrategy: { decisionGroups: [group] } } }),
  });
}

function applicationSet(name: string, own: SetState): KubeObject {
  const { generator, placement: placed, revision, goTemplate } = own;
  const value = (field: string): string => (goTemplate ? `{{ .${field} }}` : `{{${field}}}`);
  const tier = generator === 'matrix' ? `-${value('tier')}` : '';
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'ApplicationSet',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      goTemplate,
      generators: GENERATORS[generator](placed),
      template: {
        metadata: { name: `${name}-${value('name')}${tier}` },
        spec: {
          project: 'default',
          source: { repoURL: 'https://git.example/apps.git', targetRevision: revision, path: name },
          destination: { name: value('name'), namespace: name },
        },
      },
    },
  };
}
