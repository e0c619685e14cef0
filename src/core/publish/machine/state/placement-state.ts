import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Placement } from '@berth/ocm/kind/placement';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { Digest } from '../../approval/approval-code.ts';
import type { PendingPlan } from '../../approval/pending-plans.ts';
import type { Publication } from '../../judge/decide-publication.ts';
import type { Hold } from '../../judge/judge-result.ts';
import type { PublishState } from '../../judge/publish-state.ts';
import type { RemovalBudget } from '../../judge/removal-budget.ts';
import type { DecisionPage, ReasonOf } from '../../pages/decision-page.ts';
import type { FinalPage, PageAction, PagePlan } from '../../pages/plan-pages.ts';
import type { PublishedDecision } from '../../pages/published-placements.ts';
import type { DecisionRecord } from '../../record/decision-record.ts';
import type { LastPublication } from '../../record/last-publication.ts';

/** The last write of the controller to one object. */
export interface OwnWrite {
  /**
   * The object after the write. Undefined if the write deleted it, or if the watch already showed
   * the write.
   */
  readonly after: KubeObject | undefined;
  /** The resource version of the object after the write. */
  readonly version: string;
  /** Versions before the write that the watch may still show. Empty once the watch showed the write. */
  readonly older: readonly string[];
}

/** Changes by others to the pages, with less than `MAX_WAIT_MS` between them. Milliseconds since the epoch. */
export interface Disturbance {
  readonly firstMs: number;
  readonly lastMs: number;
}

/**
 * The decisions that a process saw on the pages when the hub was restored from a backup. Only a
 * process that does not know the last publication keeps them: a standby, or a leader that has just
 * started.
 */
export interface BeforeRestore {
  /** Of the placement. */
  readonly uid: string | undefined;
  readonly pages: readonly FinalPage[];
  /** Newest resource version of these pages. */
  readonly pagesVersion: string;
  /** Newest resource version of the restored hub. */
  readonly hubVersion: string;
}

/**
 * A change that the watch showed during a pass. When all writes have responses, Berth knows whether
 * the change is its own.
 */
export interface UnattributedChange {
  /** See `changeKey`. */
  readonly change: string;
  /** When the watch showed the change. Undefined if the change cannot be the write of a rival. */
  readonly rivalAtMs: number | undefined;
}

/** The pages of a pass, as they are on the hub and as Berth judges them. */
export interface PassPages {
  readonly objects: readonly KubeObject[];
  readonly pages: readonly DecisionPage[];
  readonly last: LastPublication | undefined;
  readonly published: readonly FinalPage[];
  /** Others changed which clusters the pages list. */
  readonly isChanged: boolean;
}

/** The purpose of the writes of a pass. */
export type PassPurpose =
  /** Publish a new decision. */
  | { readonly kind: 'publish'; readonly wanted: Publication; readonly plan: PagePlan }
  /** Keep the pages, or restore those that others changed. */
  | { readonly kind: 'stay'; readonly wanted: Publication; readonly pages: readonly FinalPage[] }
  /** Wait, because the result cannot be judged yet. */
  | { readonly kind: 'wait'; readonly afterMs: number; readonly pages: readonly FinalPage[] };

export interface WritingStage {
  readonly passPages: PassPages;
  readonly purpose: PassPurpose;
  /** The writes, made in this order one after the other. */
  readonly actions: readonly PageAction[];
  /** Index of the current action. */
  readonly at: number;
  /** Pages by name after the writes so far. */
  readonly objects: ReadonlyMap<string, KubeObject>;
}

/** The steps after the writes. */
export interface FinishingStage {
  readonly finalPages: readonly FinalPage[];
  readonly hold: Hold | undefined;
  readonly againAfterMs: number | undefined;
  /** The status patch has no response yet. */
  readonly isPatching: boolean;
  readonly record:
    | { readonly kind: 'none' }
    /** The status patch was sent. */
    | {
        readonly kind: 'open';
        readonly passPages: PassPages;
        readonly purpose: Extract<PassPurpose, { kind: 'publish' }>;
      }
    | { readonly kind: 'under-way'; readonly done: CompletedPublication };
  /** The status patch or the record failed. */
  readonly failure?: { readonly error: unknown } | undefined;
}

/** A publication whose writes all have responses. */
export interface CompletedPublication {
  readonly entry: PublishedDecision;
  readonly writes: number;
  readonly clusters: readonly string[];
  /** Remembered together with the hash of the record. */
  readonly next: PublishState;
}

/** The stage of a pass. Each stage except `finishing` waits for exactly one response. */
export type PassStage =
  /** Reads the pages from the hub, because Berth does not know which earlier writes succeeded. */
  | { readonly kind: 'reading' }
  /** Changes the version of `left[0]`, so that an earlier write to it fails if it arrives late. */
  | {
      readonly kind: 'fencing';
      readonly ready: readonly KubeObject[];
      readonly left: readonly KubeObject[];
    }
  /** Makes the record of a publication that has none. */
  | { readonly kind: 'recording-found'; readonly passPages: PassPages; readonly entry: PublishedDecision }
  /** Waits until the removals are stored on disk. */
  | { readonly kind: 'persisting'; readonly writing: WritingStage }
  | { readonly kind: 'writing'; readonly writing: WritingStage }
  /** Removes the hold from the status of a placement that another scheduler decides. */
  | { readonly kind: 'leaving' }
  /** Writes the annotations that disable other schedulers. */
  | { readonly kind: 'annotating' }
  /** Writes the condition which says that another controller writes the pages and Berth stopped. */
  | { readonly kind: 'yielding' }
  /** Waits for the status patch and the record, which run at the same time. */
  | { readonly kind: 'finishing'; readonly finishing: FinishingStage };

/** One pass over a placement, from reading the facts to the last response. */
export interface Pass {
  readonly facts: PassFacts;
  /** With the status that the controller wrote last. */
  readonly placement: Placement;
  readonly result: ScheduleResult;
  readonly stage: PassStage;
  /** The pages were read from the hub and not taken from the watch. */
  readonly isRead: boolean;
  /** The changes that the watch has shown during this pass. */
  readonly early: readonly UnattributedChange[];
  /** Keys of the changes that this pass wrote, see `changeKey`. */
  readonly made: readonly string[];
}

/** The complete publishing state of one placement. Immutable. */
export interface PlacementState {
  /** The last publication of the placement with this uid. Undefined: unknown. */
  readonly last: (LastPublication & { readonly uid: string | undefined }) | undefined;
  /** The persisted state, as last read or written. */
  readonly remembered: PublishState | undefined;
  /** Own writes to pages, by the name of the page. */
  readonly pages: ReadonlyMap<string, OwnWrite>;
  /** Own writes to the status of the placement. */
  readonly status: OwnWrite | undefined;
  /**
   * A write failed, or the hub was restored. The next pass reads the pages from the hub before it
   * plans anything.
   */
  readonly isUncertain: boolean;
  /** Pages that a write with an unknown outcome may still change. */
  readonly suspects: readonly string[];
  readonly disturbance: Disturbance | undefined;
  /**
   * The pages of a placement that another scheduler decides: their versions, and since when they
   * have these versions.
   */
  readonly otherSchedulerPages: { readonly versions: string; readonly sinceMs: number } | undefined;
  /** Reason and code of the hold that was reported last. */
  readonly reportedHold: string | undefined;
  readonly scoresWrittenAtMs: number | undefined;
  /** The pages were compared with the records of the previous process. */
  readonly isCompared: boolean;
  readonly beforeRestore: BeforeRestore | undefined;
  /**
   * When the last rounds of changes by others began while this process was the leader, in
   * milliseconds since the epoch. A round is everything that others change between two writes of
   * Berth.
   */
  readonly rivalRoundsAtMs: readonly number[];
  /** This process wrote a page after the last round of changes by others. */
  readonly wroteSinceRival: boolean;
  /** Berth tried to set the annotations that disable other schedulers for the placement. */
  readonly wasAnnotated: boolean;
  /** A result waits until the commit is completely applied to the hub. */
  readonly waitsForCommit: boolean;
  /** The pass in progress; undefined if there is none. */
  readonly pass: Pass | undefined;
}

export const INITIAL_STATE: PlacementState = {
  last: undefined,
  remembered: undefined,
  pages: new Map(),
  status: undefined,
  isUncertain: false,
  suspects: [],
  disturbance: undefined,
  otherSchedulerPages: undefined,
  reportedHold: undefined,
  scoresWrittenAtMs: undefined,
  isCompared: false,
  beforeRestore: undefined,
  rivalRoundsAtMs: [],
  wroteSinceRival: false,
  wasAnnotated: false,
  waitsForCommit: false,
  pass: undefined,
};

/** The records of the previous process. */
export interface PreviousProcessRecords {
  /**
   * The newest record of the placement. Undefined if there is none, or if the pages were already
   * compared with it.
   */
  readonly newest: DecisionRecord | undefined;
  /** When the oldest record of all was made, in milliseconds since the epoch; `-Infinity` when there is none. */
  readonly oldestAtMs: number;
  /** False if the records could not be read. */
  readonly areReadable: boolean;
}

/**
 * How the snapshot relates to commits. `consistent`: it shows the hub at one commit. `partial`: it
 * shows the hub between two commits. `outdated`: it shows the hub between two commits, and the
 * second one is completely applied now.
 */
export type SnapshotConsistency = 'consistent' | 'partial' | 'outdated';

/**
 * The inputs of a pass, in addition to the state of the placement. Each pass reads them again. Some
 * are functions, because their results are expensive and rarely needed.
 */
export interface PassFacts {
  /** `namespace/name` */
  readonly key: string;
  /** The placement as the watch shows it. */
  readonly placement: Placement;
  /** The newest result; undefined while the placement was not scheduled. */
  readonly result: ScheduleResult | undefined;
  /** PlacementDecisions with the label of the placement, as the watch shows them. */
  readonly pages: readonly KubeObject[];
  /** The stored state, from the last process or since. */
  readonly remembered: PublishState | undefined;
  readonly records: PreviousProcessRecords;
  readonly budget: RemovalBudget;
  /** Why the inventory cannot be trusted now. */
  readonly inventoryProblem: string | undefined;
  /** Why Berth cannot tell whether works are ready; undefined if it can. */
  readonly worksProblem: string | undefined;
  /** The approved plans of commits that concern this placement. */
  readonly plans: readonly PendingPlan[];
  /** A source that another tool applies (`sync: observe`) declares the placement. */
  readonly isOfSource: boolean;
  /** The newest resource version of each backup from which the hub was restored, oldest first. */
  readonly restoredTo: readonly string[];
  readonly digest: Digest;
  /** The PlacementDecision of this name in the namespace, with any owner, as the watch shows it. */
  readonly seenPage: (name: string) => KubeObject | undefined;
  /**
   * How the snapshot from which the result was decided relates to commits.
   * @param ofLastCommit whether a snapshot from before the last commit counts as outdated
   */
  readonly snapshotConsistency: (ofLastCommit: boolean) => SnapshotConsistency;
  /**
   * Whether the snapshot from which the result was decided listed all of these clusters for the
   * placement.
   */
  readonly wasDecidedKnowing: (clusters: readonly string[]) => boolean;
  /** Whether the work of the placement runs on the cluster (Available or Healthy). */
  readonly isReady: (cluster: string) => boolean;
  /** Why the result selects its clusters. Absent: pages have no reasons. */
  readonly reasonsOf?: ((result: ScheduleResult) => ReasonOf) | undefined;
  /** Why the result does not select these clusters. */
  readonly lostClusters: (clusters: readonly string[]) => readonly {
    readonly because: string;
    readonly clusters: readonly string[];
  }[];
}
