import type { CommitInfo } from '@berth/git-reader/repository/git-repository';
import { EVENT } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatMicroTime, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { InputError } from '@berth/runtime/errors';
import type { Problem } from '@berth/runtime/problem/problem';
import type { AddOnEvent } from '../../core/addon/addon-duties.ts';
import type { PulledWorkWritten, PullHeld } from '../../core/argocd/pull/plan-pull.ts';
import type { WaveEvent } from '../../core/argocd/waves/wave-state.ts';
import type { HoldReason } from '../../core/publish/judge/judge-result.ts';
import type { RegistrationEvent } from '../../core/registration/duties.ts';
import type { DeletionRecord } from '../../core/sync/deletion-record.ts';
import type { HubBreak } from '../../core/sync/hub-position.ts';

/** An event of the controller. Events arrive in the order in which they happened. `atMs`: milliseconds since the epoch. */
export type ControllerEvent = { readonly atMs: number } & ControllerEventBody;

export type ControllerEventBody =
  | {
      readonly kind: 'commit-read';
      readonly source: string;
      readonly commit: CommitInfo | undefined;
      readonly objects: number;
      readonly files: number;
      readonly problems: readonly Problem[];
    }
  | {
      readonly kind: 'synced';
      readonly source: string;
      readonly applied: number;
      readonly pruned: number;
      readonly unchanged: number;
      /** The release that approved deletions beyond the budget, and the user who released them. */
      readonly released?: { readonly token: string; readonly by: string } | undefined;
    }
  /** An object was removed from Git and deleted on the hub. */
  | { readonly kind: 'deleted'; readonly record: DeletionRecord }
  /** An object was removed from Git, and stays on the hub without what Git applied. */
  | {
      readonly kind: 'withdrawn';
      readonly source: string;
      readonly object: string;
      /** Goes on after the name of the object. */
      readonly because: string;
    }
  | {
      readonly kind: 'sync-problem';
      readonly source: string;
      readonly object: string;
      readonly message: string;
      /** Deletions of the source wait for a release; `object` is then the source. */
      readonly isHeld?: true;
      readonly location?: string | undefined;
    }
  | {
      readonly kind: 'decided';
      /** `namespace/name` */
      readonly placement: string;
      readonly result: ScheduleResult;
      /** The inputs of the decision, from which its reasons are explained. */
      readonly snapshot: Snapshot;
      readonly added: readonly string[];
      readonly removed: readonly string[];
    }
  | {
      readonly kind: 'published';
      readonly placement: string;
      readonly clusters: readonly string[];
      readonly added: readonly string[];
      readonly removed: readonly string[];
      readonly writes: number;
      /** Identifies the record: `berth replay RECORD`. */
      readonly record: string;
    }
  | {
      readonly kind: 'held';
      readonly placement: string;
      readonly reason: HoldReason;
      readonly message: string;
      readonly token: string;
      /** An earlier process said so, too. */
      readonly isKnown: boolean;
    }
  | {
      readonly kind: 'work-written';
      readonly action: 'created' | 'updated' | 'deleted';
      readonly replicaSet: string;
      readonly cluster: string;
      readonly work: string;
      readonly reason?: string | undefined;
    }
  /** An ApplicationSet that reads a changed decision was asked to refresh, or has refreshed. `tookMs`: since the request. */
  | {
      readonly kind: 'application-set-refreshed';
      /** `namespace/name` */
      readonly applicationSet: string;
      readonly outcome: 'requested' | 'requested-again' | 'confirmed';
      readonly placements: readonly string[];
      readonly tookMs?: number | undefined;
    }
  /** Waves served more clusters to an ApplicationSet, or a wave waits for another reason than before. */
  | ({ readonly kind: 'application-set-waves' } & WaveEvent)
  | {
      readonly kind: 'cluster-secret-written';
      readonly action: 'created' | 'updated' | 'deleted';
      readonly cluster: string;
      /** `namespace/name` */
      readonly secret: string;
      readonly gitOpsCluster: string;
    }
  /** A ManifestWork that carries an Application of Argo CD was written. */
  | ({ readonly kind: 'pulled-work-written' } & PulledWorkWritten)
  /** The removal of works that carry Applications is held. */
  | ({ readonly kind: 'pull-held' } & PullHeld)
  /** A cluster was accepted, denied, found unreachable and so on. */
  | ({ readonly kind: 'registration' } & RegistrationEvent)
  /** An add-on was installed on a cluster, removed and so on. */
  | ({ readonly kind: 'add-on' } & AddOnEvent)
  /** The hub was restored to an older state, or replaced. Berth compares it with Git before it decides anything. */
  | { readonly kind: 'hub-restored'; readonly how: HubBreak }
  /** The error is logged where it occurs; the event is for the console and the event stream. */
  | { readonly kind: 'error'; readonly where: string; readonly error: unknown }
  /**
   * Every source was read or failed, and every placement was processed once, by this process or the
   * leader. If something is missing, the event comes again when nothing is.
   */
  | {
      readonly kind: 'ready';
      /** What could not be read or published yet, in words. */
      readonly missing: readonly string[];
      /** Whether this process publishes: it leads, and no other controller decides. */
      readonly publishes: boolean;
    };

/** An Event lives an hour after its last change. One that says what lasts is renewed twice in that time. */
export const RENEWAL_MS = 1_800_000;

/**
 * Renews the Event of something that lasts, as Kubernetes does: the Event counts how often it was seen, and when last. What is
 * counted follows from its age, so that a restart changes nothing. Nothing is written before it lasts for `RENEWAL_MS`.
 * @param event as it was written first; one that is gone is written again
 */
export async function renewEvent(
  api: Pick<KubeApi, 'create' | 'mergePatch'>,
  event: KubeObject,
  { sinceMs, nowMs }: { readonly sinceMs: number; readonly nowMs: number },
): Promise<void> {
  const count = Math.floor((nowMs - sinceMs) / RENEWAL_MS) + 1;
  // What is new was just reported, and a series has at least two.
  if (count < 2) return;
  const series = { count, lastObservedTime: formatMicroTime(instantFromEpochMs(nowMs)) };
  const { namespace = '', name } = event.metadata;
  try {
    await api.mergePatch(EVENT, { namespace, name }, { series }, { metadataOnly: true });
  } catch (error) {
    if (!(error instanceof InputError) || error.code !== 'kube.notfound') throw error;
    await api.create(EVENT, { ...event, series }, { metadataOnly: true });
  }
}
