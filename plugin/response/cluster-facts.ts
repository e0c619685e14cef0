import { CLUSTER_SET_LABEL, type ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { AddOnScore } from './plugin-source.ts';

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
