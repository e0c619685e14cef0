import type { KubeObject } from '../../../model/object-meta.ts';
import type { Placement } from '../../../model/kind/placement.ts';
import type { ScheduleResult } from '../../../placement/result/schedule-result.ts';
import { decidePublication, type Publication } from '../../judge/decide-publication.ts';
import { decisionPageOf, listedClusters, publishedClusters } from '../../pages/decision-page.ts';
import { publishedPages } from '../../record/last-publication.ts';
import { approvedNow } from '../../approval/pending-plans.ts';
import type { SettledPage } from '../../pages/plan-pages.ts';
import { readThrough } from '../state/own-writes.ts';
import type { Facts } from '../state/placement-facts.ts';
import type { PlacementState } from '../state/placement-state.ts';
import { standingPages } from '../state/standing-pages.ts';

/** Applies the rules of `decidePublication` to the result. */
export function decideNow(
  facts: Facts,
  on: {
    readonly placement: Placement;
    readonly result: ScheduleResult;
    readonly published: readonly SettledPage[];
    readonly state: Pick<PlacementState, 'remembered'>;
  },
  nowMs: number,
): Publication {
  const { key, budget, inventoryProblem, worksProblem, isReady, digest } = facts;
  return decidePublication({
    key,
    placement: on.placement,
    result: on.result,
    pages: on.published,
    state: on.state.remembered,
    budget,
    inventoryProblem,
    worksProblem,
    approved: approvedNow(facts.plans, nowMs),
    isReady,
    nowMs,
    digest,
  });
}

/** The placement with the status that the controller wrote last. */
export function placementNow(state: Pick<PlacementState, 'status'>, { placement }: Facts): Placement {
  const now = readThrough(state.status, placement as unknown as KubeObject);
  return (now as Placement | undefined) ?? placement;
}

/** The clusters that publishing the result now would leave on the pages. Changes nothing. */
export function outcomeOf(
  state: PlacementState,
  facts: Facts,
  result: ScheduleResult,
  nowMs: number,
): readonly string[] {
  const placement = placementNow(state, facts);
  const { uid } = result.placement.metadata;
  if (placement.metadata.uid !== uid) return result.selected;
  const pages = standingPages(state, facts).map((object) => decisionPageOf(object, uid));
  const published = publishedPages(pages, state.last?.uid === uid ? state.last : undefined);
  const on = { placement, result, published, state: { remembered: facts.remembered } };
  const { groups } = decideNow(facts, on, nowMs);
  return groups === undefined ? publishedClusters(published) : [...new Set(listedClusters(groups))];
}
