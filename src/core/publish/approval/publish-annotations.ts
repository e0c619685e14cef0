/**
 * On a Placement in Git: approves the change with this plan token. On any object of a source:
 * approves the deletions with this token. It may contain several tokens. On the parent of an
 * ApplySet: the last release of deletions, in Git or by a user.
 */
export const RELEASE_ANNOTATION = 'berth.dev/release';
/**
 * On any object in Git: the plan that its commit was approved with, `NAMESPACE/NAME=TOKEN` for each placement, on a Placement also its own
 * `TOKEN` alone. Another change than that is held.
 */
export const PLAN_ANNOTATION = 'berth.dev/plan';
/**
 * On a Placement, written by `berth release` and never in Git: the same. A separate key, because a release in Git and
 * one by hand would conflict under server-side apply.
 */
export const RELEASED_ANNOTATION = 'berth.dev/released';
/**
 * On a Placement: user and time of a release by `berth release`. On an ApplySet's parent: also
 * author and commit of a release in Git.
 */
export const RELEASED_BY_ANNOTATION = 'berth.dev/released-by';
/** On a Placement: `25%` or `3`: how many clusters one change may remove. */
export const REMOVAL_BUDGET_ANNOTATION = 'berth.dev/removal-budget';
/** On a Placement: `MakeBeforeBreak` keeps a cluster published until the one that replaces it is ready. */
export const MOVE_POLICY_ANNOTATION = 'berth.dev/move-policy';
/** On a Placement: how long such a move may take, e.g. `10m`. */
export const MOVE_DEADLINE_ANNOTATION = 'berth.dev/move-deadline';
/**
 * On a Placement: aborts the move with this plan token; the old clusters stay, the new ones are
 * removed.
 */
export const MOVE_ABORT_ANNOTATION = 'berth.dev/move-abort';
/** On a Placement that Berth schedules: `berth`, next to the annotation that keeps other schedulers away. */
export const SCHEDULER_ANNOTATION = 'berth.dev/scheduler';
/** On an ApplySet's parent, written by the controller: the token of the deletions that are held now, `''` when none are. */
export const HELD_TOKEN_ANNOTATION = 'berth.dev/held-token';
/** The message of the hold, with the numbers. */
export const HELD_MESSAGE_ANNOTATION = 'berth.dev/held-message';
/** On an ApplySet's parent: the token of deletions that are held because of their dependents. */
export const HELD_LOSSES_ANNOTATION = 'berth.dev/held-losses';
/** On an ApplySet's parent: the tokens of its last releases, with commas between them. Each counted once. */
export const SPENT_TOKENS_ANNOTATION = 'berth.dev/spent-tokens';
/**
 * On an ApplySet's parent: marks of objects that the last release approved and that are not deleted
 * yet, `''` if there are none.
 */
export const RELEASED_OBJECTS_ANNOTATION = 'berth.dev/released-objects';
/** On an ApplySet's parent: deletions without a release that still count toward the budget. */
export const RECENT_DELETIONS_ANNOTATION = 'berth.dev/recent-deletions';
/** How many clusters or works each placement, replica set and cluster lost by these deletions. */
export const RECENT_LOSSES_ANNOTATION = 'berth.dev/recent-losses';
/**
 * On an ApplySet's parent: the number of members before objects were added beside pending deletions, `''` when there
 * are none.
 */
export const MEMBERS_BEFORE_ANNOTATION = 'berth.dev/members-before';
/** Condition of a Placement whose new result is not published. */
export const HELD_CONDITION = 'berth.dev/Held';
