import { groupBy } from '@berth/runtime/lists/group-by';
import { formatCount, formatReason } from '../plan-text.ts';
import type { ClusterMove, PlacementPlan, Plan, WorkloadPlan } from '../plan.ts';

/** One line of the table of a preview: a placement and its change. */
export interface PlanRow {
  /** `namespace/name` of the placement. */
  readonly placement: string;
  /** The workloads that use the placement and change with it. */
  readonly workloads: readonly Pick<WorkloadPlan, 'kind' | 'namespace' | 'name'>[];
  readonly plan: PlacementPlan;
  readonly why: string;
  readonly risk: RowRisk | undefined;
}

export interface RowRisk {
  readonly level: 'danger' | 'warning';
  readonly text: string;
}

/**
 * The rows of a plan, the most dangerous first. Rows of equal risk are sorted by the number of lost clusters, then by
 * name.
 */
export function planRows({ placements, workloads }: Plan): readonly PlanRow[] {
  const followers = new Map<string, WorkloadPlan[]>();
  for (const workload of workloads)
    for (const placement of workload.placements)
      followers.set(placement, [...(followers.get(placement) ?? []), workload]);
  const rows = placements.map((plan): PlanRow => {
    const placement = `${plan.namespace}/${plan.name}`;
    return {
      placement,
      workloads: followers.get(placement) ?? [],
      plan,
      why: whyOf(plan),
      risk: riskOf(plan),
    };
  });
  return rows.toSorted(
    (a, b) =>
      rank(a) - rank(b) ||
      b.plan.removed.length - a.plan.removed.length ||
      (a.placement < b.placement ? -1 : 1),
  );
}

function rank({ risk }: PlanRow): number {
  return risk === undefined ? 2 : risk.level === 'danger' ? 0 : 1;
}

function riskOf({ change, before, after, held, kept, added, removed }: PlacementPlan): RowRisk | undefined {
  const [had, has] = [before?.selected ?? 0, after?.selected ?? 0];
  if (held !== undefined) return { level: 'danger', text: `held: ${held.reason}` };
  if (had > 0 && has === 0)
    return { level: 'danger', text: change === 'deleted' ? 'all clusters leave' : 'no cluster is left' };
  if (after?.outcome === 'misconfigured') return { level: 'danger', text: 'misconfigured' };
  if (after !== undefined && after.unscheduled > 0)
    return { level: 'warning', text: `${after.unscheduled} of ${has + after.unscheduled} not found` };
  if (removed.length > 0 && kept === 0) return { level: 'warning', text: 'every cluster changes' };
  if (removed.length > added.length)
    return { level: 'warning', text: `${removed.length - added.length} fewer` };
  return undefined;
}

/** What is wrong, or why clusters are removed, or else why they are added; the most frequent reason if there are several. */
function whyOf({ added, removed, change, definitionChanged, after }: PlacementPlan): string {
  if (after?.outcome === 'misconfigured' && after.message !== '') return after.message;
  // Of a cluster that joins, the scheduler's rank is no reason that a reader could check.
  const reason = commonReason(removed) ?? commonReason(added.filter(({ why }) => why !== undefined));
  if (reason !== undefined) return reason;
  if (change === 'created') return 'the placement is new';
  if (change === 'deleted') return 'the placement is deleted';
  return definitionChanged ? 'its definition changes' : '';
}

/** The most frequent reason. One that is said of several clusters alike counts them: `3 clusters are drained`. */
function commonReason(moves: readonly ClusterMove[]): string | undefined {
  const same = groupBy(
    moves.filter((move) => formatReason(move) !== ''),
    formatReason,
  );
  const [most] = [...same].toSorted(([, a], [, b]) => b.length - a.length);
  if (most === undefined) return undefined;
  const [text, [first, ...others]] = most;
  const reason = others.length === 0 ? (first?.why ?? text) : ofSeveral(text, others.length + 1);
  return same.size === 1 ? reason : `${reason}, and ${formatCount(same.size - 1, 'more reason')}`;
}

/** @param text as beside the name of one cluster */
function ofSeveral(text: string, count: number): string {
  if (text === 'new cluster') return `${count} new clusters`;
  const plural = text.replace(/^it (is|has) /, (_it, verb) => (verb === 'is' ? 'are ' : 'have '));
  return plural === text ? text : `${count} clusters ${plural}`;
}
