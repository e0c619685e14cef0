import type { Placement } from '../../../core/model/placement.ts';
import type { ScheduleResult } from '../../../core/placement/schedule-result.ts';
import type { Clock, KubeApi, Logger } from '../../../core/ports.ts';
import type { LostClusters } from '../../../core/explain/lost-because.ts';
import { type SettledPage } from '../../../core/publish/plan-pages.ts';
import { type Digest } from '../../../core/publish/plan-token.ts';
import type { RemovalBudget } from '../../../core/publish/removal-budget.ts';
import type { DecisionView } from './decision-view.ts';
import type { FleetHappening } from '../fleet-events.ts';
import type { PageWriter } from './page-writer.ts';
import type { PlanApprovals } from './plan-approvals.ts';
import type { PublishedDecision } from './published-decision.ts';
import type { PublishMemory } from './publish-memory.ts';
import type { PublishedBeforeRestore } from './published-before-restore.ts';
import type { UnrecordedPublications } from './unrecorded-publications.ts';
import type { WrittenObjects } from './written-objects.ts';

export interface PublisherDependencies {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly digest: Digest;
  readonly placements: WrittenObjects;
  readonly view: DecisionView;
  readonly writer: PageWriter;
  readonly memory: PublishMemory;
  /** Fills the memory of a placement that another process published before; waited for before each look. */
  readonly recall?: ((placement: Placement) => Promise<void>) | undefined;
  readonly budgetOf: (placement: Placement) => RemovalBudget;
  readonly approvals: Pick<PlanApprovals, 'approvedFor' | 'isWaiting' | 'judged'>;
  /** Newest result of a placement; undefined while it has not been scheduled. */
  readonly resultOf: (placement: string) => ScheduleResult | undefined;
  readonly inventoryProblem: (placement: Placement) => string | undefined;
  readonly worksProblem: () => string | undefined;
  /** Was the result decided at one commit, and not between two? If not, the placement is looked at again when it may be. */
  readonly isOfOneCommit: (placement: string, result: ScheduleResult) => boolean;
  /** Did the world that the result was decided from list these clusters as the placement's? */
  readonly wasDecidedKnowing: (
    placement: string,
    result: ScheduleResult,
    clusters: readonly string[],
  ) => boolean;
  readonly decideAgain: (placement: string) => void;
  readonly isReady: (placement: string, cluster: string) => boolean;
  readonly emit: (happening: FleetHappening) => void;
  /** Why a result does not have these clusters. */
  readonly lostBecause: (result: ScheduleResult, clusters: readonly string[]) => readonly LostClusters[];
  /** Keeps the decision and its inputs; the record's hash. */
  readonly record: (entry: PublishedDecision) => string;
  /** What a process that was killed published and did not record. */
  readonly unrecorded: Pick<UnrecordedPublications, 'lookAt' | 'lastRecordOf'>;
  /** The hub was found restored from a backup: what it shows may be older than what was published last. */
  readonly isHubRestored: () => boolean;
  /** What another process had published before that. */
  readonly beforeRestore?: Pick<PublishedBeforeRestore, 'of'> | undefined;
  /** False while a hub that was restored or replaced was not compared with Git. */
  readonly isHubCompared: () => boolean;
  /** Told after each complete pass: what is published now. */
  readonly onSettled: (placement: string, pages: readonly SettledPage[]) => void;
}
