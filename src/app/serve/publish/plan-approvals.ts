import type { KubeObject } from '../../../core/model/object-meta.ts';
import type { SourceObject } from '../../../core/model/source-object.ts';
import type { Clock } from '../../../core/ports.ts';
import { type ApprovedPlan, approvedPlans } from '../../../core/publish/approved-plans.ts';

/** Decisions follow the hub, which follows the commit: until both had time, a result is not what the commit makes of it. */
const REST_MS = 2_000;
/** What happens later than this has other reasons than the commit. */
const WINDOW_MS = 600_000;

interface PendingPlan extends ApprovedPlan {
  /** When the hub was made to follow the commit; undefined before. */
  readonly followedAtMs: number | undefined;
  /** Something else would happen, and is held: that does not pass by waiting. */
  readonly held: boolean;
}

/** Of one source. Plain JSON. */
export interface SourcePlans {
  /** Tokens of the commit that was read last, per placement. */
  readonly seen: Readonly<Record<string, readonly string[]>>;
  /** Approvals that came with a commit, and were neither met nor too long ago. */
  readonly pending: Readonly<Record<string, PendingPlan>>;
}

export interface PlansStore {
  get(source: string): SourcePlans | undefined;
  set(source: string, plans: SourcePlans): void;
}

/**
 * Which plans the commits that are being followed were approved with. An approval counts for the change that its commit makes, not for ever: from
 * the commit that brings it until it is met, at most ten minutes, except while something else is held because of it. One that goes from Git is
 * withdrawn. What a source says when it is read the very first time is not known to be new, and approves nothing.
 */
export class PlanApprovals {
  readonly #store: PlansStore;
  readonly #clock: Clock;
  readonly #sources: readonly string[];
  /** By source: placements of which the commit that is on its way to the hub withdraws or replaces an approval. */
  readonly #withdrawn = new Map<string, ReadonlySet<string>>();
  readonly #listeners = new Set<(placement: string) => void>();

  constructor(store: PlansStore, clock: Clock, sources: readonly string[]) {
    this.#store = store;
    this.#clock = clock;
    this.#sources = sources;
  }

  /** The source was read at this commit; nothing of it is on the hub yet. */
  read(source: string, commit: string | undefined, objects: readonly SourceObject<KubeObject>[]): void {
    const now = approvedPlans(objects.map(({ object }) => object));
    const before = this.#store.get(source);
    const seen = Object.fromEntries(now);
    const pending = Object.entries(before?.pending ?? {}).filter(([placement]) => now.has(placement));
    const fresh = [...now].filter(
      ([placement, tokens]) =>
        before !== undefined && tokens.join() !== (before.seen[placement] ?? []).join(),
    );
    for (const [placement, tokens] of fresh)
      pending.push([placement, { tokens, commit, followedAtMs: undefined, held: false }]);
    const isReplaced = ([placement, { tokens }]: [string, PendingPlan]): boolean =>
      tokens.join() !== (now.get(placement) ?? []).join();
    const gone = Object.entries(before?.pending ?? {}).filter(isReplaced);
    this.#withdrawn.set(
      source,
      new Set([...(this.#withdrawn.get(source) ?? []), ...gone.map(([placement]) => placement)]),
    );
    const plans = { seen, pending: Object.fromEntries(pending) };
    if (JSON.stringify(plans) !== JSON.stringify(before)) this.#store.set(source, plans);
  }

  /** The hub was made to follow what was read, as far as that was possible. */
  followed(source: string): void {
    this.#update(source, (plan) =>
      plan.followedAtMs === undefined ? { ...plan, followedAtMs: this.#clock.now() } : plan,
    );
    const withdrawn = this.#withdrawn.get(source) ?? [];
    this.#withdrawn.delete(source);
    for (const placement of withdrawn) for (const listener of this.#listeners) listener(placement);
  }

  /** Called with a placement (`namespace/name`) when the hub follows a commit that withdraws or replaces its approval: what it held may happen. */
  onWithdrawn(listener: (placement: string) => void): void {
    this.#listeners.add(listener);
  }

  /** @param placement `namespace/name` */
  approvedFor(placement: string): ApprovedPlan | undefined {
    const plans = this.#pending(placement);
    if (plans.length === 0) return undefined;
    return { tokens: plans.flatMap(({ tokens }) => tokens), commit: plans.at(-1)?.commit };
  }

  /** It is too early to say that something else would happen. */
  isWaiting(placement: string): boolean {
    const now = this.#clock.now();
    return this.#pending(placement).some(
      ({ followedAtMs, held }) =>
        !held && (followedAtMs === undefined || Math.abs(now - followedAtMs) < REST_MS),
    );
  }

  /** What came of it: the change was made, or another one is held, or there is nothing to compare. */
  judged(placement: string, outcome: 'met' | 'differs' | 'none'): void {
    const held = outcome === 'differs';
    for (const source of this.#sources)
      this.#update(source, (plan, key) => {
        if (key !== placement) return plan;
        if (outcome === 'met') return undefined;
        return plan.held === held ? plan : { ...plan, held };
      });
  }

  #pending(placement: string): readonly PendingPlan[] {
    const now = this.#clock.now();
    return this.#sources
      .flatMap((source) => this.#store.get(source)?.pending[placement] ?? [])
      .filter(
        ({ followedAtMs, held }) =>
          held || followedAtMs === undefined || Math.abs(now - followedAtMs) < WINDOW_MS,
      );
  }

  #update(source: string, change: (plan: PendingPlan, placement: string) => PendingPlan | undefined): void {
    const plans = this.#store.get(source);
    if (plans === undefined) return;
    const before = Object.entries(plans.pending);
    const after = before.flatMap(([placement, plan]) => {
      const next = change(plan, placement);
      return next === undefined ? [] : [[placement, next] as const];
    });
    if (after.length === before.length && after.every(([, plan], at) => plan === before[at]?.[1])) return;
    this.#store.set(source, { ...plans, pending: Object.fromEntries(after) });
  }
}
