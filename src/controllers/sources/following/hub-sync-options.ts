import type { KubeObject } from '../../../core/model/object-meta.ts';
import type { Clock, KubeApi } from '../../../core/ports.ts';
import type { Digest } from '../../../core/publish/approval/plan-token.ts';
import type { RemovalBudget } from '../../../core/publish/judge/removal-budget.ts';
import type { DeletionRecord } from '../../../core/sync/deletion-record.ts';
import type { CommitBarrier } from '../progress/commit-barrier.ts';
import type { SourceClaims } from '../progress/source-claims.ts';

/** How a source is applied to a hub. */
export interface HubSyncOptions {
  readonly api: KubeApi;
  readonly digest: Digest;
  /** Names the ApplySet. */
  readonly source: string;
  /** Of its parent. */
  readonly namespace: string;
  readonly budget: RemovalBudget;
  /** Delete the last objects that the source has on the hub without a release. Default: a release is needed. */
  readonly allowEmpty?: boolean | undefined;
  /** Deletions within this time count toward the budget. */
  readonly deletionWindowMs: number;
  readonly clock: Clock;
  /** Take objects that belong to other sources. */
  readonly force: boolean;
  /** Take fields that other managers own. Default: as `force`. */
  readonly takeFields?: boolean | undefined;
  /** Whether objects of the kind are applied and deleted. Default: all kinds. */
  readonly isApplied?: ((object: Pick<KubeObject, 'apiVersion' | 'kind'>) => boolean) | undefined;
  readonly markPlacements: boolean;
  /** Write recorded status of clusters and scores: only for a hub that has no agents. */
  readonly recordedStatus: boolean;
  /** Create the namespaces that objects need. */
  readonly createNamespaces: boolean;
  readonly concurrency: number;
  /** Shared by the sources of a controller; this one is among them. */
  readonly claims: SourceClaims;
  /** Called after each write to the hub, so that others know when the watch has shown it. */
  readonly written?: Pick<CommitBarrier, 'applied' | 'deleted'> | undefined;
  /** Called for each object as soon as the hub has deleted it. */
  readonly onDeleted?: ((record: DeletionRecord) => void) | undefined;
  /** The uids of objects that the source deleted, as recorded by `onDeleted`. Default: unknown. */
  readonly readDeleted?: (() => Promise<readonly string[]>) | undefined;
}
