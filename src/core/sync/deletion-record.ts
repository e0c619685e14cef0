import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRef, refOf } from '@berth/kube/model/object-ref';

/** An object that was deleted from the hub. Plain JSON. */
export interface DeletionRecord {
  /** RFC 3339 */
  readonly deletedAt: string;
  readonly source: string;
  /** `Placement team-a/web` */
  readonly object: string;
  /** Of the object; records of earlier versions of Berth have none. */
  readonly uid?: string | undefined;
  /** The commit that was followed; null for a plain folder. */
  readonly commit: { readonly id: string; readonly author: string; readonly subject: string } | null;
  readonly took: DependentCounts;
  /** The release that allowed the deletion; null: none was needed. */
  readonly released: { readonly token: string; readonly by: string } | null;
  /** Another client deleted the object, which Git still declares: Berth applied it again. */
  readonly byOthers?: true | undefined;
}

/** From the object's status on the hub before the deletion. Empty: not in the status. */
export interface DependentCounts {
  /** Number of clusters that a placement had selected. */
  readonly clusters?: number;
  /** Number of clusters on which a replica set had works. */
  readonly works?: number;
}

/** Counts of dependents that are deleted together with an object. */
export function dependentCounts(object: KubeObject): DependentCounts {
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

/** @param live the object as the hub had it before the deletion */
export function deletionRecord(
  live: KubeObject,
  {
    atMs,
    commit,
    ...rest
  }: Pick<DeletionRecord, 'source' | 'commit' | 'released' | 'byOthers'> & { readonly atMs: number },
): DeletionRecord {
  return {
    deletedAt: new Date(atMs).toISOString(),
    source: rest.source,
    object: formatRef(refOf(live)),
    uid: live.metadata.uid,
    commit,
    took: dependentCounts(live),
    released: rest.released,
    ...(rest.byOthers && { byOthers: true as const }),
  };
}

/** The commit as records name it. */
export function recordedCommit(
  commit:
    | {
        readonly id: string;
        readonly author: { readonly name: string; readonly email: string };
        readonly subject: string;
      }
    | undefined,
): DeletionRecord['commit'] {
  if (commit === undefined) return null;
  const { id, author, subject } = commit;
  return { id, author: `${author.name} <${author.email}>`, subject };
}
