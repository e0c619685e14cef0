import { formatRef } from '../model/object-ref.ts';
import { printableLines } from '../model/printable.ts';
import type { ClusterMove, ObjectChange, Plan, PlacementPlan, WorkloadPlan } from './plan.ts';
import {
  APPROVAL_TITLE,
  approvalAnnotation,
  planHeadline,
  lostFileText,
  formatNames,
  formatReason,
  formatSizes,
  workloadVerb,
} from './plan-text.ts';

const SIGN = { created: '+', deleted: '-', changed: '~', moved: '~' } as const;
const MAX_MOVES = 50;

/** The plan for a terminal. */
export function renderPlanText(plan: Plan): string {
  const lines = [
    `${endText(plan.base)} → ${endText(plan.head)}`,
    `${planHeadline(plan)}.`,
    ...section('Placements', plan.placements.flatMap(placementLines)),
    ...section('Workloads', plan.workloads.map(workloadLine)),
    ...section('Objects', plan.objects.map(objectLine)),
    ...section(
      'Deletions held',
      plan.deletionsHeld.map(({ source, message }) => `! source ${source}: ${message}`),
    ),
    ...section(
      'Files that lose their objects',
      plan.lostFiles.map((lost) => `! ${lostFileText(lost)}`),
    ),
    ...section(APPROVAL_TITLE, approvalAnnotation(plan)),
    ...section('Not evaluated', [...plan.notEvaluated]),
  ];
  return printableLines(lines);
}

function endText({ name, commit }: Plan['base']): string {
  return commit === undefined || commit.startsWith(name)
    ? name.slice(0, 40)
    : `${name} (${commit.slice(0, 8)})`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];
}

function placementLines(plan: PlacementPlan): string[] {
  const { namespace, name, change, definitionChanged, after, held } = plan;
  const own = change === 'changed' && definitionChanged ? ', definition changed' : '';
  const lines = [`${SIGN[change]} ${namespace}/${name}: ${formatSizes(plan)} clusters${own}`];
  for (const move of plan.added.slice(0, MAX_MOVES)) lines.push(`    + ${moveText(move)}`);
  for (const move of plan.removed.slice(0, MAX_MOVES)) lines.push(`    - ${moveText(move)}`);
  const hidden = Math.max(0, plan.added.length - MAX_MOVES) + Math.max(0, plan.removed.length - MAX_MOVES);
  if (hidden > 0) lines.push(`    … and ${hidden} more moves`);
  if (plan.regrouped.length > 0) lines.push(`    regrouped: ${formatNames(plan.regrouped)}`);
  if (after !== undefined && after.message !== '')
    lines.push(...after.message.split('\n').map((line) => `    ! ${line}`));
  if (held !== undefined) lines.push(`    ! held (${held.reason}): ${held.message}`);
  return lines;
}

function moveText(move: ClusterMove): string {
  const why = formatReason(move);
  return why === '' ? move.cluster : `${move.cluster}: ${why}`;
}

function workloadLine(plan: WorkloadPlan): string {
  const { kind, namespace, name, change, added, removed, kept } = plan;
  const where = [
    added.length > 0 ? `+ ${formatNames(added)}` : '',
    removed.length > 0 ? `- ${formatNames(removed)}` : '',
    kept > 0 ? `stays on ${kept}` : '',
  ].filter((part) => part !== '');
  return `${SIGN[change]} ${formatRef({ kind, namespace, name })} ${workloadVerb(plan)}: ${where.join('; ') || 'on no cluster'}`;
}

function objectLine({ change, ref, fields, held }: ObjectChange): string {
  const changed = fields.length === 0 ? '' : ` (${formatNames(fields, 5)})`;
  return `${SIGN[change]} ${formatRef(ref)}${changed}${held === true ? ' (held)' : ''}`;
}
