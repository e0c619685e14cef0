import type { CommitInfo } from '@berth/git-reader/repository/git-repository';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { Clock } from '@berth/runtime/clock/clock';
import { approvedPlans } from '../../core/publish/approval/approved-plans.ts';
import {
  isSamePlan,
  type PendingPlan,
  planAfterFollow,
  planAfterJudgement,
  type PlanOutcome,
  plansAfterRead,
  type SourcePlans,
} from '../../core/publish/approval/pending-plans.ts';

/** Stores the plans of each source, by its name. */
export interface PlanApprovalStore {
  get(source: string): SourcePlans | undefined;
  set(source: string, plans: SourcePlans): void;
  /** Sets the plans, and resolves when they are on the disk. Absent: they are only in memory. */
  persist?(source: string, plans: SourcePlans): Promise<void>;
}

type ReadCommit = Pick<CommitInfo, 'id' | 'tree'>;

/**
 * Finds the plan of the pull request whose merge left this tree, as approval codes by `namespace/name`.
 * Undefined if there is none, or if merges of the source are not held to their plans.
 */
export type FindMergedPlan = (
  source: string,
  tree: string,
) => ReadonlyMap<string, readonly string[]> | undefined;

/**
 * Stores the approved plans of the followed commits; see `core/publish/approval/pending-plans.ts`.
 */
export class PlanApprovals {
  readonly #store: PlanApprovalStore;
  readonly #clock: Clock;
  readonly #sources: readonly string[];
  /**
   * By source and placement: the plans that a commit withdraws or replaces while it is being
   * applied. Until the hub follows that commit, earlier decisions are judged by the withdrawn plan.
   */
  readonly #withdrawn = new Map<string, ReadonlyMap<string, PendingPlan>>();
  readonly #listeners = new Set<(placement: string) => void>();
  #revision = 0;
  #findMergedPlan: FindMergedPlan = () => undefined;

  constructor(store: PlanApprovalStore, clock: Clock, sources: readonly string[]) {
    this.#store = store;
    this.#clock = clock;
    this.#sources = sources;
  }

  /**
   * Increases when a commit with a new, replaced or withdrawn approval is read, and when the hub
   * follows one that replaces or withdraws an approval. Earlier results may then be judged
   * differently.
   */
  get revision(): number {
    return this.#revision;
  }

  /** Sets the function that finds the plan with which a commit was merged. Before that, no commit has one. */
  findMergedPlansWith(find: FindMergedPlan): void {
    this.#findMergedPlan = find;
  }

  /**
   * The source was read at this commit. Nothing of it is on the hub yet.
   * @returns after the first read: resolves when the next process knows that approvals which come later are new
   */
  read(
    source: string,
    commit: ReadCommit | undefined,
    objects: readonly SourceObject<KubeObject>[],
  ): Promise<void> | undefined {
    const before = this.#store.get(source);
    const now = approvedPlans(objects.map(({ object }) => object));
    // Commits before the first read were merged before Berth followed the source.
    const merged = before && commit && this.#findMergedPlan(source, commit.tree);
    const others = this.#sources.flatMap((name) => (name === source ? [] : (this.#store.get(name) ?? [])));
    const nowMs = this.#clock.now();
    const plans = plansAfterRead(before, now, { commit: commit?.id, nowMs, merged, others });
    const gone = Object.entries(before?.pending ?? {}).filter(
      ([placement, { tokens: codes, ofPullRequest }]) =>
        ofPullRequest !== true && codes.join() !== (now.get(placement) ?? []).join(),
    );
    const earlier = this.#withdrawn.get(source) ?? [];
    this.#withdrawn.set(source, new Map([...gone, ...earlier]));
    if (JSON.stringify(plans) === JSON.stringify(before)) return undefined;
    this.#revision += 1;
    this.#store.set(source, plans);
    // If the disk fails, the store reports it and writes later.
    return before === undefined ? this.#store.persist?.(source, plans).catch(() => undefined) : undefined;
  }

  /** The hub follows the commit that was read, as far as possible. */
  followed(source: string): void {
    const nowMs = this.#clock.now();
    const placements = Object.keys(this.#store.get(source)?.pending ?? {});
    this.#update(source, placements, (plan) => planAfterFollow(plan, nowMs));
    const withdrawn = [...(this.#withdrawn.get(source)?.keys() ?? [])];
    this.#withdrawn.delete(source);
    if (withdrawn.length > 0) this.#revision += 1;
    for (const placement of withdrawn) for (const listener of this.#listeners) listener(placement);
  }

  /**
   * Called with a placement (`namespace/name`) when the hub follows a commit that withdraws or
   * replaces its approval.
   */
  onWithdrawn(listener: (placement: string) => void): void {
    this.#listeners.add(listener);
  }

  /** @param placement `namespace/name` */
  pendingFor(placement: string): readonly PendingPlan[] {
    return this.#sources.flatMap(
      (source) =>
        this.#store.get(source)?.pending[placement] ?? this.#withdrawn.get(source)?.get(placement) ?? [],
    );
  }

  /** Sets the outcome of these plans for the placement. Plans that were read after them are not affected. */
  judged(placement: string, plans: readonly PendingPlan[], outcome: PlanOutcome): void {
    for (const source of this.#sources)
      this.#update(source, [placement], (plan) =>
        plans.some((judged) => isSamePlan(judged, plan)) ? planAfterJudgement(plan, outcome) : plan,
      );
  }

  #update(
    source: string,
    placements: readonly string[],
    change: (plan: PendingPlan) => PendingPlan | undefined,
  ): void {
    const plans = this.#store.get(source);
    if (plans === undefined) return;
    const changed = placements.flatMap((placement) => {
      const plan = plans.pending[placement];
      const next = plan && change(plan);
      return plan === next ? [] : [[placement, next] as const];
    });
    if (changed.length === 0) return;
    const pending = Object.entries({ ...plans.pending, ...Object.fromEntries(changed) });
    const left = pending.filter((entry): entry is [string, PendingPlan] => entry[1] !== undefined);
    this.#store.set(source, { ...plans, pending: Object.fromEntries(left) });
  }
}
