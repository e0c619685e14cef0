import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Placement } from '@berth/ocm/kind/placement';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { decidePublication, type Publication } from '../../judge/decide-publication.ts';
import { decisionPageOf, listedClusters, publishedClusters } from '../../pages/decision-page.ts';
import { publishedPages } from '../../record/last-publication.ts';
import { currentApprovals } from '../../approval/pending-plans.ts';
import type { FinalPage } from '../../pages/plan-pages.ts';
import { currentPages, latestVersion } from '../state/own-writes.ts';
import type { PassFacts, PlacementState } from '../state/placement-state.ts';

/** Applies the rules of `decidePublication` to the result. */
export function decideFromFacts(
  facts: PassFacts,
  on: {
    readonly placement: Placement;
    readonly result: ScheduleResult;
    readonly published: readonly FinalPage[];
    readonly state: Pick<PlacementState, 'remembered'>;
  },
  nowMs: number,
): Publication {
  const { key, budget, inventoryProblem, worksProblem, isReady, reasonsOf, digest } = facts;
  return decidePublication({
    key,
    placement: on.placement,
    result: on.result,
    pages: on.published,
    state: on.state.remembered,
    budget,
    inventoryProblem,
    worksProblem,
    approved: currentApprovals(facts.plans, nowMs),
    isReady,
    reasonOf: reasonsOf?.(on.result),
    nowMs,
    digest,
  });
}

/** The placement with the status that the controller wrote last. */
export function withLatestStatus(state: Pick<PlacementState, 'status'>, { placement }: PassFacts): Placement {
  const now = latestVersion(state.status, placement as unknown as KubeObject);
  return (now as Placement | undefined) ?? placement;
}

/** The clusters that the pages would list if the result were published now. It changes no state. */
export function predictOutcome(
  state: PlacementState,
  facts: PassFacts,
  result: ScheduleResult,
  nowMs: number,
): readonly string[] {
  const placement = withLatestStatus(state, facts);
  const { uid } = result.placement.metadata;
  if (placement.metadata.uid !== uid) return result.selected;
  const pages = currentPages(state, facts).map((object) => decisionPageOf(object, uid));
  const published = publishedPages(pages, state.last?.uid === uid ? state.last : undefined);
  const on = { placement, result, published, state: { remembered: facts.remembered } };
  const { groups } = decideFromFacts(facts, on, nowMs);
  return groups === undefined ? publishedClusters(published) : [...new Set(listedClusters(groups))];
}
