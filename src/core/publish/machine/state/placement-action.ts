import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Placement, PlacementStatus } from '@berth/ocm/kind/placement';
import type { Hold } from '../../judge/judge-result.ts';
import type { PendingPlan, PlanOutcome } from '../../approval/pending-plans.ts';
import type { PageAction, FinalPage } from '../../pages/plan-pages.ts';
import type { PublishState } from '../../judge/publish-state.ts';
import type { PublishedDecision } from '../../pages/published-decision.ts';

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
