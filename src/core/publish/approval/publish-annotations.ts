/**
 * Approves held changes. It may contain several approval codes. On a Placement in Git it approves the
 * change with the code. On any object of a source it approves the deletions with the code. On the
 * parent of an ApplySet it is the last release of deletions, whether in Git or by a user.
 */
export const RELEASE_ANNOTATION = 'berth.dev/release';
/**
 * On any object in Git: the plan that was approved with its commit, as `NAMESPACE/NAME=CODE` for
 * each placement. On a Placement, `TOKEN` alone names the plan of that placement. Berth holds a
 * change that differs from the plan.
 */
export const PLAN_ANNOTATION = 'berth.dev/plan';
/**
 * On a Placement: the code that `berth release` approved. It is never in Git. It is a separate
 * key, because a release in Git and a release by hand would conflict under server-side apply. On a
 * ClusterManagementAddOn: that of the last released removal.
 */
export const RELEASED_ANNOTATION = 'berth.dev/released';
/**
 * Who approved a release. On a Placement or an add-on: user and time of `berth release`. On the parent of an
 * ApplySet: the same, or author and commit of a release in Git.
 */
export const RELEASED_BY_ANNOTATION = 'berth.dev/released-by';
/** On a Placement: how many clusters one change may remove, for example `25%` or `3`. */
export const REMOVAL_BUDGET_ANNOTATION = 'berth.dev/removal-budget';
/** On a Placement: `MakeBeforeBreak` keeps a cluster published until the one that replaces it is ready. */
export const HANDOVER_POLICY_ANNOTATION = 'berth.dev/move-policy';
/** On a Placement: how long a handover may take, for example `10m`. */
export const HANDOVER_DEADLINE_ANNOTATION = 'berth.dev/move-deadline';
/**
 * On a Placement: aborts the handover with this approval code. The old clusters stay
 * published and the new ones are removed.
 */
export const HANDOVER_ABORT_ANNOTATION = 'berth.dev/move-abort';
/**
 * On the parent of an ApplySet, written by the controller: the code of the deletions that are held
 * now, or `''` when none are held. On a ClusterManagementAddOn: that of the held removal.
 */
export const HELD_CODE_ANNOTATION = 'berth.dev/held-token';
/** On the parent of an ApplySet, or on a ClusterManagementAddOn: the message of the hold, with its numbers. */
export const HELD_MESSAGE_ANNOTATION = 'berth.dev/held-message';
/** On a ClusterManagementAddOn: since when the removal is held, RFC 3339. */
export const HELD_SINCE_ANNOTATION = 'berth.dev/held-since';
/**
 * On an ApplySet's parent: the code of deletions that are held because of their losses, and after a space name hashes of the
 * objects that would lose something.
 */
export const HELD_LOSSES_ANNOTATION = 'berth.dev/held-losses';
/**
 * On the parent of an ApplySet: the codes of its last releases, separated by commas. A code in
 * this list approves nothing any more.
 */
export const SPENT_CODES_ANNOTATION = 'berth.dev/spent-tokens';
/**
 * On the parent of an ApplySet: name hashes of objects whose deletion the last release approved and that
 * are not deleted yet, or `''` when there are none.
 */
export const RELEASED_OBJECTS_ANNOTATION = 'berth.dev/released-objects';
/**
 * On the parent of an ApplySet: deletions that no release approved and that still count toward the
 * budget.
 */
export const RECENT_DELETIONS_ANNOTATION = 'berth.dev/recent-deletions';
/**
 * On the parent of an ApplySet: how many clusters or works each placement, replica set and cluster
 * lost by the deletions in `berth.dev/recent-deletions`.
 */
export const RECENT_LOSSES_ANNOTATION = 'berth.dev/recent-losses';
/**
 * On an ApplySet's parent: the number of members before objects were added beside pending deletions, `''` when there
 * are none.
 */
export const MEMBERS_BEFORE_ANNOTATION = 'berth.dev/members-before';
