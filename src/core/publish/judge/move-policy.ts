import { type DesiredGroup, type ListedPage, sameGroup } from '../pages/decision-page.ts';

export interface MoveInput {
  readonly pages: readonly ListedPage[];
  readonly desired: readonly DesiredGroup[];
  readonly removed: readonly string[];
  /**
   * Clusters that were not published before this move, or before the move that it replaced. Some
   * may no longer be wanted.
   */
  readonly arriving: readonly string[];
  /** Whether the work of the placement runs on the cluster (Available or Healthy). */
  readonly isReady: (cluster: string) => boolean;
  readonly startedAtMs: number;
  readonly deadlineMs: number;
  readonly nowMs: number;
  readonly aborted: boolean;
}

export type MoveStep =
  /** Every new cluster is ready: the decision is published. */
  | { readonly kind: 'complete' }
  /** Old and new clusters are published together until `untilMs`. */
  | {
      readonly kind: 'waiting';
      readonly groups: readonly DesiredGroup[];
      readonly notReady: readonly string[];
      readonly untilMs: number;
    }
  /** The deadline passed. Old and new clusters stay published until a person decides. */
  | {
      readonly kind: 'timed-out';
      readonly groups: readonly DesiredGroup[];
      readonly notReady: readonly string[];
    }
  /** Aborted: the old clusters stay, the new ones are removed. */
  | { readonly kind: 'aborted'; readonly groups: readonly DesiredGroup[] };

/**
 * Plans one step of a make-before-break move: a cluster is removed only when the new clusters are
 * ready.
 */
export function planMove(input: MoveInput): MoveStep {
  const wanted = new Set(input.desired.flatMap((group) => group.decisions.map((d) => d.clusterName)));
  const arriving = input.arriving.filter((cluster) => wanted.has(cluster));
  if (input.removed.length === 0 || arriving.length === 0) return { kind: 'complete' };
  if (input.aborted) return { kind: 'aborted', groups: withoutArrivals(withRemoved(input), input.arriving) };
  const notReady = arriving.filter((cluster) => !input.isReady(cluster));
  if (notReady.length === 0) return { kind: 'complete' };
  const groups = withRemoved(input);
  const untilMs = input.startedAtMs + input.deadlineMs;
  return input.nowMs >= untilMs
    ? { kind: 'timed-out', groups, notReady }
    : { kind: 'waiting', groups, notReady, untilMs };
}

/**
 * The wanted groups plus the clusters to remove. Each of these clusters goes to the group of its
 * page, or to the first group if that group no longer exists.
 */
function withRemoved({ pages, desired, removed }: MoveInput): readonly DesiredGroup[] {
  const extra = new Map<DesiredGroup, DesiredGroup['decisions'][number][]>();
  for (const cluster of removed) {
    const page = pages.find((candidate) => candidate.decisions.some((d) => d.clusterName === cluster));
    const group = desired.find((candidate) => sameGroup(candidate, page?.group)) ?? desired[0];
    if (group === undefined) continue;
    const decision = page?.decisions.find((d) => d.clusterName === cluster);
    if (decision !== undefined) extra.set(group, [...(extra.get(group) ?? []), decision]);
  }
  return desired.map((group) => ({ ...group, decisions: [...group.decisions, ...(extra.get(group) ?? [])] }));
}

function withoutArrivals(
  groups: readonly DesiredGroup[],
  arriving: readonly string[],
): readonly DesiredGroup[] {
  const excluded = new Set(arriving);
  return groups.map((group) => ({
    ...group,
    decisions: group.decisions.filter((decision) => !excluded.has(decision.clusterName)),
  }));
}
