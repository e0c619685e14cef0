/**
 * On a Placement, written in Git: approves the change that this plan token names. On any object of a source: approves
 * the deletions that it names. Several tokens may be in one. On the parent of an ApplySet: the release of deletions
 * that was given last, in Git or by hand.
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
/** On a Placement: who released by hand and when, as `berth release` writes it. On an ApplySet's parent: also who did so in which commit. */
export const RELEASED_BY_ANNOTATION = 'berth.dev/released-by';
/** On a Placement: `25%` or `3`: how many clusters one change may remove. */
export const REMOVAL_BUDGET_ANNOTATION = 'berth.dev/removal-budget';
/** On a Placement: `MakeBeforeBreak` keeps a cluster published until the one that replaces it is ready. */
export const MOVE_POLICY_ANNOTATION = 'berth.dev/move-policy';
/** On a Placement: how long such a move may take, e.g. `10m`. */
export const MOVE_DEADLINE_ANNOTATION = 'berth.dev/move-deadline';
/** On a Placement: gives up the move that this plan token names; the old clusters stay, the new ones go. */
export const MOVE_ABORT_ANNOTATION = 'berth.dev/move-abort';
/** On a Placement that Berth schedules: `berth`, next to the annotation that keeps other schedulers away. */
export const SCHEDULER_ANNOTATION = 'berth.dev/scheduler';
/** On an ApplySet's parent, written by the controller: the token of the deletions that are held now, `''` when none are. */
export const HELD_TOKEN_ANNOTATION = 'berth.dev/held-token';
/** Beside it: what is held, and how much. */
export const HELD_MESSAGE_ANNOTATION = 'berth.dev/held-message';
/** On an ApplySet's parent: the token of deletions that are held because of what they take away from others. */
export const HELD_LOSSES_ANNOTATION = 'berth.dev/held-losses';
/** On an ApplySet's parent: the tokens of its last releases, with commas between them. Each counted once. */
export const SPENT_TOKENS_ANNOTATION = 'berth.dev/spent-tokens';
/** On an ApplySet's parent: marks of what the last release approved and is not deleted yet, `''` when nothing is left of it. */
export const RELEASED_OBJECTS_ANNOTATION = 'berth.dev/released-objects';
/** On an ApplySet's parent: what was deleted without a release and still counts toward the budget. */
export const RECENT_DELETIONS_ANNOTATION = 'berth.dev/recent-deletions';
/** Beside it: how many clusters or works that took from each placement, replica set and cluster. */
export const RECENT_LOSSES_ANNOTATION = 'berth.dev/recent-losses';
/**
 * On an ApplySet's parent: the number of members before objects were added beside pending deletions, `''` when there
 * are none.
 */
export const MEMBERS_BEFORE_ANNOTATION = 'berth.dev/members-before';
/** Condition of a Placement whose new result is not published. */
export const HELD_CONDITION = 'berth.dev/Held';
