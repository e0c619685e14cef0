import type { KubeObject } from '../../../model/object-meta.ts';
import type { Placement } from '../../../model/kind/placement.ts';
import type { ScheduleResult } from '../../../placement/result/schedule-result.ts';
import type { Publication } from '../../judge/decide-publication.ts';
import type { DecisionPage } from '../../pages/decision-page.ts';
import type { Hold } from '../../judge/judge-result.ts';
import type { LastPublication } from '../../record/last-publication.ts';
import type { PageAction, PagePlan, SettledPage } from '../../pages/plan-pages.ts';
import type { PublishState } from '../../judge/publish-state.ts';
import type { PublishedDecision } from '../../pages/published-decision.ts';
import type { PassFacts } from './placement-facts.ts';

/** The last write of the controller to one object. */
export interface OwnWrite {
  /** Undefined: the write deleted the object, or the watch showed the write. */
  readonly after: KubeObject | undefined;
  /** Of the object after the write. */
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
 * The decisions that the leader had published when the hub was restored from a backup, as a standby
 * saw them.
 */
export interface BeforeRestore {
  /** Of the placement. */
  readonly uid: string | undefined;
  readonly pages: readonly SettledPage[];
  /** Newest resource version of the restored hub. */
  readonly hubVersion: string;
}

/** A change that the watch showed during a pass. Whether it is our own is known when the writes are answered. */
export interface UnattributedChange {
  /** See `changeKey`. */
  readonly change: string;
  /** When it was shown, where it counts as the write of a rival if it is not the controller's own. */
  readonly rivalAtMs: number | undefined;
}

/** The pages that a pass writes to, as they are on the hub and as they are judged. */
export interface PassPages {
  readonly objects: readonly KubeObject[];
  readonly pages: readonly DecisionPage[];
  readonly last: LastPublication | undefined;
  readonly published: readonly SettledPage[];
  /** Others changed which clusters the pages list. */
  readonly isChanged: boolean;
}

/** The purpose of the writes of a pass. */
export type PassPurpose =
  /** The pages get a new decision. */
  | { readonly kind: 'publish'; readonly wanted: Publication; readonly plan: PagePlan }
  /** The pages stay, or are restored where others changed them. */
  | { readonly kind: 'stay'; readonly wanted: Publication; readonly pages: readonly SettledPage[] }
  /** The result cannot be judged yet. */
  | { readonly kind: 'wait'; readonly afterMs: number; readonly pages: readonly SettledPage[] };

export interface WritingStage {
  readonly passPages: PassPages;
  readonly purpose: PassPurpose;
  /** In this order, one after the other. */
  readonly actions: readonly PageAction[];
  /** Index of the current action. */
  readonly at: number;
  /** Pages by name after the writes so far. */
  readonly objects: ReadonlyMap<string, KubeObject>;
}

/** The steps after the writes. */
export interface FinishingStage {
  readonly settled: readonly SettledPage[];
  readonly hold: Hold | undefined;
  readonly againAfterMs: number | undefined;
  /** The status patch is not answered. */
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

/** A publication whose writes are all answered. */
export interface CompletedPublication {
  readonly entry: PublishedDecision;
  readonly writes: number;
  readonly clusters: readonly string[];
  /** Remembered together with the hash of the record. */
  readonly next: PublishState;
}

/** The stage of a pass. Each stage except the last one waits for one response. */
export type PassStage =
  /** The pages are read from the hub, since it is not known how far earlier writes got. */
  | { readonly kind: 'reading' }
  /** The version of `left[0]` is being changed, so that an earlier write to it cannot arrive late. */
  | {
      readonly kind: 'fencing';
      readonly ready: readonly KubeObject[];
      readonly left: readonly KubeObject[];
    }
  /** A publication of the process before this one gets its record. */
  | { readonly kind: 'recording-found'; readonly passPages: PassPages; readonly entry: PublishedDecision }
  /** Waits until the removals are stored on disk. */
  | { readonly kind: 'persisting'; readonly writing: WritingStage }
  | { readonly kind: 'writing'; readonly writing: WritingStage }
  /** Removes the hold from the status of a placement that another scheduler decides now. */
  | { readonly kind: 'leaving' }
  /** Writes the annotations that disable other schedulers. */
  | { readonly kind: 'marking' }
  /** Writes the condition that another controller writes the pages and Berth stopped. */
  | { readonly kind: 'yielding' }
  /** The status patch and the record are under way at the same time. */
  | { readonly kind: 'finishing'; readonly finishing: FinishingStage };

/** One pass over a placement, from reading the facts to the last response. */
export interface Pass {
  readonly facts: PassFacts;
  /** With the status that the controller wrote last. */
  readonly placement: Placement;
  readonly result: ScheduleResult;
  readonly stage: PassStage;
  /** Its pages were read from the hub, and not taken from the watch. */
  readonly isRead: boolean;
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
  /** A write failed, so that pages are read from the hub before anything is planned. */
  readonly isUncertain: boolean;
  /** Pages to which a write of unknown outcome may still arrive. */
  readonly suspects: readonly string[];
  readonly disturbance: Disturbance | undefined;
  /** Pages of a placement that others schedule: their versions, and since when they have those. */
  readonly otherSchedulerPages: { readonly versions: string; readonly sinceMs: number } | undefined;
  /** Reason and token of the hold that was reported last. */
  readonly reportedHold: string | undefined;
  readonly scoresWrittenAtMs: number | undefined;
  /** The pages were compared with the records of the process before this one. */
  readonly isCompared: boolean;
  readonly beforeRestore: BeforeRestore | undefined;
  /**
   * When others changed pages while this process led: the last rounds, in milliseconds since the epoch. A round is all
   * that they change between two writes of Berth.
   */
  readonly rivalRoundsAtMs: readonly number[];
  /** This process wrote a page, and after the last round of others again. */
  readonly wroteSinceRival: boolean;
  /** Berth tried to mark the placement for other schedulers to leave. */
  readonly wasMarked: boolean;
  /** A result waits until the commit is wholly on the hub. */
  readonly waitsForCommit: boolean;
  /** Undefined: no pass is under way. */
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
  wasMarked: false,
  waitsForCommit: false,
  pass: undefined,
};
