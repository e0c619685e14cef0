import { type ApprovedPlan, type Approvals, changedApprovals, isSameApproval } from './approved-plans.ts';

/**
 * The hub changes after a commit is read, and decisions change after the hub. Until both are done,
 * a result does not reflect the commit. This is how long Berth waits for the decisions.
 */
const SETTLE_MS = 2_000;
/** How long an approval is valid after its commit was applied, if no other commit follows. */
export const APPROVAL_MS = 600_000;

/** An approved plan of a commit whose change was neither made nor withdrawn. Plain JSON. */
export interface PendingPlan extends ApprovedPlan {
  /** When the commit was applied to the hub; undefined before that. */
  readonly followedAtMs: number | undefined;
  /** A different change was computed and is held. While it is, the plan does not expire. */
  readonly held: boolean;
  /** That change is held for another reason than this plan, so the plan ends with the next commit. */
  readonly heldOtherwise?: true | undefined;
  /**
   * The plan comes from a merged pull request. It is not in Git, so a later commit cannot withdraw
   * it.
   */
  readonly ofPullRequest?: true | undefined;
}

/** The plans of one source. Plain JSON. */
export interface SourcePlans {
  /** Codes in the last commit that was read, by placement. */
  readonly seen: Readonly<Record<string, readonly string[]>>;
  /** Approved plans whose change was not made yet and that have not expired, by placement. */
  readonly pending: Readonly<Record<string, PendingPlan>>;
  /** What the last commit took out of the source. Another source may get it by the same commit, and read that later. */
  readonly left?: LeftPlans | undefined;
}

interface LeftPlans extends Pick<SourcePlans, 'seen' | 'pending'> {
  readonly commit: string;
}

/**
 * The outcome of a plan. `met`: the approved change was made. `differs`: another change is held because of the plan.
 * `held`: another change is held for another reason. `none`: there is nothing to compare.
 */
export type PlanOutcome = 'met' | 'differs' | 'held' | 'none';

/** A commit that was read. */
export interface PlanRead {
  readonly commit: string | undefined;
  readonly nowMs: number;
  /** The approval codes of the pull request that the commit merges, by placement. An annotation has precedence. */
  readonly merged?: Approvals | undefined;
  /** The plans of the other sources. Absent: there are none. */
  readonly others?: readonly SourcePlans[] | undefined;
}

/**
 * The plans of a source after Berth read this commit and before it applies the commit to the hub. A
 * plan that is no longer in Git is withdrawn. When a source is read for the first time, Berth
 * cannot know whether its annotations are new, so they approve nothing. Approvals that the commit
 * moves here from another source are not new: what they are pending for stays pending.
 * @param now the approvals in the objects, by placement
 */
export function plansAfterRead(before: SourcePlans | undefined, now: Approvals, read: PlanRead): SourcePlans {
  const { commit, merged = new Map<string, readonly string[]>() } = read;
  const pending = Object.entries(before?.pending ?? {}).filter(
    ([placement, plan]) => !hasEnded(plan, read) && (plan.ofPullRequest === true || now.has(placement)),
  );
  for (const [placement, codes] of merged)
    pending.push([
      placement,
      { tokens: codes, commit, followedAtMs: undefined, held: false, ofPullRequest: true },
    ]);
  const changed = before === undefined ? [] : changedApprovals(new Map(Object.entries(before.seen)), now);
  for (const [placement, codes] of changed) {
    const from =
      before?.seen[placement] === undefined ? plansTransferredFrom(placement, codes, read) : undefined;
    const transferred = from?.pending[placement];
    if (from === undefined)
      pending.push([placement, { tokens: codes, commit, followedAtMs: undefined, held: false }]);
    else if (transferred !== undefined && !hasEnded(transferred, read))
      pending.push([placement, transferred]);
  }
  const left = plansThatLeft(before, now, commit);
  return { seen: Object.fromEntries(now), pending: Object.fromEntries(pending), ...(left && { left }) };
}

/** The plans of the other source that has these codes for the placement, or had them until this commit. */
function plansTransferredFrom(
  placement: string,
  codes: readonly string[],
  { commit, others = [] }: PlanRead,
): Pick<SourcePlans, 'seen' | 'pending'> | undefined {
  return others
    .flatMap((plans) =>
      plans.left !== undefined && plans.left.commit === commit ? [plans, plans.left] : [plans],
    )
    .find(({ seen }) => isSameApproval(seen[placement], codes));
}

/** With what left when the same commit was read before. */
function plansThatLeft(
  before: SourcePlans | undefined,
  now: Approvals,
  commit: string | undefined,
): LeftPlans | undefined {
  if (before === undefined || commit === undefined) return undefined;
  const earlier = before.left?.commit === commit ? before.left : undefined;
  const isGone = ([placement]: readonly [string, unknown]): boolean => !now.has(placement);
  const gone = Object.entries(before.seen).filter(isGone);
  if (gone.length === 0) return earlier;
  const pending = Object.entries(before.pending).filter(isGone);
  return {
    commit,
    seen: { ...earlier?.seen, ...Object.fromEntries(gone) },
    pending: { ...earlier?.pending, ...Object.fromEntries(pending) },
  };
}

/**
 * Whether the commit of the plan has had its effect when another commit is read, and the plan caused no hold. It does
 * not judge what other commits change.
 */
function hasEnded(plan: PendingPlan, { commit, nowMs }: PlanRead): boolean {
  const causesHold = plan.held && plan.heldOtherwise !== true;
  return plan.commit !== commit && !causesHold && !isSettling(plan, nowMs);
}

/** Called when the commit that was read is applied to the hub, as far as possible. */
export function planAfterFollow(plan: PendingPlan, nowMs: number): PendingPlan {
  return plan.followedAtMs === undefined ? { ...plan, followedAtMs: nowMs } : plan;
}

/** The plan after a judgement; undefined if the plan is completed. */
export function planAfterJudgement(plan: PendingPlan, outcome: PlanOutcome): PendingPlan | undefined {
  if (outcome === 'met') return undefined;
  const held = outcome === 'differs' || outcome === 'held';
  const heldOtherwise = outcome === 'held' ? true : undefined;
  const { heldOtherwise: before, ...rest } = plan;
  if (plan.held === held && before === heldOtherwise) return plan;
  return { ...rest, held, ...(heldOtherwise && { heldOtherwise }) };
}

/**
 * Whether both are the same plan. A commit that was read after the judgement may have replaced it.
 */
export function isSamePlan(a: PendingPlan, b: PendingPlan): boolean {
  return a.commit === b.commit && a.tokens.join() === b.tokens.join();
}

/**
 * The approvals for a placement that are valid now. An approval covers the change that its commit
 * makes. It is valid until that change is published, but at most ten minutes after the commit was
 * applied. While another change is held because of the approval, it does not expire.
 */
export function currentApprovals(plans: readonly PendingPlan[], nowMs: number): ApprovedPlan | undefined {
  const valid = validPlans(plans, nowMs);
  if (valid.length === 0) return undefined;
  return { tokens: valid.flatMap(({ tokens: codes }) => codes), commit: valid.at(-1)?.commit };
}

/** Whether it is too early to say that the change differs from the plan. */
export function isPlanWaiting(plans: readonly PendingPlan[], nowMs: number): boolean {
  return validPlans(plans, nowMs).some((plan) => !plan.held && isSettling(plan, nowMs));
}

function isSettling({ followedAtMs }: PendingPlan, nowMs: number): boolean {
  return followedAtMs === undefined || Math.abs(nowMs - followedAtMs) < SETTLE_MS;
}

function validPlans(plans: readonly PendingPlan[], nowMs: number): readonly PendingPlan[] {
  return plans.filter(
    ({ followedAtMs, held }) =>
      held || followedAtMs === undefined || Math.abs(nowMs - followedAtMs) < APPROVAL_MS,
  );
}
