import type { KubeObject } from '../model/object-meta.ts';
import { formatRef, refOf } from '../model/object-ref.ts';

/** An object that the sync deleted from the hub. Plain JSON. */
export interface DeletionRecord {
  /** RFC 3339 */
  readonly deletedAt: string;
  readonly source: string;
  /** `Placement team-a/web` */
  readonly object: string;
  /** The commit that was followed, which no longer held the object; null for a plain folder. */
  readonly commit: { readonly id: string; readonly author: string; readonly subject: string } | null;
  readonly took: TakenAway;
  /** The release that let it happen, when one was needed. */
  readonly released: { readonly token: string; readonly by: string } | null;
}

/** What the hub said of the object just before. Empty: the object itself and nothing else that is known. */
export interface TakenAway {
  /** Clusters that a placement had selected. */
  readonly clusters?: number;
  /** Clusters on which a replica set had works. */
  readonly works?: number;
}

/** What goes with an object, by its status on the hub. */
export function takenAway(object: KubeObject): TakenAway {
  const status = (object['status'] ?? {}) as {
    readonly numberOfSelectedClusters?: unknown;
    readonly summary?: { readonly total?: unknown } | null;
  };
  const clusters = status.numberOfSelectedClusters;
  const works = status.summary?.total;
  if (object.kind === 'Placement' && typeof clusters === 'number') return { clusters };
  if (object.kind === 'ManifestWorkReplicaSet' && typeof works === 'number') return { works };
  return {};
}

/** @param live as the hub had it */
export function deletionRecord(
  live: KubeObject,
  {
    atMs,
    commit,
    ...rest
  }: Pick<DeletionRecord, 'source' | 'commit' | 'released'> & { readonly atMs: number },
): DeletionRecord {
  return {
    deletedAt: new Date(atMs).toISOString(),
    source: rest.source,
    object: formatRef(refOf(live)),
    commit,
    took: takenAway(live),
    released: rest.released,
  };
}
