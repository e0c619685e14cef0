import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Placement, PlacementStatus } from '@berth/ocm/kind/placement';
import type { PendingPlan, PlanOutcome } from '../../approval/pending-plans.ts';
import type { Hold } from '../../judge/judge-result.ts';
import type { PublishState } from '../../judge/publish-state.ts';
import type { FinalPage, PageAction } from '../../pages/plan-pages.ts';
import type { PublishedDecision } from '../../pages/published-placements.ts';
import type { PassFacts } from './placement-state.ts';

/** A change that the watch showed. A modification has both `before` and `after`. */
export interface WatchedChange {
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

/** An event of one placement. */
export type PlacementEvent =
  /**
   * Starts a pass, because there is a new result, pages were changed, an approval was read, or a
   * wait is over. The cause does not matter: each pass gets all facts again. Sent only while no
   * pass is in progress.
   */
  | { readonly kind: 'reconcile'; readonly facts: PassFacts }
  /**
   * The placement was deleted. Sent only while no pass is in progress. It is handled as a pass of
   * its own.
   */
  | { readonly kind: 'gone' }
  /**
   * Response to `read-pages`: the pages on the hub, and those that the watch shows at that time.
   */
  | {
      readonly kind: 'pages-read';
      readonly pages: readonly KubeObject[];
      readonly seen: readonly KubeObject[];
    }
  /** Response to `fence-page`: the page with its new version. */
  | { readonly kind: 'page-fenced'; readonly page: KubeObject }
  /**
   * Response to `write-page`. `after` is undefined for a deletion. `seen` is the page that the
   * watch shows now.
   */
  | {
      readonly kind: 'page-written';
      readonly after: KubeObject | undefined;
      readonly seen: KubeObject | undefined;
    }
  /** Response to `patch-status`. */
  | { readonly kind: 'status-written'; readonly after: KubeObject; readonly seen: KubeObject | undefined }
  /** Response to `annotate-placement`. */
  | { readonly kind: 'placement-annotated'; readonly after: KubeObject }
  /** Response to `persist`, also if the disk write failed. */
  | { readonly kind: 'persisted' }
  /** Response to `yield`. */
  | { readonly kind: 'resumed' }
  /**
   * Response to `record`: the hash of the record, or '' when the inputs of the record are unknown.
   */
  | { readonly kind: 'recorded'; readonly hash: string }
  /**
   * An action failed. `of` names the action. `mayArrive` says that the hub may still execute the
   * write.
   */
  | {
      readonly kind: 'failed';
      readonly of: 'pages' | 'status' | 'annotation' | 'record';
      readonly error: unknown;
      readonly mayArrive: boolean;
    }
  /** The watch showed a change of one of the placement's pages. */
  | {
      readonly kind: 'page-changed';
      readonly change: WatchedChange;
      /** This process is the leader. */
      readonly isLeader: boolean;
      /** The watch shows the placement. */
      readonly isPlacementThere: boolean;
    }
  /**
   * The pages were listed again, and the watch shows them as they were in this version of the hub.
   * Only for placements with a write that the watch does not show.
   */
  | {
      readonly kind: 'pages-listed';
      readonly hubVersion: string;
      readonly isLeader: boolean;
      readonly isPlacementThere: boolean;
    }
  /**
   * The watch showed a change of the placement. `isInput` tells whether decisions may depend on the
   * change. It is called only for changes by others.
   */
  | {
      readonly kind: 'placement-changed';
      readonly change: WatchedChange;
      readonly isInput: () => boolean;
    }
  /** The commit is completely applied to the hub. */
  | { readonly kind: 'commit-complete' }
  /** A work reported another status. */
  | { readonly kind: 'works-changed' }
  /**
   * The hub was restored or replaced, and the watches do not show this yet. `atRestore` is defined
   * if the hub was restored from a backup.
   */
  | { readonly kind: 'hub-changed'; readonly atRestore: SeenAtRestore | undefined }
  /** An event of this pass could not be handled, because of a defect in Berth. */
  | { readonly kind: 'abandoned'; readonly error: unknown };

/** The state of a placement, as this process saw it when the hub was restored. */
export interface SeenAtRestore {
  /** Newest resource version of the restored hub. */
  readonly hubVersion: string;
  /** Undefined if the placement does not exist. */
  readonly seen: Pick<PassFacts, 'key' | 'placement' | 'pages' | 'seenPage'> | undefined;
}

/** How a pass ends. */
export type PassEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'requeue'; readonly afterMs: number }
  | { readonly kind: 'failed'; readonly error: unknown };

/**
 * An action for the caller. The actions of a step start in order. Each kind up to `yield` has an
 * event as its response.
 */
export type PlacementAction =
  /** List the pages on the hub. */
  | { readonly kind: 'read-pages'; readonly placement: Placement }
  /** Change the version of the page and nothing else. */
  | { readonly kind: 'fence-page'; readonly page: KubeObject }
  /**
   * Write one page. `before` is the page that the write was planned on. Its version is the
   * precondition.
   */
  | {
      readonly kind: 'write-page';
      readonly placement: Placement;
      readonly write: PageAction;
      readonly before: KubeObject | undefined;
    }
  /** Patch the status of this version of `placement`. */
  | { readonly kind: 'patch-status'; readonly placement: Placement; readonly status: PlacementStatus }
  /** Set the annotations that make the placement Berth's and keep OCM's scheduler away. */
  | { readonly kind: 'annotate-placement'; readonly placement: Placement }
  /** Store the state, and report when it is durable. */
  | { readonly kind: 'persist'; readonly state: PublishState }
  /** Yield, so that earlier requests are sent. */
  | { readonly kind: 'yield' }
  /** Make a record of the publication. */
  | { readonly kind: 'record'; readonly entry: PublishedDecision }
  /** Store the state; it may be lost with the process. */
  | { readonly kind: 'remember'; readonly state: PublishState }
  /** Delete the stored state. */
  | { readonly kind: 'forget' }
  /** The pages were compared with the last record, which is no longer needed. */
  | { readonly kind: 'drop-record' }
  /** Report how the result compares with these plans, see `PlanOutcome`. */
  | {
      readonly kind: 'judge-plans';
      readonly plans: readonly PendingPlan[];
      readonly outcome: PlanOutcome;
    }
  /** These pages are published now. */
  | { readonly kind: 'final-pages'; readonly pages: readonly FinalPage[] }
  /** Report a new publication. */
  | {
      readonly kind: 'report-published';
      readonly entry: PublishedDecision;
      readonly clusters: readonly string[];
      readonly writes: number;
      readonly record: string;
    }
  /** Report a new hold. */
  /** `isKnown`: the placement says so already, so that an Event would be old news. */
  | { readonly kind: 'report-held'; readonly hold: Hold; readonly isKnown: boolean }
  /** A publication without a record was found and now has one. */
  | { readonly kind: 'report-found'; readonly record: string }
  /** Others changed these pages, and they are restored. */
  | { readonly kind: 'report-restored'; readonly pages: readonly string[] }
  /** Tell the scheduler that an input of the decision changed. */
  | { readonly kind: 'decide-again'; readonly cause: 'decisions' | 'inputs' }
  /** Add the placement to the queue, so that another pass starts soon. */
  | { readonly kind: 'enqueue' }
  /** The pass is over. */
  | { readonly kind: 'end'; readonly end: PassEnd };
