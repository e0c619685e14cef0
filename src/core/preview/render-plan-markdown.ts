import { formatRef } from '../model/object-ref.ts';
import type { ClusterMove, Plan, PlacementPlan, WorkloadPlan } from './plan.ts';
import {
  APPROVAL_TITLE,
  approvalAnnotation,
  planHeadline,
  lostFileText,
  formatNames,
  formatReason,
  formatClusterDelta,
  formatSizes,
  workloadVerb,
} from './plan-text.ts';

export interface MarkdownOptions {
  /** Forges refuse longer comments (GitHub: 65,536 characters). */
  readonly maxLength?: number | undefined;
}

const DEFAULT_MAX_LENGTH = 60_000;
const MAX_MOVES = 20;

/**
 * The plan as a comment on a pull request: the verdict first, a table, then details to open. What does not fit is left out
 * whole, block by block, and the comment says so: a table or fence is never cut in the middle.
 */
export function renderPlanMarkdown(plan: Plan, options: MarkdownOptions = {}): string {
  const maxLength = options.maxLength ?? DEFAULT_MAX_LENGTH;
  const head = [`### Placement plan: ${escapeText(planHeadline(plan))}`, ...heldBlocks(plan), ...table(plan)];
  const tail = footer(plan);
  const details = [
    ...plan.placements.map(placementDetails),
    ...workloadBlocks(plan),
    ...objectBlocks(plan),
    ...approvalBlocks(plan),
    ...noteBlocks(plan),
  ];
  let text = head.join('\n\n');
  let omitted = 0;
  for (const block of details) {
    if (text.length + block.length + tail.length + 200 > maxLength) omitted++;
    else text += `\n\n${block}`;
  }
  if (omitted > 0)
    text += `\n\n_${omitted} more sections do not fit in a comment: run \`berth plan\` to see them._`;
  return `${text}\n\n${tail}\n`;
}

function heldBlocks(plan: Plan): string[] {
  const decisions = plan.placements.flatMap(({ namespace, name, held }) =>
    held === undefined
      ? []
      : [`> **${code(`${namespace}/${name}`)} would be held** (${held.reason}): ${escapeText(held.message)}`],
  );
  const deletions = plan.deletionsHeld.map(
    ({ source, message }) =>
      `> **Deletions of source ${code(source)} would be held**: ${escapeText(message)}`,
  );
  const files = plan.lostFiles.map((lost) => `> **File lost**: ${escapeText(lostFileText(lost))}`);
  return [...decisions, ...deletions, ...files];
}

function table(plan: Plan): string[] {
  if (plan.placements.length === 0) return [];
  const shown = plan.placements.slice(0, 100);
  const rows = shown.map(({ namespace, name, change, added, removed, ...rest }) => {
    const moves =
      added.length + removed.length === 0 ? '–' : formatClusterDelta(added.length, removed.length);
    const row = [
      code(`${namespace}/${name}`),
      change,
      formatSizes({ namespace, name, change, added, removed, ...rest }),
      moves,
    ];
    return `| ${row.join(' | ')} |`;
  });
  const left = plan.placements.length - shown.length;
  if (left > 0) rows.push(`| … and ${left} more | | | |`);
  return [['| Placement | Change | Clusters | Moves |', '|---|---|---|---|', ...rows].join('\n')];
}

function placementDetails(plan: PlacementPlan): string {
  const { namespace, name, after, added, removed, regrouped } = plan;
  const lines = [
    ...moveItems('+', added),
    ...moveItems('−', removed),
    ...(regrouped.length === 0 ? [] : [`- regrouped: ${escapeText(formatNames(regrouped))}`]),
    ...(after === undefined || after.message === ''
      ? []
      : [`- ${escapeText(after.message.replace(/\s+/g, ' '))}`]),
    `- plan token: ${code(plan.token)}`,
  ];
  return details(`${code(`${namespace}/${name}`)}: why`, lines.join('\n'));
}

function moveItems(sign: string, moves: readonly ClusterMove[]): string[] {
  const items = moves.slice(0, MAX_MOVES).map((move) => {
    const why = formatReason(move);
    return `- ${sign} ${code(move.cluster)}${why === '' ? '' : `: ${escapeText(why)}`}`;
  });
  if (moves.length > MAX_MOVES) items.push(`- ${sign} ${moves.length - MAX_MOVES} more`);
  return items;
}

function workloadBlocks(plan: Plan): string[] {
  if (plan.workloads.length === 0) return [];
  const items = plan.workloads.slice(0, 200).map(workloadItem);
  return [details(`Workloads (${plan.workloads.length})`, items.join('\n'))];
}

function workloadItem(plan: WorkloadPlan): string {
  const { kind, namespace, name, added, removed, kept } = plan;
  const where = [
    added.length > 0 ? `+ ${formatNames(added, 10)}` : '',
    removed.length > 0 ? `− ${formatNames(removed, 10)}` : '',
    kept > 0 ? `stays on ${kept}` : '',
  ].filter((part) => part !== '');
  return `- ${code(formatRef({ kind, namespace, name }))} ${workloadVerb(plan)}: ${escapeText(where.join('; ') || 'on no cluster')}`;
}

function objectBlocks(plan: Plan): string[] {
  if (plan.objects.length === 0) return [];
  const items = plan.objects.slice(0, 200).map(({ change, ref, fields, held }) => {
    const what = fields.length === 0 ? '' : `: ${fields.slice(0, 5).map(code).join(', ')}`;
    return `- ${change} ${code(formatRef(ref))}${what}${held === true ? ' (held)' : ''}`;
  });
  if (plan.objects.length > 200) items.push(`- … and ${plan.objects.length - 200} more`);
  return [details(`Changed objects (${plan.objects.length})`, items.join('\n'))];
}

function approvalBlocks(plan: Plan): string[] {
  return approvalAnnotation(plan).map((annotation) => details(APPROVAL_TITLE, code(annotation)));
}

function noteBlocks(plan: Plan): string[] {
  return plan.notEvaluated.length === 0
    ? []
    : [details('Not evaluated', plan.notEvaluated.map((note) => `- ${escapeText(note)}`).join('\n'))];
}

function details(summary: string, body: string): string {
  return `<details><summary>${summary.replaceAll('`', '')}</summary>\n\n${body}\n\n</details>`;
}

function footer({ base, head, now }: Plan): string {
  const end = ({ name, commit }: Plan['base']): string => code(commit?.slice(0, 12) ?? name);
  return `<sub>${end(base)} → ${end(head)}, as of ${now}</sub>`;
}

/** Text of others inside Markdown: no mark-up, no mentions, no links, no HTML. */
function escapeText(text: string): string {
  return text
    .replace(/[\u0000-\u001f\u007f]+/g, ' ')
    .replace(/[&<>]/g, (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[char] ?? char)
    .replace(/[\\`*_{}[\]()#|~!]/g, '\\$&')
    .replaceAll('@', '@\u200b')
    .replaceAll('://', ':\u200b//');
}

/** Inline code; what would end it is taken out. */
function code(text: string): string {
  return `\`${text.replace(/[`|\u0000-\u001f\u007f<>]/g, ' ')}\``;
}
