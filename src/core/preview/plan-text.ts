import { formatRef } from '../model/object-ref.ts';
import { PLAN_ANNOTATION } from '../publish/approval/publish-annotations.ts';
import type { LostFile } from './lost-file.ts';
import type { ClusterMove, Plan, PlacementPlan, PlacementSide, WorkloadPlan } from './plan.ts';

/** `2 of 3 placements change: +1 −1 clusters`, the first line of every view. */
export function planHeadline(plan: Plan): string {
  if (!plan.hasChanges) return 'No changes';
  const { summary } = plan;
  if (summary.placementsChanged === 0)
    return `No placement changes; ${formatCount(plan.objects.length, 'object')} would be updated`;
  const moves =
    summary.added + summary.removed === 0
      ? 'no cluster moves'
      : formatClusterDelta(summary.added, summary.removed);
  const held = summary.held === 0 ? '' : `; ${summary.held} would be held`;
  return `${formatCount(summary.placementsChanged, 'placement')} would change: ${moves}${held}`;
}

/** `+1 −2 clusters` */
export function formatClusterDelta(added: number, removed: number): string {
  const parts = [added > 0 ? `+${added}` : '', removed > 0 ? `−${removed}` : ''].filter(
    (part) => part !== '',
  );
  return `${parts.join(' ')} ${added + removed === 1 ? 'cluster' : 'clusters'}`;
}

export function formatCount(number: number, noun: string): string {
  return number === 1 ? `1 ${noun}` : `${number} ${noun}s`;
}

/** `1 → 2 clusters` */
export function formatSizes({ before, after }: PlacementPlan): string {
  const text = (side: PlacementSide | undefined): string =>
    side === undefined ? 'none' : String(side.selected);
  return `${text(before)} → ${text(after)}`;
}

/** `tainted maintenance (ManagedCluster cluster1)` */
export function formatReason({ because, causes }: ClusterMove): string {
  const behind = causes.length === 0 ? '' : ` (${causes.join(', ')})`;
  return `${because}${behind}`.trim();
}

/** `moves`, `is created`: what happens to a workload. */
export function workloadVerb({ change }: WorkloadPlan): string {
  switch (change) {
    case 'created':
      return 'is created';
    case 'deleted':
      return 'is deleted';
    case 'changed':
      return 'changes';
    case 'moved':
      return 'moves';
  }
}

const MAX_NAMES = 20;

/** The first names and how many more. */
export function formatNames(list: readonly string[], limit = MAX_NAMES): string {
  const shown = list.slice(0, limit).join(', ');
  return list.length > limit ? `${shown} and ${list.length - limit} more` : shown;
}

/** `web.yaml declares nothing any more: 2 objects leave source fleet: …`. */
export function lostFileText({ source, file, change, movedTo, objects }: LostFile): string {
  const what =
    change === 'emptied'
      ? `${file} declares nothing any more`
      : `${file} is now ${movedTo ?? file}, which source ${source} does not select`;
  const leave = objects.length === 1 ? 'leaves' : 'leave';
  return `${what}: ${formatCount(objects.length, 'object')} ${leave} source ${source}: ${formatNames(objects.map(formatRef), 5)}`;
}

/** The annotation that holds the merge to this plan; none when no cluster would go. */
export function approvalAnnotation({ placements }: Plan): readonly string[] {
  const entries = placements
    .filter(({ change, removed }) => change === 'changed' && removed.length > 0)
    .map(({ namespace, name, token }) => `${namespace}/${name}=${token}`);
  return entries.length === 0 ? [] : [`${PLAN_ANNOTATION}: "${entries.join(', ')}"`];
}

/** Above it. */
export const APPROVAL_TITLE = 'To be held to this plan, put on an object of the change';
