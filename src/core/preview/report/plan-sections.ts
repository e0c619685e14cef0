import { formatRef } from '@berth/kube/model/object-ref';
import { markup } from '../comment/foreign-text.ts';
import { planRows } from '../comment/plan-rows.ts';
import type { FieldChange } from '../effects/plan-effects.ts';
import type { Plan, PlacementPlan } from '../plan.ts';
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
  moveText,
  objectNote,
  rolloutText,
  ruleText,
  staggeredRollouts,
  workloadVerb,
} from '../plan-text.ts';

import { lines, list, table } from './html-parts.ts';

/** The sections of a plan, the most dangerous first; '' for an empty one. */
export function planSections(plan: Plan): readonly string[] {
  const rules = [...brokenRules(plan).map(ruleText), changedRulesText(plan)];
  const rollouts = staggeredRollouts(plan).map(
    (forecast) => `${formatRef(forecast)}: ${rolloutText(forecast)}`,
  );
  const deletions = plan.deletionsHeld.map(({ source, message }) => `source ${source}: ${message}`);
  return [
    list('What if', plan.whatIf),
    list(
      'Rules',
      rules.filter((text) => text !== ''),
    ),
    findings(plan),
    placements(plan),
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
  return `<p>${ends}${token === undefined ? '' : `, plan token <code>${markup(token.token)}</code>`}</p>`;
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
