import type { KubeObject, Condition } from '@berth/kube/model/object-meta';
import type { Placement } from '@berth/ocm/kind/placement';
import { stateOfUid } from '../../core/publish/judge/publish-state.ts';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { sha256 } from '@berth/runtime/sha256';
import type { RemovalBudget } from '../../core/publish/judge/removal-budget.ts';
import type { SeenAtRestore } from '../../core/publish/machine/state/placement-event.ts';
import type { PassFacts } from '../../core/publish/machine/state/placement-state.ts';
import type { HubInventory } from '../inventory/hub-inventory.ts';
import type { DecisionReasons } from './decision-reasons.ts';
import type { DecisionSnapshots } from './decision-snapshots.ts';
import type { DecisionView } from './decision-view.ts';
import type { PlanApprovals } from './plan-approvals.ts';
import type { PublishStateStore } from './publish-state-store.ts';
import type { PreviousRecords } from './recorded-publications.ts';

export interface PassFactsOptions {
  readonly inventory: HubInventory;
  readonly view: DecisionView;
  readonly publishStates: PublishStateStore;
  readonly previousRecords: PreviousRecords;
  readonly snapshots: DecisionSnapshots;
  readonly budgetOf: (placement: Placement) => RemovalBudget;
  readonly approvals: Pick<PlanApprovals, 'pendingFor'>;
  readonly reasons?: Pick<DecisionReasons, 'of'> | undefined;
  /** See `PassFacts`. */
  readonly restoredTo: () => readonly string[];
  /**
   * Whether a source that another tool applies declares the placement.
   * @param key `namespace/name`
   */
  readonly isOfSource: (key: string) => boolean;
}

/** Reads the inputs of a pass over a placement. */
export class PassFactsReader {
  readonly #options: PassFactsOptions;

  constructor(options: PassFactsOptions) {
    this.#options = options;
  }

  /**
   * The placement as the watch shows it; undefined if it is deleted.
   * @param key `namespace/name`
   */
  placement(key: string): Placement | undefined {
    return this.#options.inventory.placements.store.get(key) as Placement | undefined;
  }

  /** @param result the newest one; undefined until the placement is scheduled */
  of(key: string, placement: Placement, result: ScheduleResult | undefined): PassFacts {
    const { inventory, publishStates, previousRecords, snapshots, budgetOf, approvals, reasons } =
      this.#options;
    const { pages, seenPage } = this.pagesSeen(key);
    // A literal without a spread: the engine makes it in one step.
    return {
      key,
      pages,
      seenPage,
      placement,
      result,
      remembered: stateOfUid(publishStates.get(key), placement.metadata.uid),
      records: previousRecords.of(key),
      budget: budgetOf(placement),
      inventoryProblem: inventory.problemFor(placement),
      worksProblem: inventory.worksProblem(),
      plans: approvals.pendingFor(key),
      restoredTo: this.#options.restoredTo(),
      isOfSource: this.#options.isOfSource(key),
      digest: sha256,
      snapshotConsistency: (ofLastCommit) => {
        if (result === undefined) return 'consistent';
        return ofLastCommit ? snapshots.consistencyInLastCommit(result) : snapshots.consistencyOf(result);
      },
      wasDecidedKnowing: (clusters) =>
        result === undefined || snapshots.listedClusters(key, result, clusters),
      reasonsOf: reasons && ((of) => reasons.of(of)),
      isReady: (cluster) => areWorksReady(inventory.worksOf(key, cluster)),
      lostClusters: (clusters) => (result === undefined ? [] : snapshots.lostClusters(result, clusters)),
    };
  }

  /** The pages as the watch shows them. */
  pages(key: string): readonly KubeObject[] {
    return this.#options.view.pagesOf(key);
  }

  /** A PlacementDecision in the namespace of the placement, as the watch shows it. */
  page(key: string, name: string): KubeObject | undefined {
    return this.#options.view.page(`${key.slice(0, key.indexOf('/'))}/${name}`);
  }

  /** What was visible of the placement when the hub was restored. */
  atRestore(key: string): SeenAtRestore['seen'] {
    const placement = this.placement(key);
    return placement && { ...this.pagesSeen(key), placement };
  }

  /** The facts about pages. */
  pagesSeen(key: string): Pick<PassFacts, 'key' | 'pages' | 'seenPage'> {
    return { key, pages: this.pages(key), seenPage: (name) => this.page(key, name) };
  }
}

/**
 * Whether a placement runs on a cluster. This is true if the namespace of the cluster contains at least one
 * ManifestWork of the placement, and each of them reports Available (or Healthy) for its current generation. Without a
 * work there is no evidence.
 * @param works the works of the placement on the cluster
 */
export function areWorksReady(works: readonly KubeObject[]): boolean {
  return works.length > 0 && works.every(reportsAvailable);
}

function reportsAvailable(work: KubeObject): boolean {
  const status = work['status'] as { conditions?: readonly Condition[] } | undefined;
  return (status?.conditions ?? []).some(
    ({ type, status: value, observedGeneration }) =>
      (type === 'Available' || type === 'Healthy') &&
      value === 'True' &&
      (observedGeneration === undefined || observedGeneration === work.metadata.generation),
  );
}
