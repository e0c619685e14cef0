import { CLUSTER_SET_LABEL, type ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ClusterDecision } from '@berth/ocm/kind/placement-decision';
import type { WaveReading, WavesRequest } from '../../src/core/argocd/waves/served-waves.ts';

/** Annotation of a Placement: `allow` lets its ApplicationSets get an empty list. */
export const ON_EMPTY_ANNOTATION = 'berth.dev/on-empty';

/** The data of the endpoint, all in memory: published decisions and facts about their clusters. */
export interface PluginSource {
  /** Why requests cannot be answered now (not yet read, stale); undefined if they can. */
  problem(): string | undefined;
  /**
   * @param placement `namespace/name`
   * @returns undefined if nothing is published for it
   */
  placement(placement: string): PluginPlacement | undefined;
  cluster(name: string): ManagedCluster | undefined;
  /** The scores that add-ons report for the cluster. */
  scores(cluster: string): readonly AddOnScore[];
  /** Whether the cluster is known and belongs to one of the sets. */
  isInSets(cluster: string, sets: ReadonlySet<string>): boolean;
  /** The recorded waves of an ApplicationSet. The same map means unchanged waves. */
  waves(request: WavesRequest): WaveReading;
  /** The same number means that the results of `cluster`, `scores` and `isInSets` are unchanged. */
  revision(): number;
}

export interface AddOnScore {
  /** The name of the AddOnPlacementScore. */
  readonly resource: string;
  readonly name: string;
  /** −100 to 100. */
  readonly value: number;
}

export interface PluginPlacement {
  /** The same list means that the same decision is published. */
  readonly groups: readonly {
    readonly name: string;
    readonly index: number;
    readonly decisions: readonly ClusterDecision[];
  }[];
  /** Identifies the published decision, for example in a label of the Application. */
  readonly decisionId: string;
  /** The commit at which the placement's source was last read; '' without a source, or while it is unknown. */
  readonly commit: string;
  /** Whether the placement allows an empty response (`berth.dev/on-empty: allow`). */
  readonly emptyAllowed: boolean;
}

/** Key to value. */
export type Facts = ReadonlyMap<string, string>;

/** Facts about a cluster, all as strings: the single values and the maps of an item of the response. */
export interface ClusterFacts {
  readonly server: string;
  readonly version: string;
  readonly clusterSet: string;
  readonly maps: Readonly<Record<FactMap, Facts>>;
  /** First key: name of the AddOnPlacementScore; second key: name of the score. */
  readonly scores: ReadonlyMap<string, Facts>;
  /** The keys of its maps and scores as text. The same keys give the same text. */
  readonly shape: string;
}

/** The facts that are maps of strings. Each is a key of an item. */
export const FACT_MAPS = ['labels', 'claims', 'taints', 'allocatable', 'capacity'] as const;
export type FactMap = (typeof FACT_MAPS)[number];

/** Objects of the inventory are never changed, so the same object has the same facts. */
const factsByCluster = new WeakMap<
  ManagedCluster,
  { readonly scores: readonly AddOnScore[]; readonly facts: ClusterFacts }
>();

/**
 * The facts of a cluster; all empty for an unknown one. The same arguments give the same object.
 */
export function clusterFacts(
  cluster: ManagedCluster | undefined,
  scores: readonly AddOnScore[],
): ClusterFacts {
  const cached = cluster && factsByCluster.get(cluster);
  if (cached?.scores === scores) return cached.facts;
  const facts = readFacts(cluster, scores);
  if (cluster !== undefined) factsByCluster.set(cluster, { scores, facts });
  return facts;
}

function readFacts(cluster: ManagedCluster | undefined, scores: readonly AddOnScore[]): ClusterFacts {
  const { metadata, spec, status } = cluster ?? {};
  const facts = {
    server: spec?.managedClusterClientConfigs?.[0]?.url ?? '',
    version: status?.version?.kubernetes ?? '',
    clusterSet: metadata?.labels?.[CLUSTER_SET_LABEL] ?? '',
    maps: {
      // The labels of the ApplySet are internal to the sync.
      labels: factsOf(metadata?.labels, (key) => !key.startsWith('applyset.kubernetes.io/')),
      claims: new Map((status?.clusterClaims ?? []).map(({ name, value }) => [name, value])),
      taints: taintsOf(spec?.taints ?? []),
      allocatable: factsOf(status?.allocatable),
      capacity: factsOf(status?.capacity),
    },
    scores: scoresOf(scores),
  };
  const ofScores = [...facts.scores].map(([resource, values]) => [resource, ...values.keys()]);
  return {
    ...facts,
    shape: JSON.stringify([...FACT_MAPS.map((map) => [...facts.maps[map].keys()]), ofScores]),
  };
}

function factsOf(
  record: Readonly<Record<string, string | number>> = {},
  isWanted: (key: string) => boolean = () => true,
): Facts {
  return new Map(
    Object.entries(record).flatMap(([key, value]) => (isWanted(key) ? [[key, String(value)]] : [])),
  );
}

/** Key to `VALUE:EFFECT`, as in kubectl's KEY=VALUE:EFFECT. Several effects of one key are separated by commas. */
function taintsOf(taints: NonNullable<NonNullable<ManagedCluster['spec']>['taints']>): Facts {
  const found = new Map<string, string>();
  for (const { key, value = '', effect } of taints) {
    const before = found.get(key);
    const text = `${value}:${effect}`;
    found.set(key, before === undefined ? text : `${before},${text}`);
  }
  return found;
}

function scoresOf(scores: readonly AddOnScore[]): ReadonlyMap<string, Facts> {
  const found = new Map<string, Map<string, string>>();
  for (const { resource, name, value } of scores) {
    const ofResource = found.get(resource) ?? new Map<string, string>();
    found.set(resource, ofResource.set(name, String(value)));
  }
  return found;
}
