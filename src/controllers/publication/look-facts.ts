import { sha256 } from '../../runtime/sha256.ts';
import type { KubeObject } from '../../core/model/object-meta.ts';
import type { Placement } from '../../core/model/kind/placement.ts';
import type { ScheduleResult } from '../../core/placement/result/schedule-result.ts';
import type { Facts } from '../../core/publish/machine/state/placement-facts.ts';
import type { SeenAtRestore } from '../../core/publish/machine/state/placement-event.ts';
import type { RemovalBudget } from '../../core/publish/judge/removal-budget.ts';
import type { HubInventory } from '../inventory/hub-inventory.ts';
import type { DecidedWorlds } from './decided-worlds.ts';
import type { DecisionView } from './decision-view.ts';
import type { PastPublications } from './past-publications.ts';
import type { PlanApprovals } from './plan-approvals.ts';
import type { PublishMemory } from './publish-memory.ts';
import { isWorkReady } from './work-readiness.ts';

export interface LookFactsOptions {
  readonly inventory: HubInventory;
  readonly view: DecisionView;
  readonly memory: PublishMemory;
  readonly past: PastPublications;
  readonly worlds: DecidedWorlds;
  readonly budgetOf: (placement: Placement) => RemovalBudget;
  readonly approvals: Pick<PlanApprovals, 'pendingFor'>;
  readonly isHubRestored: () => boolean;
}

/** Reads the inputs of a pass over a placement. */
export class LookFacts {
  readonly #options: LookFactsOptions;

  constructor(options: LookFactsOptions) {
    this.#options = options;
  }

  /** As the watch shows it; undefined when it is gone. @param key `namespace/name` */
  placement(key: string): Placement | undefined {
    return this.#options.inventory.placements.store.get(key) as Placement | undefined;
  }

  /** @param result the newest one; undefined while the placement was not scheduled */
  of(key: string, placement: Placement, result: ScheduleResult | undefined): Facts {
    const { inventory, memory, past, worlds, budgetOf, approvals, isHubRestored } = this.#options;
    return {
      ...this.pagesSeen(key),
      placement,
      result,
      remembered: memory.get(key),
      records: past.of(key),
      budget: budgetOf(placement),
      inventoryProblem: inventory.problemFor(placement),
      worksProblem: inventory.worksProblem(),
      plans: approvals.pendingFor(key),
      isHubRestored: isHubRestored(),
      digest: sha256,
      worldAge: () => (result === undefined ? 'whole' : worlds.ageOf(result)),
      wasDecidedKnowing: (clusters) => result === undefined || worlds.knew(key, result, clusters),
      isReady: (cluster) => isWorkReady(inventory.works.store, key, cluster),
      lostBecause: (clusters) => (result === undefined ? [] : worlds.lostBecause(result, clusters)),
    };
  }

  /** As the watch shows them. */
  pages(key: string): readonly KubeObject[] {
    return this.#options.view.pagesOf(key);
  }

  /** A PlacementDecision in the namespace of the placement, as the watch shows it. */
  page(key: string, name: string): KubeObject | undefined {
    return this.#options.view.page(`${key.slice(0, key.indexOf('/'))}/${name}`);
  }

  /** The state of the placement that is visible when the hub was restored. */
  atRestore(key: string): SeenAtRestore['seen'] {
    const placement = this.placement(key);
    return placement && { ...this.pagesSeen(key), placement };
  }

  /** The part of the facts that is about pages. */
  pagesSeen(key: string): Pick<Facts, 'key' | 'pages' | 'seenPage'> {
    return { key, pages: this.pages(key), seenPage: (name) => this.page(key, name) };
  }
}
