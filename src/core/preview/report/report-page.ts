import { formatRef } from '@berth/kube/model/object-ref';
import type { Problem } from '@berth/runtime/problem/problem';
import { type FleetMap, fleetMap, fleetMapSvg } from '../comment/fleet-map.ts';
import { markup } from '../comment/foreign-text.ts';
import { planRows } from '../comment/plan-rows.ts';
import { problemSection } from '../comment/problem-blocks.ts';
import {
  type CommentApproval,
  hintSentence,
  type PreviewOutcome,
  previewVerdict,
} from '../comment/preview-outcome.ts';
import type { FieldChange } from '../effects/plan-effects.ts';
import {
  approvalTitle,
  formatMoment,
  approvalAnnotation,
  brokenRules,
  changedRulesText,
  fieldText,
  formatNames,
  formatReason,
  formatSizes,
  groupTexts,
  spreadTexts,
  lostFileText,
  LATER_TITLE,
  laterTexts,
  moveText,
  objectNote,
  rolloutText,
  ruleText,
  waitingText,
  staggeredRollouts,
  workloadVerb,
} from '../plan-text.ts';
import { contentChanges } from '../content-changes.ts';
import type { Plan, PlacementPlan } from '../plan.ts';

export interface PreviewReport {
  /** `team/fleet#12` */
  readonly title: string;
  readonly outcome: PreviewOutcome;
  readonly approvals: readonly CommentApproval[];
  readonly map: FleetMap | undefined;
  /** In characters. Sections that do not fit are omitted completely, and the page says so. */
  readonly maxLength: number;
}

/** Reserved for the page around the sections. */
const RESERVED = 4_000;
const NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"';

/** All of a plan as one HTML page, as `berth serve` keeps it for a pull request. @param problems of the head */
export function renderPlanHtml(plan: Plan, problems: readonly Problem[] = []): string {
  return reportPage({
    title: 'Placement plan',
    outcome: { kind: 'planned', plan, problems, summaryOnly: false },
    approvals: [],
    map: fleetMap(plan),
    maxLength: Infinity,
  });
}

/** The complete preview as one HTML page without scripts and external content. Foreign text is escaped. */
export function reportPage({ title, outcome, approvals, map, maxLength }: PreviewReport): string {
  const { level, text } = previewVerdict(outcome, approvals);
  const { shown, left } = fitting(sectionsOf(outcome, map), maxLength - RESERVED);
  const rest =
    left === 0
      ? ''
      : `<p>${left} more sections do not fit in this page: run <code>berth plan</code> to see them.</p>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${markup(title)}: what it would move</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>${STYLE}</style></head><body>
<p>${markup(title)}</p>
<h1 class="${level}">${markup(text)}</h1>
${shown.join('\n')}
${rest}
</body></html>
`;
}

function sectionsOf(outcome: PreviewOutcome, map: FleetMap | undefined): readonly string[] {
  if (outcome.kind === 'unplanned')
    return outcome.hint === undefined ? [] : [`<p>${markup(hintSentence(outcome.hint))}</p>`];
  const { plan, problems } = outcome;
  const picture = map === undefined ? '' : `<figure>${fleetMapSvg(map).replace(NAMESPACE, '')}</figure>`;
  return [problemSection(problems), picture, ...planSections(plan)].filter((section) => section !== '');
}

function fitting(
  sections: readonly string[],
  room: number,
): { readonly shown: readonly string[]; readonly left: number } {
  const shown: string[] = [];
  let used = 0;
  for (const section of sections) {
    if (used + section.length > room) continue;
    used += section.length + 1;
    shown.push(section);
  }
  return { shown, left: sections.length - shown.length };
}

const STYLE = [
  ':root{color-scheme:light dark}',
  'body{font:15px/1.5 ui-sans-serif,system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem}',
  'h1{font-size:1.4rem;border-left:.4rem solid #1a7f37;padding-left:.6rem}h2{font-size:1.1rem}',
  'h1.stopped,h1.failed{border-color:#cf222e}h1.changes{border-color:#bf8700}',
  // Columns that would be too narrow to read are scrolled to.
  'table{border-collapse:collapse;display:block;overflow-x:auto}td{min-width:8.5rem}',
  'td,th{text-align:left;vertical-align:top;padding:.25rem .6rem;border-bottom:1px solid #8885}',
  'code,pre{font-family:ui-monospace,monospace}pre{overflow-x:auto}li,td{overflow-wrap:anywhere}',
  'figure{margin:1rem 0;overflow:auto}',
  '.danger{color:#cf222e;font-weight:600}.warning{color:#9a6700}',
  '@media (prefers-color-scheme:dark){.danger{color:#ff7b72}.warning{color:#d29922}}',
].join('');

const MAX_ROWS = 2000;

/** @param rows cells as HTML. @returns '' without rows */
export function table(title: string, heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const cells = (tag: 'td' | 'th', row: readonly string[]): string =>
    `<tr>${row.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  const shown = rows.slice(0, MAX_ROWS).map((row) => cells('td', row));
  return `<h2>${markup(title)}</h2>\n<table>\n${cells('th', heads)}\n${shown.join('\n')}\n</table>${more(rows)}`;
}

/** @param items foreign text. @returns '' without items */
function list(title: string, items: readonly string[]): string {
  if (items.length === 0) return '';
  const shown = items.slice(0, MAX_ROWS).map((item) => `<li>${markup(item)}</li>`);
  return `<h2>${markup(title)}</h2>\n<ul>\n${shown.join('\n')}\n</ul>${more(items)}`;
}

/** Lines of foreign text. */
function lines(all: readonly string[]): string {
  return all
    .filter((line) => line !== '')
    .slice(0, MAX_ROWS)
    .map(markup)
    .join('<br>');
}

function more(all: readonly unknown[]): string {
  return all.length > MAX_ROWS ? `<p>… and ${all.length - MAX_ROWS} more</p>` : '';
}

/** The sections of a plan, the most dangerous first; '' for an empty one. */
export function planSections(plan: Plan): readonly string[] {
  const rules = [...brokenRules(plan).map(ruleText), changedRulesText(plan)];
  const rollouts = staggeredRollouts(plan).map(
    (forecast) => `${formatRef(forecast)}: ${rolloutText(forecast)}`,
  );
  const deletions = plan.deletionsHeld.map(({ source, message }) => `source ${source}: ${message}`);
  return [
    list('What if', plan.whatIf),
    plan.waiting.length === 0 ? '' : `<p>${markup(waitingText(plan))}</p>`,
    list(
      'Rules',
      rules.filter((text) => text !== ''),
    ),
    list(
      'Values',
      contentChanges(plan).map(({ subject, text }) => `${subject}: ${text}`),
    ),
    findings(plan),
    placements(plan),
    list(LATER_TITLE, laterTexts(plan)),
    list('Deletions held', deletions),
    list('Files that lose their objects', plan.lostFiles.map(lostFileText)),
    workloads(plan),
    applications(plan),
    list('Rollouts', rollouts),
    list('Objects', plan.objects.map(objectText)),
    list(approvalTitle(plan), approvalAnnotation(plan)),
    list('Not evaluated', plan.notEvaluated),
    footer(plan),
  ];
}

function footer({ base, head, now, token }: Plan): string {
  const ends = `${markup(endOf(base))} → ${markup(endOf(head))}, as of ${markup(formatMoment(now))}`;
  return `<p>${ends}${token === undefined ? '' : `, plan digest <code>${markup(token.token)}</code>`}</p>`;
}

function objectText(object: Plan['objects'][number]): string {
  const { change, ref, fields } = object;
  const which = fields.length === 0 ? '' : `: ${formatNames(fields, 10)}`;
  return `${change} ${formatRef(ref)}${which}${objectNote(object)}`;
}

function findings({ findings: all }: Plan): string {
  const rows = all.map(({ severity, subject, message }) => [
    `<span class="${severity}">${severity}</span>`,
    markup(subject),
    markup(message),
  ]);
  return table('Risks', ['Severity', 'Subject', 'Risk'], rows);
}

/** The most dangerous first, as in the comment. */
function placements(plan: Plan): string {
  const byKey = new Map(plan.placements.map((one) => [`${one.namespace}/${one.name}`, one]));
  const rows = planRows(plan).flatMap(({ placement: key, risk }) => {
    const placement = byKey.get(key);
    if (placement === undefined) return [];
    const { affectedBy, after, held } = placement;
    const notes = [
      ...groupTexts(placement),
      ...spreadTexts(placement),
      affectedBy.length === 0 ? '' : `not edited; changes because of ${formatNames(affectedBy, 5)}`,
      after?.message ?? '',
      held === undefined ? '' : `held (${held.reason}): ${held.message}`,
    ];
    const danger = risk === undefined ? '' : `<span class="${risk.level}">${markup(risk.text)}</span>`;
    return [
      [
        `<code>${markup(key)}</code>`,
        markup(formatSizes(placement)),
        danger,
        lines(moveLines(placement)),
        lines(notes),
      ],
    ];
  });
  return table('Placements', ['Placement', 'Clusters', 'Risk', 'Moves', 'Notes'], rows);
}

function moveLines({ added, removed, moves, regrouped }: PlacementPlan): readonly string[] {
  const paired = new Set(moves.flatMap(({ from, to }) => [from, to]));
  const alone = (sign: string, list: PlacementPlan['added']): readonly string[] =>
    list
      .filter(({ cluster }) => !paired.has(cluster))
      .map((move) => `${sign} ${move.cluster} ${formatReason(move)}`.trim());
  return [
    ...moves.map(moveText),
    ...alone('+', added),
    ...alone('−', removed),
    regrouped.length === 0 ? '' : `regrouped: ${formatNames(regrouped)}`,
  ];
}

function workloads({ workloads: all }: Plan): string {
  const rows = all.map((workload) => [
    markup(formatRef(workload)),
    workloadVerb(workload),
    lines([
      workload.added.length === 0 ? '' : `+ ${formatNames(workload.added)}`,
      workload.removed.length === 0 ? '' : `− ${formatNames(workload.removed)}`,
      workload.kept === 0 ? '' : `stays on ${workload.kept}`,
    ]),
    lines(
      workload.manifests.flatMap(({ change, ref, fields }) => [
        `${change} ${formatRef(ref)}`,
        ...fields.map((field: FieldChange) => `  ${fieldText(field)}`),
      ]),
    ),
  ]);
  return table('Workloads', ['Workload', 'Change', 'Clusters', 'Manifests'], rows);
}

function applications({ applications: all }: Plan): string {
  const rows = all.flatMap(({ namespace, name, applications: changed, failure, notRendered }) => {
    const set = `<code>${markup(`${namespace}/${name}`)}</code>`;
    const problem = failure ?? notRendered;
    if (problem !== undefined)
      return [[set, failure === undefined ? 'not rendered' : 'fails', '', markup(problem)]];
    return changed.map((application) => [
      set,
      application.change,
      markup(`${application.name} on ${application.destination}`),
      lines(application.fields.map(fieldText)),
    ]);
  });
  return table('Applications', ['ApplicationSet', 'Change', 'Application', 'Fields'], rows);
}

function endOf({ name, commit }: Plan['base']): string {
  if (commit === undefined) return name;
  return name === commit ? commit.slice(0, 12) : `${name} (${commit.slice(0, 8)})`;
}
