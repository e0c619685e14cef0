import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Digest } from '../../../core/publish/approval/approval-code.ts';
import type { RemovalBudget } from '../../../core/publish/judge/removal-budget.ts';
import type { WithdrawnObject } from '../../../core/sync/applied/departure.ts';
import type { DeletionRecord } from '../../../core/sync/deletion-record.ts';
import type { CommitBarrier } from '../progress/commit-barrier.ts';
import type { SourceDeclarations } from '../progress/source-declarations.ts';

/** How a source is applied to a hub. */
export interface HubSyncOptions {
  readonly api: KubeApi;
  readonly digest: Digest;
  /** The name of the source, which also names its ApplySet. */
  readonly source: string;
  /** The namespace of the ApplySet parent. */
  readonly namespace: string;
  readonly budget: RemovalBudget;
  /** Delete the last objects of the source from the hub without a release. Default: a release is needed. */
  readonly allowEmpty?: boolean | undefined;
  /** Deletions within this time count toward the budget. */
  readonly deletionWindowMs: number;
  readonly clock: Clock;
  /** Take over objects that belong to other sources. */
  readonly force: boolean;
  /** Take over fields that other managers own. Default: as `force`. */
  readonly takeFields?: boolean | undefined;
  /** Whether objects of the kind are applied and deleted. Default: all kinds. */
  readonly isApplied?: ((object: Pick<KubeObject, 'apiVersion' | 'kind'>) => boolean) | undefined;
  readonly annotatePlacements: boolean;
  /** Write the recorded status of clusters and scores. This is only for a hub without agents. */
  readonly recordedStatus: boolean;
  /** Create the namespaces that objects need. */
  readonly createNamespaces: boolean;
  readonly concurrency: number;
  /** Shared by all sources of the controller, including this one. */
  readonly declarations: SourceDeclarations;
  /** Called after each write to the hub, so that other parts know when the watch has shown it. */
  readonly written?: Pick<CommitBarrier, 'applied' | 'deleted'> | undefined;
  /** Called for each object when the hub has deleted it. */
  readonly onDeleted?: ((record: DeletionRecord) => void) | undefined;
  /** Called for each object that left Git and stays on the hub without what Git applied. */
  readonly onWithdrawn?: ((one: WithdrawnObject) => void) | undefined;
  /** The uids of objects that the source deleted, as recorded by `onDeleted`. Default: unknown. */
  readonly readDeleted?: (() => Promise<readonly string[]>) | undefined;
}
