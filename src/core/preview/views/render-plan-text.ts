import { formatRef, namespacedName } from '@berth/kube/model/object-ref';
import { printableLines } from '@berth/runtime/text/printable';
import type { ApplicationSetPlan, ManifestChange, RolloutForecast } from '../effects/plan-effects.ts';
import type { ClusterMove, ObjectChange, Plan, PlacementPlan, PlannedHold, WorkloadPlan } from '../plan.ts';
import { contentChanges } from '../content-changes.ts';
import type { PlanFinding } from '../plan-verdict.ts';
import { approvalEffect } from '../placement-words.ts';
import { releaseCommand } from '../../publish/judge/judge-result.ts';
import {
  approvalTitle,
  approvalAnnotation,
  brokenRules,
  changedRulesText,
  fieldText,
  objectNote,
  formatCount,
  marginText,
  NO_CLUSTER_IS_KNOWN,
  staggeredRollouts,
  planHeadline,
  planOutcome,
  rolloutText,
  ruleText,
  lostFileText,
  formatNames,
  formatReason,
  formatSizes,
  groupTexts,
  spreadTexts,
  waitingText,
  workloadVerb,
} from '../plan-text.ts';
import { LATER_TITLE, laterTexts } from '../later/later-texts.ts';

const SIGN = { created: '+', deleted: '-', changed: '~', moved: '~', withdrawn: '~' } as const;
const MAX_MOVES = 50;
/** The whole changes follow below. */
const MAX_VALUES = 20;

/**
 * The plan for a terminal, risks first.
 * @param colour whether the text is for `writePainted`
 */
export function renderPlanText(plan: Plan, colour = false): string {
  const lines = [
    `${endText(plan.base)} → ${endText(plan.head)}`,
    ...plan.whatIf.map((assumption) => `  what if ${assumption}`),
    ...plan.notEvaluated.filter((note) => note === NO_CLUSTER_IS_KNOWN).map((note) => `! ${note}`),
    `${planHeadline(plan)}.`,
    ...(planOutcome(plan) === 'stopped' ? ['! A rule or a hold stops this change. Details follow.'] : []),
    ...(plan.waiting.length === 0 ? [] : [waitingText(plan)]),
    ...section('Values', valueLines(plan)),
    ...section('Rules', ruleLines(plan)),
    ...section(
      'Risks',
      plan.findings.slice(0, MAX_LINES).map((finding) => riskLine(plan, finding)),
    ),
    ...section('Placements', plan.placements.flatMap(placementLines)),
    ...section(LATER_TITLE, laterTexts(plan)),
    ...section('Workloads', plan.workloads.flatMap(workloadLines)),
    ...section('Applications', plan.applications.flatMap(applicationLines)),
    ...section('Rollouts', staggeredRollouts(plan).map(rolloutLine)),
    ...section('Objects', plan.objects.map(objectLine)),
    ...section(
      'Deletions held',
      plan.deletionsHeld.map(({ source, message }) => `! source ${source}: ${message}`),
    ),
    ...section(
      'Add-ons held',
      plan.addOnsHeld.map(({ addOn, message }) => `! add-on ${addOn}: ${message}`),
    ),
    ...section(
      'Files that lose their objects',
      plan.lostFiles.map((lost) => `! ${lostFileText(lost)}`),
    ),
    ...section(approvalTitle(plan), approvalAnnotation(plan)),
    ...section(
      'Not evaluated',
      plan.notEvaluated.filter((note) => note !== NO_CLUSTER_IS_KNOWN),
    ),
    ...(plan.token === undefined ? [] : ['', `Plan digest: ${plan.token.token}`]),
  ];
  const text = printableLines(lines);
  return colour ? painted(text) : text;
}

const MAX_LINES = 100;
const PAINT = { '+': '\u001b[32m', '-': '\u001b[31m', '!': '\u001b[33m' } as const;

/** The sign at the beginning of a line determines its colour. */
function painted(text: string): string {
  return text.replace(
    /^( *)([-+!]) (.*)$/gm,
    (_line, indent: string, sign: keyof typeof PAINT, rest: string) =>
      `${indent}${PAINT[sign]}${sign} ${rest}\u001b[0m`,
  );
}

function ruleLines(plan: Plan): string[] {
  const changed = changedRulesText(plan);
  const broken = brokenRules(plan).map((rule) => `${rule.effect === 'deny' ? '!' : '-'} ${ruleText(rule)}`);
  const kept = (plan.rules?.base ?? []).filter(({ outcome }) => outcome === 'kept').length;
  if (broken.length === 0 && changed === '') return [];
  return [
    ...broken,
    ...(kept === 0 ? [] : [`${formatCount(kept, 'rule')} kept`]),
    ...(changed === '' ? [] : [changed]),
  ];
}

function endText({ name, commit }: Plan['base']): string {
  return commit === undefined || commit.startsWith(name)
    ? name.slice(0, 40)
    : `${name} (${commit.slice(0, 8)})`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];
}

function valueLines(plan: Plan): readonly string[] {
  const lines = contentChanges(plan).map(({ subject, text }) => `${subject}: ${text}`);
  const left = lines.length - MAX_VALUES;
  return left <= 0 ? lines : [...lines.slice(0, MAX_VALUES), `… and ${formatCount(left, 'more line')}`];
}

function placementLines(plan: PlacementPlan): string[] {
  const { namespace, name, change, definitionChanged, after, held, affectedBy } = plan;
  const own = change === 'changed' && definitionChanged ? ', definition changed' : '';
  const lines = [`${SIGN[change]} ${namespace}/${name}: ${formatSizes(plan)} clusters${own}`];
  if (affectedBy.length > 0) lines.push(`    not edited; changes because of ${formatNames(affectedBy, 5)}`);
  for (const move of plan.added.slice(0, MAX_MOVES)) lines.push(`    + ${clusterText(move)}`);
  for (const move of plan.removed.slice(0, MAX_MOVES)) lines.push(`    - ${clusterText(move)}`);
  const hidden = Math.max(0, plan.added.length - MAX_MOVES) + Math.max(0, plan.removed.length - MAX_MOVES);
  if (hidden > 0) lines.push(`    … and ${hidden} more moves`);
  for (const move of plan.moves.slice(0, MAX_MOVES))
    lines.push(`    moved: ${move.from} → ${move.to}${marginText(move)}`);
  if (plan.regrouped.length > 0) lines.push(`    regrouped: ${formatNames(plan.regrouped)}`);
  lines.push(...[...groupTexts(plan), ...spreadTexts(plan)].map((text) => `    ${text}`));
  if (after !== undefined && after.message !== '')
    lines.push(...after.message.split('\n').map((line) => `    ! ${line}`));
  if (plan.approvedBy !== undefined) lines.push(`    approved by ${plan.approvedBy}: "${plan.token}"`);
  if (held !== undefined)
    lines.push(
      ...heldLines(plan, held).map((line) => `    ${line}`),
      `    approving ${approvalEffect(plan, `${namespace}/${name}`, (names) => formatNames(names, 5))}`,
    );
  return lines;
}

/** The command that approves it is on a line of its own, so that it can be copied. */
function heldLines(plan: PlacementPlan, { reason, message }: PlannedHold): string[] {
  const command = releaseCommand(plan, plan.token);
  if (!message.endsWith(` ${command}`)) return [`! held (${reason}): ${message}`];
  return [`! held (${reason}): ${message.slice(0, -command.length - 1)}`, `    ${command}`];
}

/** A hold is shown in full with its placement. */
function riskLine(plan: Plan, { severity, code, subject, message }: PlanFinding): string {
  const held = HOLD_CODES.includes(code)
    ? plan.placements.find((placement) => subject === `Placement ${namespacedName(placement)}`)?.held
    : undefined;
  const text = held === undefined ? message : `Would be held (${held.reason}): see Placements.`;
  return `${severity === 'danger' ? '!' : '-'} ${subject}: ${text}`;
}

const HOLD_CODES: readonly PlanFinding['code'][] = ['held', 'removals-over-budget'];

function clusterText(move: ClusterMove): string {
  const why = formatReason(move);
  return why === '' ? move.cluster : `${move.cluster}: ${why}`;
}

function workloadLines(plan: WorkloadPlan): string[] {
  const { kind, namespace, name, change, added, removed, kept, changedOn, manifests } = plan;
  const where = [
    added.length > 0 ? `+ ${formatNames(added)}` : '',
    removed.length > 0 ? `- ${formatNames(removed)}` : '',
    kept > 0 ? `stays on ${kept}` : '',
  ].filter((part) => part !== '');
  const ref = formatRef({ kind, namespace, name });
  const on = changedOn.length === 0 ? [] : [`    other content on ${formatNames(changedOn, 10)}:`];
  return [
    `${SIGN[change]} ${ref} ${workloadVerb(plan)}: ${where.join('; ') || 'on no cluster'}`,
    ...on,
    ...manifests.slice(0, MAX_LINES).flatMap(manifestLines),
  ];
}

function manifestLines({ change, ref, fields }: ManifestChange): string[] {
  return [
    `      ${SIGN[change]} ${formatRef(ref)}`,
    ...fields.map((field) => `          ${fieldText(field)}`),
  ];
}

function applicationLines(set: ApplicationSetPlan): string[] {
  const { namespace, name, applications, kept, failure, notRendered, preserves, change } = set;
  const title = `${change === 'unchanged' ? '~' : SIGN[change]} ApplicationSet ${namespace}/${name}`;
  if (notRendered !== undefined) return [`${title}: not rendered`];
  if (failure !== undefined)
    return [`${title}: fails, ${formatCount(kept, 'Application')} stay`, `    ! ${failure}`];
  const stays = preserves === true ? ' (what they deployed stays)' : '';
  return [
    `${title}: ${formatCount(applications.length, 'Application')} of ${applications.length + kept} differ`,
    ...applications
      .slice(0, MAX_MOVES)
      .flatMap(({ change: kind, name: application, destination, fields }) => [
        `    ${SIGN[kind]} ${application} on ${destination || 'no cluster'}${kind === 'deleted' ? stays : ''}`,
        ...fields.slice(0, 10).map((field) => `        ${fieldText(field)}`),
      ]),
    ...(applications.length > MAX_MOVES ? [`    … and ${applications.length - MAX_MOVES} more`] : []),
  ];
}

function rolloutLine(forecast: RolloutForecast): string {
  return `${formatRef(forecast)}: ${rolloutText(forecast)}`;
}

function objectLine(object: ObjectChange): string {
  const { change, ref, fields } = object;
  const changed = fields.length === 0 ? '' : ` (${formatNames(fields, 5)})`;
  return `${SIGN[change]} ${formatRef(ref)}${changed}${objectNote(object)}`;
}
