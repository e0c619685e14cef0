import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Condition, KubeObject } from '../../../core/model/object-meta.ts';
import { namespacedName } from '../../../core/model/object-ref.ts';
import type { Placement } from '../../../core/model/placement.ts';
import type { ScheduleResult } from '../../../core/placement/schedule-result.ts';
import { decidePublication, type Publication } from '../../../core/publish/decide-publication.ts';
import {
  type DecisionPage,
  decisionPageOf,
  listedClusters,
  publishedClusters,
} from '../../../core/publish/decision-page.ts';
import { heldCondition, type Hold, withReasons } from '../../../core/publish/judge-result.ts';
import {
  type LastPublication,
  planToStay,
  publishedPages,
  wasChanged,
} from '../../../core/publish/last-publication.ts';
import { planPages, type SettledPage } from '../../../core/publish/plan-pages.ts';
import { HELD_CONDITION } from '../../../core/publish/publish-annotations.ts';
import { DONE, type ReconcileOutcome } from '../../../runtime/reconciler.ts';
import { DisturbedPlacements } from './disturbed-placements.ts';
import { LastPublications } from './last-publications.ts';
import { PlacementsOfOthers } from './placements-of-others.ts';
import { type Making, PublicationKeeper } from './publication-keeper.ts';
import type { PublisherDependencies } from './publisher-dependencies.ts';
import { writePlacementStatus } from './write-placement-status.ts';

/** Asked for sooner when the commit is there; this is for commits that never get there. */
const HALF_COMMIT_RETRY_MS = 2_000;
/** It is decided again sooner; this is for decisions that fail. */
const REMAINS_RETRY_MS = 1_000;
/** While a commit may still make the change that it was approved for. */
const PLAN_RETRY_MS = 500;

/** Where a pass writes. */
interface Site {
  readonly key: string;
  readonly placement: Placement;
  /** The placement's pages on the hub, and the same as they are judged. */
  readonly objects: readonly KubeObject[];
  readonly pages: readonly DecisionPage[];
  readonly last: LastPublication | undefined;
  readonly published: readonly SettledPage[];
  /** Did others change which clusters the pages list? */
  readonly isChanged: boolean;
  /** Is this the name of a page that is not the placement's? */
  readonly isTaken: (page: string) => boolean;
}

/** One pass over one placement: judge the newest result, write pages in safe order, then one status patch. */
export class PlacementPublisher {
  readonly #deps: PublisherDependencies;
  /** Last hold told per placement: events tell changes, not passes. */
  readonly #told = new Map<string, string>();
  readonly #keeper: PublicationKeeper;
  readonly #last: LastPublications;
  readonly #disturbed: DisturbedPlacements;
  readonly #others: PlacementsOfOthers;

  constructor(deps: PublisherDependencies) {
    this.#deps = deps;
    this.#last = new LastPublications(deps);
    this.#disturbed = new DisturbedPlacements(deps);
    this.#keeper = new PublicationKeeper(deps, this.#last);
    this.#others = new PlacementsOfOthers(deps);
  }

  /**
   * The clusters that publishing the result now would leave on the pages.
   * @param key `namespace/name` of the placement
   */
  outcomeOf(key: string, result: ScheduleResult): readonly string[] {
    const placement = this.#deps.placements.get(key) as Placement | undefined;
    if (placement === undefined || placement.metadata.uid !== result.placement.metadata.uid)
      return result.selected;
    const pages = this.#deps.view
      .pagesOf(key)
      .map((object) => decisionPageOf(object, placement.metadata.uid));
    const published = publishedPages(pages, this.#last.known(key, placement));
    const { groups } = this.#decide(placement, result, published);
    return groups === undefined ? publishedClusters(published) : [...new Set(listedClusters(groups))];
  }

  /** @param key `namespace/name` of the placement */
  async reconcile(key: string): Promise<ReconcileOutcome> {
    const { placements, resultOf } = this.#deps;
    const placement = placements.get(key) as Placement | undefined;
    if (placement === undefined || placement.metadata.deletionTimestamp !== undefined) {
      this.#forget(key);
      return DONE;
    }
    const result = resultOf(key);
    const { uid } = placement.metadata;
    // Scheduled for another object of this name.
    if (result === undefined || result.placement.metadata.uid !== uid) return DONE;
    if (result.outcome === 'skipped') {
      this.#last.forget(key);
      this.#disturbed.forget(key);
      return this.#others.reconcile(key, placement);
    }
    this.#others.forget(key);
    return this.#publish(key, placement, result);
  }

  async #publish(key: string, placement: Placement, result: ScheduleResult): Promise<ReconcileOutcome> {
    const { approvals } = this.#deps;
    await this.#deps.recall?.(placement);
    const site = await this.#look(key, placement);
    const { published } = site;
    const problem = this.#deps.inventoryProblem(placement);
    if (problem === undefined) this.#keeper.find(key, result, published);
    const wanted = this.#decide(placement, result, published);
    const tooEarlyMs = this.#tooEarlyMs(site, result, wanted);
    if (tooEarlyMs > 0) {
      this.#deps.onSettled(key, site.isChanged ? await this.#stay(site) : published);
      return { kind: 'requeue', afterMs: tooEarlyMs };
    }
    let remembered: Promise<void> | undefined;
    let settled: readonly SettledPage[];
    if (wanted.groups === undefined) settled = await this.#stay(site);
    else {
      const { pages, isTaken } = site;
      const before = site.isChanged ? published : undefined;
      const plan = planPages(placement.metadata.name, pages, wanted.groups, { isTaken, before });
      const waitMs = this.#keeper.scoreWaitMs(key, placement, plan);
      if (waitMs > 0) return { kind: 'requeue', afterMs: waitMs };
      const making: Making = { placement, result, wanted, plan, published };
      await this.#keeper.during(key, making, () =>
        this.#deps.writer.carryOut(placement, site.objects, plan.actions),
      );
      this.#last.settled(key, placement, plan.pages);
      // The status is sent first: the hub works on it while the record is made.
      remembered = nextTurn().then(() => this.#keeper.done(key, making));
      settled = plan.pages;
    }
    // What only comes is no reason to wait for a person.
    if (wanted.hold === undefined) approvals.judged(key, wanted.approval === 'met' ? 'met' : 'none');
    else if (wanted.approval === 'differs') approvals.judged(key, 'differs');
    const hold =
      wanted.hold && withReasons(wanted.hold, (clusters) => this.#deps.lostBecause(result, clusters));
    // What was not decided on what there is says nothing of the placement.
    const said = problem === undefined ? result.conditions : [];
    await Promise.all([this.#writeStatus(placement, said, settled, hold), remembered]);
    this.#tellHold(key, hold);
    this.#deps.onSettled(key, settled);
    return wanted.againAfterMs === undefined
      ? DONE
      : { kind: 'requeue', afterMs: Math.max(1, wanted.againAfterMs) };
  }

  #decide(placement: Placement, result: ScheduleResult, pages: readonly SettledPage[]): Publication {
    const { memory, clock, digest, budgetOf, approvals, isReady, inventoryProblem, worksProblem } =
      this.#deps;
    const key = namespacedName(placement.metadata);
    return decidePublication({
      key,
      placement,
      result,
      pages,
      state: memory.get(key),
      budget: budgetOf(placement),
      inventoryProblem: inventoryProblem(placement),
      worksProblem: worksProblem(),
      approved: approvals.approvedFor(key),
      isReady: (cluster) => isReady(key, cluster),
      nowMs: clock.now(),
      digest,
    });
  }

  async #look(key: string, placement: Placement): Promise<Site> {
    const { writer, view } = this.#deps;
    const { namespace = '', name, uid } = placement.metadata;
    const objects = await writer.pagesOf(key, namespace, name);
    const pages = objects.map((object) => decisionPageOf(object, uid));
    const last = this.#last.of(key, placement, pages);
    const isChanged = wasChanged(pages, last);
    if (isChanged) this.#disturbed.saw(key);
    const isTaken = (page: string): boolean =>
      view.exists(`${namespace}/${page}`) && !pages.some((own) => own.name === page);
    const published = publishedPages(pages, last);
    return { key, placement, objects, pages, last, published, isChanged, isTaken };
  }

  /** How long the result has to wait before anything may come of it; 0: not at all. */
  #tooEarlyMs({ key, published }: Site, result: ScheduleResult, wanted: Publication): number {
    const { isOfOneCommit, approvals } = this.#deps;
    // Also where nothing is published yet: a set or a binding that leaves with the commit is there until its end.
    if (movesClusters(wanted) && !isOfOneCommit(key, result)) return HALF_COMMIT_RETRY_MS;
    if (movesClusters(wanted) && this.#disturbed.isOfRemains(key, result, publishedClusters(published)))
      return REMAINS_RETRY_MS;
    // Half of a commit on the hub makes something else of it.
    return wanted.approval === 'differs' && approvals.isWaiting(key) ? PLAN_RETRY_MS : 0;
  }

  /** No new result: what is published stays, or is put back where others took from it. */
  async #stay(site: Site): Promise<readonly SettledPage[]> {
    const { key, placement, objects, pages, last, isTaken } = site;
    const plan = planToStay(placement.metadata.name, pages, last, isTaken);
    if (last !== undefined && plan.actions.length > 0)
      this.#deps.log.warn('others changed what is published, it is put back', {
        placement: key,
        pages: [...new Set(plan.actions.map(({ page }) => page))],
      });
    await this.#deps.writer.carryOut(placement, objects, plan.actions);
    // A page that nobody remembers and that says nothing of its group: nothing is known of it.
    const isKnown = last !== undefined && last.leaving === undefined;
    if (isKnown || pages.every(({ group }) => group !== undefined))
      this.#last.settled(key, placement, plan.pages);
    return plan.pages;
  }

  async #writeStatus(
    placement: Placement,
    said: readonly Condition[],
    pages: readonly SettledPage[],
    hold: Hold | undefined,
  ): Promise<void> {
    const existing = placement.status?.conditions?.find((condition) => condition.type === HELD_CONDITION);
    const held = heldCondition(hold, existing);
    const conditions: Condition[] = held === undefined ? [...said] : [...said, held];
    await writePlacementStatus(this.#deps, placement, { pages, conditions });
  }

  #tellHold(key: string, hold: Hold | undefined): void {
    const text = hold === undefined ? undefined : `${hold.reason} ${hold.token}`;
    if (this.#told.get(key) === text) return;
    if (hold === undefined || text === undefined) {
      this.#told.delete(key);
      return;
    }
    this.#told.set(key, text);
    const { reason, message, token } = hold;
    this.#deps.emit({ kind: 'held', placement: key, reason, message, token });
  }

  #forget(key: string): void {
    this.#keeper.forget(key);
    this.#last.forget(key);
    this.#disturbed.forget(key);
    this.#told.delete(key);
    this.#others.forget(key);
    this.#deps.onSettled(key, []);
  }
}

function movesClusters(wanted: Publication): boolean {
  const { added, removed } = wanted.hold ?? wanted;
  return added.length + removed.length > 0;
}
