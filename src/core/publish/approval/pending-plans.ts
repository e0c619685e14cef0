import type { ApprovedPlan } from './approved-plans.ts';

/**
 * Decisions follow the hub, and the hub follows the commit. Until both are done, a result does not reflect the
 * commit.
 */
const REST_MS = 2_000;
/** Later changes are not attributed to the commit. */
const WINDOW_MS = 600_000;

/** A plan that a commit was approved with, and that is neither met nor withdrawn. Plain JSON. */
export interface PendingPlan extends ApprovedPlan {
  /** When the hub was made to follow the commit; undefined before. */
  readonly followedAtMs: number | undefined;
  /** Another change would happen and is held; the hold does not expire. */
  readonly held: boolean;
  /** It is the plan of a merged pull request: it is not in Git, and commits do not withdraw it. */
  readonly ofPullRequest?: true | undefined;
}

/** Of one source. Plain JSON. */
export interface SourcePlans {
  /** Tokens of the commit that was read last, per placement. */
  readonly seen: Readonly<Record<string, readonly string[]>>;
  /** Approvals that came with a commit, and were neither met nor too long ago. */
  readonly pending: Readonly<Record<string, PendingPlan>>;
}

/** The outcome of a plan: the change was made, another one is held, or there is nothing to compare. */
export type PlanOutcome = 'met' | 'differs' | 'none';

/**
 * The plans of a source after it was read at this commit, before the commit is applied to the hub.
 * A plan that is no longer in Git is withdrawn. Annotations found when a source is read for the
 * first time are not known to be new, and approve nothing.
 * @param now the approvals in the objects, per placement
 * @param merged the plan tokens of the pull request that this commit merges, per placement; an
 * annotation has precedence
 */
export function plansAfterRead(
  before: SourcePlans | undefined,
  now: ReadonlyMap<string, readonly string[]>,
  commit: string | undefined,
  merged: ReadonlyMap<string, readonly string[]> = new Map(),
): SourcePlans {
  const pending = Object.entries(before?.pending ?? {}).filter(
    ([placement, { ofPullRequest }]) => ofPullRequest === true || now.has(placement),
  );
  for (const [placement, tokens] of merged)
    pending.push([placement, { tokens, commit, followedAtMs: undefined, held: false, ofPullRequest: true }]);
  const fresh = [...now].filter(
    ([placement, tokens]) => before !== undefined && tokens.join() !== (before.seen[placement] ?? []).join(),
  );
  for (const [placement, tokens] of fresh)
    pending.push([placement, { tokens, commit, followedAtMs: undefined, held: false }]);
  return { seen: Object.fromEntries(now), pending: Object.fromEntries(pending) };
}

/** Called when the hub follows the commit that was read, as far as possible. */
export function planAfterFollow(plan: PendingPlan, nowMs: number): PendingPlan {
  return plan.followedAtMs === undefined ? { ...plan, followedAtMs: nowMs } : plan;
}

/** Undefined: the plan is done with. */
export function planAfterJudgement(plan: PendingPlan, outcome: PlanOutcome): PendingPlan | undefined {
  if (outcome === 'met') return undefined;
  const held = outcome === 'differs';
  return plan.held === held ? plan : { ...plan, held };
}

/** Whether this is the plan that was judged. A commit that was read since may have brought another. */
export function isSamePlan(a: PendingPlan, b: PendingPlan): boolean {
  return a.commit === b.commit && a.tokens.join() === b.tokens.join();
}

/**
 * The approvals of the followed commits for a placement. An approval is valid for the change that
 * its commit makes: from that commit until the change is published, at most ten minutes, except
 * while another change is held because of it.
 */
export function currentApprovals(plans: readonly PendingPlan[], nowMs: number): ApprovedPlan | undefined {
  const counting = plansOf(plans, nowMs);
  if (counting.length === 0) return undefined;
  return { tokens: counting.flatMap(({ tokens }) => tokens), commit: counting.at(-1)?.commit };
}

/** Whether it is too early to decide that another change would happen. */
export function isPlanWaiting(plans: readonly PendingPlan[], nowMs: number): boolean {
  return plansOf(plans, nowMs).some(
    ({ followedAtMs, held }) =>
      !held && (followedAtMs === undefined || Math.abs(nowMs - followedAtMs) < REST_MS),
  );
}

function plansOf(plans: readonly PendingPlan[], nowMs: number): readonly PendingPlan[] {
  return plans.filter(
    ({ followedAtMs, held }) =>
      held || followedAtMs === undefined || Math.abs(nowMs - followedAtMs) < WINDOW_MS,
  );
}
