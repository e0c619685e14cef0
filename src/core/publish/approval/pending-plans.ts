import { type ApprovedPlan, newApprovals } from './approved-plans.ts';

/**
 * The hub changes after a commit is read, and decisions change after the hub. Until both are done,
 * a result does not reflect the commit. This is how long Berth waits for the decisions.
 */
const SETTLE_MS = 2_000;
/** How long an approval is valid after its commit was applied. */
const APPROVAL_MS = 600_000;

/** An approved plan of a commit whose change was neither made nor withdrawn. Plain JSON. */
export interface PendingPlan extends ApprovedPlan {
  /** When the commit was applied to the hub; undefined before that. */
  readonly followedAtMs: number | undefined;
  /** A different change was computed and is held. This hold does not expire. */
  readonly held: boolean;
  /**
   * The plan comes from a merged pull request. It is not in Git, so a later commit cannot withdraw
   * it.
   */
  readonly ofPullRequest?: true | undefined;
}

/** The plans of one source. Plain JSON. */
export interface SourcePlans {
  /** Tokens in the last commit that was read, by placement. */
  readonly seen: Readonly<Record<string, readonly string[]>>;
  /** Approved plans whose change was not made yet and that have not expired, by placement. */
  readonly pending: Readonly<Record<string, PendingPlan>>;
}

/**
 * The outcome of a plan. `met`: the approved change was made. `differs`: another change is held.
 * `none`: there is nothing to compare.
 */
export type PlanOutcome = 'met' | 'differs' | 'none';

/**
 * The plans of a source after Berth read this commit and before it applies the commit to the hub. A
 * plan that is no longer in Git is withdrawn. When a source is read for the first time, Berth
 * cannot know whether its annotations are new, so they approve nothing.
 * @param now the approvals in the objects, by placement
 * @param merged the plan tokens of the pull request that this commit merges, by placement; an
 * annotation has precedence
 */
export function plansAfterRead(
  before: SourcePlans | undefined,
  now: ReadonlyMap<string, readonly string[]>,
  commit: string | undefined,
  merged: ReadonlyMap<string, readonly string[]> = new Map(),
): SourcePlans {
  const pending = Object.entries(before?.pending ?? {}).flatMap(
    ([placement, plan]): [string, PendingPlan][] => {
      const left = planInGit(plan, now.get(placement));
      return left === undefined ? [] : [[placement, left]];
    },
  );
  for (const [placement, tokens] of merged)
    pending.push([placement, { tokens, commit, followedAtMs: undefined, held: false, ofPullRequest: true }]);
  const added = before === undefined ? [] : newApprovals(new Map(Object.entries(before.seen)), now);
  for (const [placement, tokens] of added)
    pending.push([placement, { tokens, commit, followedAtMs: undefined, held: false }]);
  return { seen: Object.fromEntries(now), pending: Object.fromEntries(pending) };
}

/** The plan without the tokens that left Git; undefined if none is left. */
function planInGit(plan: PendingPlan, inGit: readonly string[] = []): PendingPlan | undefined {
  if (plan.ofPullRequest === true) return plan;
  const tokens = plan.tokens.filter((token) => inGit.includes(token));
  if (tokens.length === plan.tokens.length) return plan;
  return tokens.length === 0 ? undefined : { ...plan, tokens };
}

/** Called when the commit that was read is applied to the hub, as far as possible. */
export function planAfterFollow(plan: PendingPlan, nowMs: number): PendingPlan {
  return plan.followedAtMs === undefined ? { ...plan, followedAtMs: nowMs } : plan;
}

/** The plan after a judgement; undefined if the plan is completed. */
export function planAfterJudgement(plan: PendingPlan, outcome: PlanOutcome): PendingPlan | undefined {
  if (outcome === 'met') return undefined;
  const held = outcome === 'differs';
  return plan.held === held ? plan : { ...plan, held };
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
  return { tokens: valid.flatMap(({ tokens }) => tokens), commit: valid.at(-1)?.commit };
}

/** Whether it is too early to say that the change differs from the plan. */
export function isPlanWaiting(plans: readonly PendingPlan[], nowMs: number): boolean {
  return validPlans(plans, nowMs).some(
    ({ followedAtMs, held }) =>
      !held && (followedAtMs === undefined || Math.abs(nowMs - followedAtMs) < SETTLE_MS),
  );
}

function validPlans(plans: readonly PendingPlan[], nowMs: number): readonly PendingPlan[] {
  return plans.filter(
    ({ followedAtMs, held }) =>
      held || followedAtMs === undefined || Math.abs(nowMs - followedAtMs) < APPROVAL_MS,
  );
}
