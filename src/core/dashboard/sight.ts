import { isInSet, membershipOf } from '@berth/placement/filter/eligibility';
import type { DecisionTable } from '@berth/placement/explain/text/decision-table';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { Plan } from '../preview/plan.ts';
import type { ReportedPlan } from '../preview/report/report-page.ts';

/** What a viewer of the dashboard may see. The hub says it (`controllers/dashboard/viewers.ts`). */
export interface Sight {
  /** The namespaces whose placements the viewer may `get`. `all`: every one. */
  readonly namespaces: 'all' | ReadonlySet<string>;
  /** Whether the viewer may `list` ManagedClusters. */
  readonly allClusters: boolean;
}

export function seesNamespace({ namespaces }: Sight, namespace: string): boolean {
  return namespaces === 'all' || namespaces.has(namespace);
}

/** Whether nothing is hidden. */
export function seesAll({ namespaces, allClusters }: Sight): boolean {
  return allClusters && namespaces === 'all';
}

/**
 * The clusters that the viewer may see: all, or those in the sets that are bound to one of his namespaces. His placements can
 * select no others.
 */
export function visibleClusters(
  { clusters, clusterSets, bindings }: Pick<Snapshot, 'clusters' | 'clusterSets' | 'bindings'>,
  sight: Sight,
): (cluster: string) => boolean {
  if (sight.allClusters) return () => true;
  const bound = new Set(
    bindings
      .filter(({ metadata }) => seesNamespace(sight, metadata.namespace ?? ''))
      .map(({ spec }) => spec?.clusterSet),
  );
  const sets = clusterSets.filter(({ metadata }) => bound.has(metadata.name)).map(membershipOf);
  const seen = new Set(
    clusters
      .filter((cluster) => sets.some((set) => isInSet(cluster, set)))
      .map(({ metadata }) => metadata.name),
  );
  return (cluster) => seen.has(cluster);
}

/** The table without the names of clusters that the viewer may not see. Their number stays. */
export function visibleTable(table: DecisionTable, isVisible: (cluster: string) => boolean): DecisionTable {
  return {
    ...table,
    refused: table.refused.map((gate) => ({
      ...gate,
      reasons: gate.reasons.map((reason) => {
        const clusters = reason.clusters.filter(isVisible);
        // The advice names the first cluster.
        const flipsIf = clusters.length === reason.clusters.length ? reason.flipsIf : '';
        return { ...reason, clusters, leaving: reason.leaving.filter(isVisible), flipsIf };
      }),
    })),
  };
}

/** What the screen of a change shows. Plain JSON. */
export interface ChangeView extends ReportedPlan {
  /** Some of it is not for the viewer, so no verdict follows from the rest. */
  readonly isPart?: true;
}

/** @returns undefined if there is nothing in it that the viewer may see */
export function visibleChange(
  report: ReportedPlan,
  sight: Sight,
  hub: Parameters<typeof visibleClusters>[0],
): ChangeView | undefined {
  if (seesAll(sight)) return report;
  const { subject, pullRequest, outcome, merged } = report;
  // The message of a plan that failed, and problems of files, are for those who may read everything.
  if (outcome.kind === 'unplanned') return undefined;
  const plan = visiblePlan(outcome.plan, sight, visibleClusters(hub, sight));
  return {
    ...{ subject, pullRequest, isPart: true, approvals: report.approvals },
    outcome: { ...outcome, plan, problems: [] },
    // What it did names placements of others.
    merged: merged && { ...merged, text: '' },
  };
}

/** Of a plan, what is about the placements that the viewer may see. What does not name a placement is left out. */
export function visiblePlan(plan: Plan, sight: Sight, isVisible: (cluster: string) => boolean): Plan {
  if (seesAll(sight)) return plan;
  const isOwn = ({ namespace }: { readonly namespace: string }): boolean => seesNamespace(sight, namespace);
  const { rules: _rules, token: _token, ...rest } = plan;
  const placements = plan.placements.filter(isOwn);
  const total = (side: 'added' | 'removed'): number =>
    placements.reduce((sum, one) => sum + one[side].length, 0);
  return {
    ...rest,
    hasChanges: placements.length > 0,
    summary: {
      ...plan.summary,
      placements: placements.length,
      placementsChanged: placements.length,
      clusters: plan.fleet.filter(({ name }) => isVisible(name)).length,
      added: total('added'),
      removed: total('removed'),
      held: placements.filter(({ held }) => held !== undefined).length,
    },
    placements,
    later: plan.later.filter(isOwn),
    clusters: plan.clusters.filter(({ name }) => isVisible(name)).map((one) => ({ ...one, labels: {} })),
    fleet: plan.fleet.filter(({ name }) => isVisible(name)),
    decisions: plan.decisions
      .filter(({ placement }) => isOwn(placement))
      .map((table) => visibleTable(table, isVisible)),
    waiting: plan.waiting.filter(
      ({ kind, subject }) =>
        /^(hold|change)$/.test(kind) && seesNamespace(sight, subject.replace(/\/.*/, '')),
    ),
    ...{ workloads: [], objects: [], deletionsHeld: [], addOnsHeld: [], lostFiles: [] },
    ...{ applications: [], rollouts: [], findings: [] },
    notEvaluated: ['This is the part of the plan that is about the namespaces that you may read.'],
  };
}
