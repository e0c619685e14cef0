import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { canonicalJson } from '@berth/runtime/json/json-equal';
import { namespacedName } from '@berth/kube/model/object-ref';
import { PublishedClusters } from '@berth/placement/prior/published-clusters';
import type { Digest } from '../../publish/approval/approval-code.ts';
import { oncePerList } from '@berth/runtime/lists/once-per-list';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';

/** 12 hexadecimal digits each. */
export interface SnapshotDigests {
  /**
   * Digest of what decisions read of clusters, sets, bindings and scores. Heartbeats and similar fields do not count.
   */
  readonly inventory: string;
  /**
   * Digest of the clusters that are published for each placement. Without clusters, a placement without pages and one
   * with an empty page are the same.
   */
  readonly decisions: string;
}

/** Digests of the state before a change, so that an approved plan can be compared with a later state. */
export function snapshotDigests(snapshot: Snapshot, digest: Digest): SnapshotDigests {
  const { clusters, clusterSets, bindings, scores, decisions } = snapshot;
  const inventory = [
    clustersText(clusters),
    listText(clusterSets.map(({ metadata, spec }) => rowOf([metadata.name, spec ?? {}]))),
    listText(bindings.map(({ metadata }) => rowOf([namespacedName(metadata)]))),
    listText(scores.map(({ metadata, status }) => rowOf([namespacedName(metadata), status?.scores ?? []]))),
  ];
  const short = (text: string): string => digest(text).slice(0, 12);
  return { inventory: short(`[${inventory.join(',')}]`), decisions: short(publishedText(decisions)) };
}

const publishedText = oncePerList((decisions: Snapshot['decisions']): string => {
  const published = [...new PublishedClusters().read(decisions).clusters]
    .filter(([, names]) => names.length > 0)
    .map(([key, names]) => rowOf([key, [...new Set(names)].sort()]));
  return listText(published);
});

/** The name that a row begins with, and its canonical JSON. */
type Row = readonly [name: string, text: string];

function rowOf(row: readonly [name: string, ...rest: unknown[]]): Row {
  return [row[0], canonicalJson(row)];
}

/** Canonical JSON of the rows, sorted by the leading name. */
function listText(rows: readonly Row[]): string {
  const sorted = rows.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `[${sorted.map(([, text]) => text).join(',')}]`;
}

/** Consecutive plans have mostly the same clusters. */
const CLUSTER_ROWS = new WeakMap<ManagedCluster, string>();

function clusterRow(cluster: ManagedCluster): string {
  let row = CLUSTER_ROWS.get(cluster);
  if (row === undefined) CLUSTER_ROWS.set(cluster, (row = makeClusterRow(cluster)));
  return row;
}

interface ListedClusters {
  readonly clusters: readonly ManagedCluster[];
  readonly text: string;
}

/** The last list that begins with a cluster. The lists of consecutive plans are mostly equal. */
const CLUSTER_LISTS = new WeakMap<ManagedCluster, ListedClusters>();

function clustersText(clusters: readonly ManagedCluster[]): string {
  const [first] = clusters;
  const known = first && CLUSTER_LISTS.get(first);
  if (known?.clusters.length === clusters.length && clusters.every((one, at) => one === known.clusters[at]))
    return known.text;
  const text = listText(clusters.map((cluster) => [cluster.metadata.name, clusterRow(cluster)]));
  if (first !== undefined) CLUSTER_LISTS.set(first, { clusters, text });
  return text;
}

function makeClusterRow({ metadata, spec, status }: ManagedCluster): string {
  return canonicalJson([
    metadata.name,
    metadata.labels ?? {},
    metadata.deletionTimestamp !== undefined,
    spec?.hubAcceptsClient ?? false,
    (spec?.taints ?? []).map(({ key, value, effect }) => [key, value ?? '', effect]),
    (status?.clusterClaims ?? []).map(({ name, value }) => [name, value]),
    status?.allocatable ?? {},
    status?.capacity ?? {},
  ]);
}
