import { canonicalJson } from '../../model/json-equal.ts';
import { namespacedName } from '../../model/object-ref.ts';
import { PublishedClusters } from '../../placement/prior/published-clusters.ts';
import type { Digest } from '../../publish/approval/plan-token.ts';
import type { Snapshot } from '../../snapshot/snapshot.ts';

/** 12 hexadecimal digits each. */
export interface SnapshotDigests {
  /**
   * Digest of what decisions read of clusters, sets, bindings and scores. Heartbeats and similar fields do not count.
   */
  readonly inventory: string;
  /**
   * Digest of the clusters that are published for each placement. A page without clusters does not count: it may be
   * there some time after its placement is deleted.
   */
  readonly decisions: string;
}

/** Digests of the state before a change, so that an approved plan can be compared with a later state. */
export function snapshotDigests(snapshot: Snapshot, digest: Digest): SnapshotDigests {
  const { clusters, clusterSets, bindings, scores, decisions } = snapshot;
  const inventory = [
    sorted(
      clusters.map(({ metadata, spec, status }) => [
        metadata.name,
        metadata.labels ?? {},
        metadata.deletionTimestamp !== undefined,
        spec?.hubAcceptsClient ?? false,
        (spec?.taints ?? []).map(({ key, value, effect }) => [key, value ?? '', effect]),
        (status?.clusterClaims ?? []).map(({ name, value }) => [name, value]),
        status?.allocatable ?? {},
        status?.capacity ?? {},
      ]),
    ),
    sorted(clusterSets.map(({ metadata, spec }) => [metadata.name, spec ?? {}])),
    sorted(bindings.map(({ metadata }) => [namespacedName(metadata)])),
    sorted(scores.map(({ metadata, status }) => [namespacedName(metadata), status?.scores ?? []])),
  ];
  const published = [...new PublishedClusters().read(decisions).clusters]
    .filter(([, names]) => names.length > 0)
    .map(([key, names]) => [key, [...new Set(names)].sort()]);
  const short = (value: unknown): string => digest(canonicalJson(value)).slice(0, 12);
  return { inventory: short(inventory), decisions: short(sorted(published)) };
}

/** Sorted by the leading name. */
function sorted(rows: readonly (readonly unknown[])[]): readonly (readonly unknown[])[] {
  return rows.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1));
}
