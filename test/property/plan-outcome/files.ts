import { template } from '../../core/work/replica-set-harness.ts';
import { cluster, namespace, placement, yaml } from '../../app/serve/fleet-fixture.ts';
import {
  type Beside,
  CLUSTERS,
  type Commit,
  FOLDERS,
  PLACEMENTS,
  REPLICA_SETS,
  SETS,
  type State,
  USAGE,
} from './commits.ts';

const CLUSTER = 'cluster.open-cluster-management.io';

type Files = Readonly<Record<string, string | undefined>>;

type PlacementState = NonNullable<State['placements'][string]>;

/** What only one commit says. */
export interface Said {
  readonly typo: Commit['typo'];
  readonly refused: Beside['refused'];
  /** Tokens by the name of the placement. */
  readonly releases: Readonly<Record<string, string>>;
}

/** The files of a state; undefined: it is not there. */
export function filesOf(state: State, { typo, refused, releases }: Said): Files {
  const files: Record<string, string | undefined> = {
    'namespaces.yaml': yaml(namespace('team-a'), ...CLUSTERS.map(namespace)),
  };
  for (const name of SETS) {
    files[`sets/${name}.yaml`] = state.sets[name] === true ? yaml(clusterSet(name)) : undefined;
    files[`bindings/${name}.yaml`] = state.bindings[name] === true ? yaml(binding(name)) : undefined;
  }
  for (const name of CLUSTERS) {
    const own = state.clusters[name];
    const { cpu, memory } = state.recorded?.[name] ?? {};
    files[`clusters/${name}.yaml`] = own && yaml({ ...clusterOf(name, own), ...(memory && sized(memory)) });
    files[`scores/${name}.yaml`] = cpu === undefined ? undefined : yaml(score(name, cpu));
    files[`works/${name}.yaml`] = state.works[name] === true ? yaml(work(name)) : undefined;
  }
  for (const name of REPLICA_SETS) {
    const own = state.replicaSets[name];
    files[`apps/replica-sets/${name}.yaml`] = own && yaml(replicaSet(name, own));
  }
  for (const name of PLACEMENTS)
    for (const folder of FOLDERS) {
      const own = state.placements[name];
      const text =
        own?.folder === folder
          ? yaml(tolerant(labelled(placementOf(name, scored(own, state), releases[name]), state), state))
          : undefined;
      const written = text && (refused.placement === name ? refusedText(text, refused.what) : text);
      files[`${folder}/${name}.yaml`] =
        written && (typo.placement === name ? mistyped(written, typo.what) : written);
    }
  return files;
}

/** A file that is read, with an object that the hub refuses. */
function refusedText(text: string, what: Beside['refused']['what']): string {
  switch (what) {
    case 'field':
      return text.replace('spec:\n', 'spec:\n  numberOfCluster: 1\n');
    case 'null':
      return text.replace('spec:\n', 'spec:\n  zones: null\n');
    case 'value':
      return text.replace(
        'spec:\n',
        'spec:\n  spreadPolicy: { spreadConstraints: [{ maxSkew: 0, topologyKey: a, topologyKeyType: Label }] }\n',
      );
    case undefined:
      return text;
  }
}

function mistyped(text: string, what: Commit['typo']['what']): string {
  switch (what) {
    case 'kind':
      return text.replace('kind: Placement', 'kind: Placment');
    case 'schema':
      return text
        .replace('spec:\n', 'spec:\n  numberOfClusters: three\n')
        .replace(/numberOfClusters: \d+\n/, '');
    case 'empty':
      return '';
    case undefined:
      return text;
  }
}

const clusterSet = (name: (typeof SETS)[number]) => ({
  apiVersion: `${CLUSTER}/v1beta2`,
  kind: 'ManagedClusterSet',
  metadata: { name },
  spec:
    name === 'eu'
      ? {
          clusterSelector: {
            selectorType: 'LabelSelector',
            labelSelector: { matchLabels: { region: 'eu' } },
          },
        }
      : {},
});

const binding = (name: string) => ({
  apiVersion: `${CLUSTER}/v1beta2`,
  kind: 'ManagedClusterSetBinding',
  metadata: { name, namespace: 'team-a' },
  spec: { clusterSet: name },
});

function clusterOf(name: string, own: NonNullable<State['clusters'][string]>) {
  return cluster(name, {
    labels: { region: own.region, [`${CLUSTER}/clusterset`]: own.set },
    taints: own.tainted ? [{ key: 'drain', effect: 'NoSelect' }] : [],
  });
}

const sized = (memory: string) => ({ status: { allocatable: { memory }, capacity: { memory: '64Gi' } } });

const score = (clusterName: string, value: number) => ({
  apiVersion: `${CLUSTER}/v1alpha1`,
  kind: 'AddOnPlacementScore',
  metadata: { name: 'usage', namespace: clusterName },
  status: { scores: [{ name: 'cpu', value }] },
});

/** Where Git records what clusters have, placements with a policy go by it. */
function scored(own: PlacementState, { recorded }: State): PlacementState {
  const { policy } = own;
  if (recorded === undefined || policy === undefined) return own;
  const byMemory = { scoreCoordinate: { type: 'BuiltIn', builtIn: 'ResourceAllocatableMemory' }, weight: 2 };
  return {
    ...own,
    policy: {
      ...policy,
      configurations: [...policy.configurations.filter((one) => one !== USAGE), USAGE, byMemory],
    },
  };
}

function placementOf(name: string, own: PlacementState, release: string | undefined) {
  const { numberOfClusters, policy, region, budget, sets } = own;
  const selector = region && [{ requiredClusterSelector: { labelSelector: { matchLabels: { region } } } }];
  const spec = {
    clusterSets: sets,
    ...(numberOfClusters !== undefined && { numberOfClusters }),
    ...(policy && { prioritizerPolicy: policy }),
    ...(selector && { predicates: selector }),
  };
  return placement(name, spec, {
    ...(budget !== undefined && { 'berth.dev/removal-budget': budget }),
    ...(release !== undefined && { 'berth.dev/release': release }),
  });
}

/** By it the hub refuses and changes placements. */
export const ADMISSION_LABEL = 'admission';

function labelled(object: ReturnType<typeof placementOf>, { admission }: State) {
  const value = admission[object.metadata.name];
  const labels = { ...(value && { [ADMISSION_LABEL]: value }) };
  return { ...object, metadata: { ...object.metadata, labels } };
}

/** Long enough for a commit to be there before it ends. */
export const TOLERATED_SECONDS = 8;

function tolerant(object: ReturnType<typeof labelled>, { tolerating }: State) {
  if (tolerating[object.metadata.name] !== true) return object;
  const tolerations = [{ key: 'drain', operator: 'Exists', tolerationSeconds: TOLERATED_SECONDS }];
  return { ...object, spec: { ...object.spec, tolerations } };
}

function replicaSet(name: string, { placements, value }: NonNullable<State['replicaSets'][string]>) {
  return {
    apiVersion: 'work.open-cluster-management.io/v1alpha1',
    kind: 'ManifestWorkReplicaSet',
    metadata: { name, namespace: 'team-a' },
    spec: {
      manifestWorkTemplate: template(value),
      placementRefs: placements.map((one) => ({ name: one })),
    },
  };
}

const work = (clusterName: string) => ({
  apiVersion: 'work.open-cluster-management.io/v1',
  kind: 'ManifestWork',
  metadata: { name: 'own', namespace: clusterName },
  spec: template('1'),
});

/** Each file of a repository belongs to one of them where it has two. */
export const SOURCES = [
  {
    name: 'fleet',
    paths: ['*.yaml', '{sets,bindings,clusters,scores,works,moved}/**'],
    marker: 'marker.yaml',
  },
  { name: 'apps', paths: ['apps/**'], marker: 'apps/marker.yaml' },
] as const;

/** There is something to apply of every commit and source; releases and approvals are on it. */
export const marker = (source: string, number: number, annotations: Readonly<Record<string, string>>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { ...markerOf(source), annotations },
  data: { commit: String(number) },
});

export const markerOf = (source: string) => ({ namespace: 'team-a', name: `marker-${source}` });
