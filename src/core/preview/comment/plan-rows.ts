import { groupBy } from '@berth/runtime/lists/group-by';
import { formatCount, formatReason, groupTexts, spreadTexts } from '../plan-text.ts';
import type { ClusterMove, PlacementPlan, Plan, WorkloadPlan, CommentApproval } from '../plan.ts';
import { details, MAX_MOVES, names } from './comment-blocks.ts';
import { code, inElement, prose } from './foreign-text.ts';

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
export function planRows(
  { placements, workloads }: Plan,
  approvals: readonly CommentApproval[] = [],
): readonly PlanRow[] {
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
      risk: riskOf(plan, approvals.find(({ token }) => token === plan.token)?.by),
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

/** @param approvedBy the account that approved the held change */
function riskOf(plan: PlacementPlan, approvedBy: string | undefined): RowRisk | undefined {
  const { change, before, after, held, kept, added, removed } = plan;
  const [had, has] = [before?.selected ?? 0, after?.selected ?? 0];
  if (held !== undefined) {
    const approved = approvedBy === undefined ? '' : `, approved by ${approvedBy}`;
    return { level: 'danger', text: `held (${held.reason})${approved}` };
  }
  if (had > 0 && has === 0)
    return { level: 'danger', text: change === 'deleted' ? 'all clusters leave' : 'no cluster is left' };
  if (after?.outcome === 'misconfigured') return { level: 'danger', text: 'misconfigured' };
  if (after !== undefined && after.unscheduled > 0)
    return {
      level: 'warning',
      text: `${after.unscheduled} of ${has + after.unscheduled} clusters not found`,
    };
  if (removed.length > 0 && kept === 0) return { level: 'warning', text: 'every cluster changes' };
  if (removed.length > added.length)
    return { level: 'warning', text: `${formatCount(removed.length - added.length, 'cluster')} fewer` };
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

/** More placements than this share sections, so that the folded ones do not fill the page. */
const MAX_OWN_SECTIONS = 6;
/** The limits of a shared section, in characters and in placements. */
const [SECTION_LENGTH, SECTION_PLACEMENTS] = [8_000, 20] as const;

/** Why each placement changes, cluster by cluster, in the order of the rows. */
export function placementBlocks({ placements }: Plan, rows: readonly PlanRow[]): readonly string[] {
  const byKey = new Map(placements.map((one) => [`${one.namespace}/${one.name}`, one]));
  const reasons = rows.flatMap(({ placement }) => {
    const plan = byKey.get(placement);
    const text = plan === undefined ? '' : reasonsOf(plan);
    return text === '' ? [] : [{ placement, text }];
  });
  const sections =
    reasons.length <= MAX_OWN_SECTIONS ? reasons.map((reason) => [reason]) : sharedSections(reasons);
  return sections.map((section) => {
    const [first, ...others] = section;
    if (first === undefined) return '';
    const title = `${inElement(first.placement)}${others.length === 0 ? '' : ` and ${others.length} more`}: why`;
    return details(
      title,
      others.length === 0
        ? first.text
        : section.map(({ placement, text }) => `**${code(placement)}**\n\n${text}`).join('\n\n'),
    );
  });
}

interface PlacementReasons {
  readonly placement: string;
  readonly text: string;
}

function sharedSections(reasons: readonly PlacementReasons[]): readonly (readonly PlacementReasons[])[] {
  const sections: PlacementReasons[][] = [];
  let length = Infinity;
  for (const reason of reasons) {
    const last = sections.at(-1);
    if (
      last === undefined ||
      length + reason.text.length > SECTION_LENGTH ||
      last.length === SECTION_PLACEMENTS
    ) {
      sections.push([reason]);
      length = reason.text.length;
    } else {
      last.push(reason);
      length += reason.text.length;
    }
  }
  return sections;
}

function reasonsOf(plan: PlacementPlan): string {
  const { after, added, removed, regrouped, affectedBy } = plan;
  const edited =
    affectedBy.length === 0 ? [] : [`- nobody edited it; it changes because of ${names(affectedBy)}`];
  const lines = [
    ...edited,
    ...clusterLines(['leaves', 'leave'], removed),
    ...clusterLines(['joins', 'join'], added),
    ...(regrouped.length === 0 ? [] : [`- in another decision group: ${names(regrouped)}`]),
    ...[...groupTexts(plan), ...spreadTexts(plan)].map((text) => `- ${prose(text)}`),
    ...(after === undefined || after.message === '' ? [] : [`- ${prose(after.message)}`]),
  ];
  return lines.join('\n');
}

/** A line for each reason. Uses words, because a line that begins with a plus would become a nested list. */
function clusterLines(
  [one, several]: readonly [string, string],
  moves: readonly ClusterMove[],
): readonly string[] {
  const same = [...groupBy(moves, formatReason)];
  const lines = same.slice(0, MAX_MOVES).map(([why, alike]) => {
    const clusters = names(
      alike.map(({ cluster }) => cluster),
      MAX_MOVES,
    );
    return `- ${clusters} ${alike.length === 1 ? one : several}${why === '' ? '' : `: ${prose(why)}`}`;
  });
  const left = same.slice(MAX_MOVES).reduce((sum, [, alike]) => sum + alike.length, 0);
  return left === 0 ? lines : [...lines, `- … and ${formatCount(left, 'more cluster')}`];
}
