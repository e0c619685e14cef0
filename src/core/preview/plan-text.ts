import { formatRef } from '@berth/kube/model/object-ref';
import { PLAN_ANNOTATION } from '../publish/approval/publish-annotations.ts';
import { changedWorkloads } from './content-changes.ts';
import { beside } from './plain-reasons.ts';
import type { LostFile } from './lost-file.ts';
import type { FieldChange, RolloutForecast } from './effects/plan-effects.ts';
import {
  type ClusterMove,
  type ObjectChange,
  type PlacementMove,
  type Plan,
  type PlacementPlan,
  type PlacementSide,
  type WaitingChange,
  type WorkloadPlan,
} from './plan.ts';
import type { FindingCode, PlanFinding, RuleResult } from './plan-verdict.ts';

/** `stopped`: a rule of the base denies it, or a part of it would be held. */
export function planOutcome(plan: Plan): 'none' | 'changes' | 'stopped' {
  if (!plan.hasChanges) return 'none';
  const isHeld =
    plan.deletionsHeld.length + plan.addOnsHeld.length > 0 ||
    plan.placements.some(({ held }) => held !== undefined);
  if (isHeld || brokenRules(plan).some(denies)) return 'stopped';
  return 'changes';
}

/** Rules of the base that the plan breaks, or that cannot be evaluated. */
export function brokenRules({ rules }: Plan): readonly RuleResult[] {
  return (rules?.base ?? []).filter(({ outcome }) => outcome !== 'kept');
}

/** Whether a broken rule stops the change. */
export function denies({ effect, overridden }: RuleResult): boolean {
  return effect === 'deny' && overridden === undefined;
}

/** The findings, without those that every view shows in a separate part: holds, budgets, deletions and lost files. */
export function otherFindings({ findings }: Plan): readonly PlanFinding[] {
  return findings.filter(({ code }) => !SHOWN_SEPARATELY.includes(code));
}

const SHOWN_SEPARATELY: readonly FindingCode[] = [
  'held',
  'removals-over-budget',
  'deletions-held',
  'file-lost',
];

/** `denied by rule few-removals (rules of the base; ask @platform): …` */
export function ruleText(rule: RuleResult): string {
  const { overridden } = rule;
  if (overridden !== undefined)
    return `overridden by ${overridden.by} (${overridden.reason}): rule ${rule.name}: ${rule.message}`;
  return `${rule.effect === 'deny' ? 'denied by' : 'warning of'} rule ${rule.name}: ${ruleMessage(rule)}`;
}

/** What the rule says, and whom to ask. */
export function ruleMessage({ message, owners }: RuleResult): string {
  return owners.length === 0 ? message : `${message} (ask ${owners.join(', ')})`;
}

/** The note about rules that the change itself edits; '' if it edits none. */
export function changedRulesText({ rules, base }: Plan): string {
  if (rules === undefined || !rules.changed) return '';
  const broken = rules.head.filter(({ outcome }) => outcome !== 'kept').map(({ name }) => name);
  const then =
    broken.length === 0
      ? 'keep all of the new ones'
      : `break these of the new ones: ${formatNames(broken, 10)}`;
  return `The change edits the guard rules. It is judged by those of ${base.name}. It would ${then}.`;
}

/** `2026-03-01 12:00:00 UTC`; a time that is written otherwise stays as it is. */
export function formatMoment(now: string): string {
  const [, day, time] = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:\.\d+)?Z$/.exec(now) ?? [];
  return day === undefined || time === undefined ? now : `${day} ${time} UTC`;
}

/** `1m30s`, `2h`: a duration for people; '0s' for none. */
export function formatDuration(durationMs: number): string {
  const seconds = Math.ceil(durationMs / 1000);
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor((seconds % 3600) / 60), 'm'],
    [seconds % 60, 's'],
  ] as const;
  const shown = parts.filter(([number]) => number > 0).map(([number, unit]) => `${number}${unit}`);
  return shown.length === 0 ? '0s' : shown.join('');
}

/** `moves on in 3 batches, at least 20m: 1 cluster (c1), then …` */
export function rolloutText(forecast: RolloutForecast): string {
  const { strategy, waves, moreWaves, shortestMs, deadlineMs, problem } = forecast;
  if (problem !== undefined) return `cannot roll out: ${problem}`;
  const shown = waves.slice(0, 5).map(({ clusters }) => formatNames(clusters, 5));
  const left = waves.length - shown.length + moreWaves;
  const more = left === 0 ? '' : ` → … ${formatCount(left, 'more batch', 'more batches')}`;
  const late =
    deadlineMs === undefined
      ? ''
      : `; a cluster that has not succeeded after ${formatDuration(deadlineMs)} counts as failed (progressDeadline)`;
  const time = shortestMs === 0 ? '' : `, at least ${formatDuration(shortestMs)}`;
  return `${strategy}, ${formatCount(waves.length + moreWaves, 'batch', 'batches')}${time}: ${shown.join(' → ')}${more}${late}`;
}

/** `cluster1 → cluster2: tainted maintenance (ManagedCluster cluster1), 10 points more` */
export function moveText(move: PlacementMove): string {
  const { from, to, because, causes, why: plain } = move;
  const why = formatReason({ cluster: from, because, causes, why: plain });
  return `${from} → ${to}${why === '' ? '' : `: ${why}`}${marginText(move)}`;
}

/** `, 10 points more`; '' if the difference is unknown or zero. */
export function marginText({ margin }: PlacementMove): string {
  if (margin === undefined || margin === 0) return '';
  return `, ${Math.abs(margin)} points ${margin > 0 ? 'more' : 'less'}`;
}

/** Rollouts that are worth a line. A rollout to all clusters at once is the default and is not listed. */
export function staggeredRollouts({ rollouts }: Pick<Plan, 'rollouts'>): readonly RolloutForecast[] {
  return rollouts.filter(({ strategy, problem }) => strategy !== 'All' || problem !== undefined);
}

/** `spec.image: "a" → "b"`. For a secret value, only that it changes. */
export function fieldText({ path, before, after, secret }: FieldChange): string {
  if (secret === true) return `${path} (secret)`;
  if (before === undefined && after === undefined) return path;
  return `${path}: ${before ?? 'none'} → ${after ?? 'none'}`;
}

/** What the sign of the change does not say: what happens to an object that leaves Git, or that the hub has already. */
export function objectNote({ held, because, isOnHub }: ObjectChange): string {
  if (isOnHub === true) return ' (already on the hub)';
  if (because !== undefined) return ` leaves Git and stays on the hub: it ${because}`;
  return held === true ? ' (held)' : '';
}

/** A plan says this first: without clusters it would otherwise read as if nothing moves. */
export const NO_CLUSTER_IS_KNOWN =
  'No cluster is known, so no placement selects any in this plan. Clusters that are not in Git need --hub or --inventory.';

/**
 * `2 placements would change: +1 −1 clusters`, the first line of every view.
 * @param open how many changes of placements would be held and are not approved
 */
export function planHeadline(plan: Plan, open = plan.summary.held): string {
  if (!plan.hasChanges) return 'No changes';
  const { summary } = plan;
  const contents = changedWorkloads(plan);
  const content = `changed content of ${formatCount(contents.length, 'workload')}`;
  if (summary.placementsChanged === 0) {
    if (contents.length > 0) {
      const clusters = new Set(contents.flatMap(({ changedOn }) => changedOn)).size;
      return `No cluster moves; ${content} on ${formatCount(clusters, 'cluster')}`;
    }
    const applications = plan.applications.reduce((sum, set) => sum + set.applications.length, 0);
    const parts = [
      ...(plan.objects.length === 0 ? [] : [formatCount(plan.objects.length, 'object')]),
      ...(applications === 0 ? [] : [formatCount(applications, 'Application')]),
    ];
    return `No placement changes${parts.length === 0 ? '' : `; ${parts.join(' and ')} would change`}`;
  }
  const none = plan.fleet.length === 0 ? 'no cluster is known' : 'no cluster moves';
  const moves =
    summary.added + summary.removed === 0 ? none : formatClusterDelta(summary.added, summary.removed);
  const held = open === 0 ? '' : `; ${open} would be held`;
  const more = contents.length === 0 ? '' : `; ${content}`;
  return `${formatCount(summary.placementsChanged, 'placement')} would change: ${moves}${more}${held}`;
}

const MAX_WAITING = 5;
const HOLDS: readonly WaitingChange['kind'][] = ['hold', 'deletions', 'add-on-held'];

/** `Waiting on main: 1 hold (team-a/web: 1 → 0 clusters, WouldEmpty)`; '' if nothing waits. */
export function waitingText({ waiting, base, head, whatIf }: Plan): string {
  if (waiting.length === 0) return '';
  const holds = waiting.filter(({ kind }) => HOLDS.includes(kind)).length;
  const due = waiting.length - holds;
  const what = [
    ...(holds === 0 ? [] : [formatCount(holds, 'hold')]),
    ...(due === 0 ? [] : [`${formatCount(due, 'change')} that the hub has not followed yet`]),
  ];
  const branch = base.name === base.commit ? base.name.slice(0, 12) : base.name;
  const listed = waiting.slice(0, MAX_WAITING).map(waitingItem).join('; ');
  const more = waiting.length > MAX_WAITING ? `; and ${waiting.length - MAX_WAITING} more` : '';
  const where = whatIf.length > 0 && base.commit === head.commit ? 'Waiting already' : `Waiting on ${branch}`;
  const isChanged = waiting.some((one) => one.kind === 'hold' && one.isChanged === true);
  return `${where}: ${what.join(' and ')} (${listed}${more}). Nothing ${isChanged ? 'else of' : 'about'} it changes.`;
}

function waitingItem(change: WaitingChange): string {
  switch (change.kind) {
    case 'hold':
    case 'change': {
      const { subject, from, to, reason, isChanged } = change;
      const why = reason === undefined ? '' : `, ${reason}`;
      const further = isChanged === true ? ', which changes, too' : '';
      return `${subject}: ${from} → ${formatCount(to, 'cluster')}${why}${further}`;
    }
    case 'deletions':
      return `deletions of source ${change.subject}`;
    case 'deletion':
      return `${change.subject} is deleted`;
    case 'add-on-held':
      return `add-on ${change.subject} stays on ${formatNames(change.clusters, 5)}`;
    case 'add-on':
      return `add-on ${change.subject}: ${formatClusterDelta(change.added.length, change.removed.length)}`;
  }
}

/** `+1 −2 clusters` */
export function formatClusterDelta(added: number, removed: number): string {
  const parts = [added > 0 ? `+${added}` : '', removed > 0 ? `−${removed}` : ''].filter(
    (part) => part !== '',
  );
  return `${parts.join(' ')} ${added + removed === 1 ? 'cluster' : 'clusters'}`;
}

export function formatCount(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`;
}

/** `1 → 2 clusters` */
export function formatSizes({ before, after }: PlacementPlan): string {
  const text = (side: PlacementSide | undefined): string =>
    side === undefined ? 'none' : String(side.selected);
  return `${text(before)} → ${text(after)}`;
}

/** `group canary: 1 → 2 clusters`, for each group that is added, removed or changes its size. */
export function groupTexts({ before, after }: PlacementPlan): readonly string[] {
  if (before === undefined || after === undefined) return [];
  const sizes = new Map<string, [old: number, now: number]>();
  for (const [at, side] of [before, after].entries())
    for (const { name, clusters } of side.groups) {
      const both = sizes.get(name) ?? [0, 0];
      both[at] = (both[at] ?? 0) + clusters;
      sizes.set(name, both);
    }
  // One group without a name is the whole placement.
  if (sizes.size === 1 && sizes.has('')) return [];
  return [...sizes].flatMap(([name, [old, now]]) =>
    old === now
      ? []
      : [`group ${name === '' ? 'of the others' : name}: ${old} → ${formatCount(now, 'cluster')}`],
  );
}

/** `spread over region: skew 1 → 3, at most 1 wanted`, for each constraint whose result changes. */
export function spreadTexts({ before, after }: PlacementPlan): readonly string[] {
  return (after?.spread ?? []).flatMap(({ constraint, skew }, at) => {
    const old = before?.spread[at]?.skew;
    if (old === skew) return [];
    const wanted = constraint.maxSkew ?? 1;
    const from = old === undefined ? '' : `${old} → `;
    return [`spread over ${constraint.topologyKey}: skew ${from}${skew}, at most ${wanted} wanted`];
  });
}

/** `tainted maintenance (ManagedCluster cluster1)` */
export function formatReason({ cluster, because, causes, why }: ClusterMove): string {
  if (why !== undefined) return beside(cluster, why);
  const behind = causes.length === 0 ? '' : ` (${causes.join(', ')})`;
  return `${because}${behind}`.trim();
}

/** `moves`, `is created`: the change of a workload. */
export function workloadVerb({ change, added, removed }: WorkloadPlan): string {
  switch (change) {
    case 'created':
      return 'is created';
    case 'deleted':
      return 'is deleted';
    case 'changed':
      return 'changes';
    case 'moved':
      if (removed.length === 0) return 'is added on clusters';
      return added.length === 0 ? 'is removed from clusters' : 'moves';
  }
}

const MAX_NAMES = 20;

/** The first names, and the number of the others. */
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
  return `${what}, so ${formatCount(objects.length, 'object')} ${leave} source ${source}: ${formatNames(objects.map(formatRef), 5)}`;
}

/** The annotation that binds the merge to this plan, as the only item; empty if no cluster is removed. */
export function approvalAnnotation({ placements }: Plan): readonly string[] {
  const entries = placements
    .filter(({ change, removed }) => change === 'changed' && removed.length > 0)
    .map(({ namespace, name, token: code }) => `${namespace}/${name}=${code}`);
  return entries.length === 0 ? [] : [`${PLAN_ANNOTATION}: "${entries.join(', ')}"`];
}

/** The title of the annotation. Of all holds it approves only `DiffersFromPlan`, though a release has the same code. */
export function approvalTitle({ placements }: Plan): string {
  const isHeld = placements.some(({ held }) => held !== undefined && held.reason !== 'DiffersFromPlan');
  return `Annotation that binds the merge to this plan${isHeld ? ` (it approves no hold)` : ''}`;
}
