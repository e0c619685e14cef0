import { formatRef } from '@berth/kube/model/object-ref';
import type { FieldChange } from '../effects/plan-effects.ts';
import { fleetMap, fleetMapSvg, type FleetCell, type FleetMap } from '../comment/fleet-map.ts';
import { markup } from '../comment/foreign-text.ts';
import { planRows } from '../comment/plan-rows.ts';
import { approvedFindings } from '../comment/approval-blocks.ts';
import { heldCodes, hintSentence, type PreviewOutcome } from '../comment/preview-outcome.ts';
import { problemSection } from '../comment/problem-blocks.ts';
import { contentChanges } from '../content-changes.ts';
import { approvalEffect, addOnEffect, deletionsEffect, mergeMovesText } from '../placement-words.ts';
import {
  approvalAnnotation,
  approvalTitle,
  brokenRules,
  changedRulesText,
  fieldText,
  formatClusterDelta,
  formatCount,
  formatMoment,
  formatNames,
  formatReason,
  groupTexts,
  lostFileText,
  moveText,
  objectNote,
  rolloutText,
  ruleText,
  spreadTexts,
  staggeredRollouts,
  waitingText,
  workloadVerb,
} from '../plan-text.ts';
import { LATER_TITLE, laterTexts } from '../later/later-texts.ts';
import type { PlacementPlan, Plan, PlannedHold } from '../plan.ts';
import { decisionTableHtml } from './decision-table-html.ts';
import type { Reportable } from './merge-line.ts';
import type { PlanFinding } from '../plan-verdict.ts';
import { fold, type HtmlRow, lines, list, listOf, plainTable, section, table } from './html.ts';
import { groupBy } from '@berth/runtime/lists/group-by';

/** Every section of a report: first what stops the change, what it moves and where. @returns HTML */
export function reportSections(
  outcome: PreviewOutcome,
  reportable: Reportable = { approvals: [] },
): readonly string[] {
  if (outcome.kind === 'unplanned')
    return outcome.hint === undefined ? [] : [`<p>${markup(hintSentence(outcome.hint))}</p>`];
  const { plan, problems } = outcome;
  return [...firstSections(plan, problemSection(problems), reportable), ...furtherSections(plan)];
}

/** What a reader sees first, in the order of the comment: what stops it, what changes, and where. */
function firstSections(
  plan: Plan,
  problems: string,
  reportable: Reportable = { approvals: [] },
): readonly string[] {
  const rules = [...brokenRules(plan).map(ruleText), changedRulesText(plan)];
  return [
    list('What if', plan.whatIf),
    list(
      'Rules',
      rules.filter((text) => text !== ''),
    ),
    heldSection(plan, reportable),
    list('Files that lose their objects', plan.lostFiles.map(lostFileText)),
    findingsTable(approvedFindings(plan, reportable.approvals)),
    plan.waiting.length === 0 ? '' : `<p>${markup(waitingText(plan))}</p>`,
    list(
      'Values',
      contentChanges(plan).map(({ subject, text }) => `${subject}: ${text}`),
    ),
    problems,
    movesTable(plan, reportable),
    list(LATER_TITLE, laterTexts(plan)),
    mapSection(plan),
  ].filter((part) => part !== '');
}

/** What is behind the first sections. */
function furtherSections(plan: Plan): readonly string[] {
  const rollouts = staggeredRollouts(plan).map(
    (forecast) => `${formatRef(forecast)}: ${rolloutText(forecast)}`,
  );
  return [
    decisions(plan),
    section('Clusters by set and region', plan.fleet.length === 0 ? '' : fleetHtml(plan)),
    placements(plan),
    workloads(plan),
    applications(plan),
    list('Rollouts', rollouts),
    list('Objects', plan.objects.map(objectText)),
    // Nobody merges an assumption.
    plan.whatIf.length > 0 ? '' : list(approvalTitle(plan), approvalAnnotation(plan)),
    list('Not evaluated', plan.notEvaluated),
    footer(plan),
  ].filter((part) => part !== '');
}

const names = (clusters: readonly string[]): string => formatNames(clusters, MAX_NAMES);

/** In a sentence; the tables below have all of them. */
const MAX_NAMES = 5;

/** What is held, why, and what an approval would do. */
function heldSection(plan: Plan, reportable: Reportable): string {
  if (heldCodes(plan).length === 0) return '';
  const { approve: found, merged } = reportable;
  const isOpen = heldCodes(plan).some((code) => !reportable.approvals.some(({ token }) => token === code));
  // A reader who can approve by a comment needs no other way, and nobody needs one afterwards.
  const hasRemedy = found === undefined && merged === undefined && isOpen;
  const problem = ({ message, remedy = '' }: Pick<PlannedHold, 'message' | 'remedy'>): string =>
    hasRemedy ? message : message.replace(remedy, '').trim();
  const block = (title: string, reason: string, effect: string, token: string): string => {
    const by = reportable.approvals.find((one) => one.token === token)?.by;
    const own = reportable.approve === undefined ? `code <code>${markup(token)}</code>` : '';
    const state = by === undefined ? own : `approved by ${markup(by)}`;
    const who = by === undefined ? 'Approving' : 'The merge';
    const text = `<p>${markup(reason, Infinity)}</p><p><strong>${who} ${markup(effect, Infinity)}.</strong> <small>${state}</small></p>`;
    return `<div class="held"><h3>${markup(title)}</h3>${text}</div>`;
  };
  const blocks = [
    ...plan.deletionsHeld.map(({ source, token, ...held }) =>
      block(`Deletions of source ${source}`, problem(held), deletionsEffect(plan, names), token),
    ),
    ...plan.addOnsHeld.map((held) =>
      block(`Add-on ${held.addOn}`, problem(held), addOnEffect(held, names), held.token),
    ),
    ...planRows(plan).flatMap(({ placement: key }) => {
      const placement = placementOf(plan, key);
      if (placement?.held === undefined) return [];
      const { held, token } = placement;
      return [block(key, `${held.reason}: ${problem(held)}`, approvalEffect(placement, key, names), token)];
    }),
  ];
  const how =
    found === undefined || merged?.isHeld === false
      ? ''
      : `<p>Approve ${found.which} with the comment <code>${markup(found.command)}</code>. ${markup(found.who)}</p>\n`;
  const title =
    merged?.isHeld === false
      ? 'Held by the plan, and not any more'
      : isOpen
        ? 'Held until somebody approves it'
        : 'Held changes, all of them approved';
  return section(title, `${how}${blocks.join('\n')}`);
}

function placementOf({ placements: all }: Plan, key: string): PlacementPlan | undefined {
  return all.find(({ namespace, name }) => `${namespace}/${name}` === key);
}

function findingsTable(findings: readonly PlanFinding[]): string {
  const rows = findings.map(({ severity, subject, message }) => [
    `<span class="${severity}">${severity}</span>`,
    markup(subject),
    markup(message),
  ]);
  return table('Risks', ['Severity', 'Subject', 'Risk'], rows);
}

/** Rows after the first ones are folded. */
const MAX_OPEN_ROWS = 20;

/** One line for each placement, the most dangerous first. */
function movesTable(plan: Plan, { approvals }: Reportable): string {
  const approved = new Set(approvals.map(({ token }) => token));
  const rows = planRows(plan, approvals).flatMap(
    ({ placement: key, workloads: used, risk, why }): readonly HtmlRow[] => {
      const placement = placementOf(plan, key);
      if (placement === undefined) return [];
      const apps =
        used.length === 0
          ? ''
          : `<br><small>${markup(
              formatNames(
                used.map(({ name }) => name),
                5,
              ),
            )}</small>`;
      const danger = risk === undefined ? '' : `<span class="${risk.level}">${markup(risk.text)}</span>`;
      return [
        [
          `<code>${markup(key)}</code>${apps}`,
          markup(mergeMovesText(placement, approved.has(placement.token), names), Infinity),
          danger,
          markup(why),
        ],
      ];
    },
  );
  if (rows.length === 0) return '';
  const heads = ['Placement', 'What happens', 'Risk', 'Why'];
  const part = (shown: readonly HtmlRow[]): string =>
    `<div class="wide stack">${plainTable(heads, shown)}</div>`;
  const rest = rows.slice(MAX_OPEN_ROWS);
  const folded = rest.length === 0 ? '' : fold(`${formatCount(rest.length, 'more placement')}`, part(rest));
  return section('What moves', `${part(rows.slice(0, MAX_OPEN_ROWS))}${folded}`);
}

const NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"';

function mapSection(plan: Plan): string {
  if (plan.fleet.length === 0) return '';
  return section('Map', `<figure>${fleetMapSvg(fleetMap(plan)).replace(NAMESPACE, '')}</figure>`);
}

/** Tables after the first ones are folded. */
const MAX_OPEN_TABLES = 3;

function decisions({ decisions: tables, placements: all }: Plan): string {
  const rest = tables.slice(MAX_OPEN_TABLES);
  const missing =
    all.filter(({ added, removed }) => added.length + removed.length > 0).length - tables.length;
  const note =
    tables.length > 0 && missing > 0
      ? `<p>${formatCount(missing, 'placement moves', 'placements move')} without a table here: see <code>berth explain</code>.</p>`
      : '';
  return section(
    'How it is decided',
    [
      ...tables.slice(0, MAX_OPEN_TABLES).map((one) => decisionTableHtml(one)),
      ...rest.map((one) =>
        fold(
          `<code>${markup(`${one.placement.namespace}/${one.placement.name}`)}</code>: ${one.selectedCount} of ${formatCount(one.clusterCount, 'cluster')}`,
          decisionTableHtml(one),
        ),
      ),
      note,
    ].join('\n'),
  );
}

/** Cluster by cluster, the most dangerous placement first. */
function placements(plan: Plan): string {
  const blocks = planRows(plan).flatMap(({ placement: key }) => {
    const placement = placementOf(plan, key);
    if (placement === undefined) return [];
    const { affectedBy, after, added, removed } = placement;
    const all = [
      affectedBy.length === 0 ? '' : `not edited; changes because of ${formatNames(affectedBy, 5)}`,
      after?.message ?? '',
      ...groupTexts(placement),
      ...spreadTexts(placement),
      ...moveLines(placement),
    ].filter((line) => line !== '');
    const delta = added.length + removed.length;
    const moves = delta === 0 ? '' : `: ${formatClusterDelta(added.length, removed.length)}`;
    return all.length === 0
      ? []
      : [fold(`<code>${markup(key)}</code>${moves}`, listOf(all.map((line) => markup(line))))];
  });
  return section('Reasons, cluster by cluster', blocks.join('\n'));
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

function objectText(object: Plan['objects'][number]): string {
  const { change, ref, fields } = object;
  const which = fields.length === 0 ? '' : `: ${formatNames(fields, 10)}`;
  return `${change} ${formatRef(ref)}${which}${objectNote(object)}`;
}

function footer({ base, head, now, token }: Plan): string {
  const ends = `${markup(endOf(base))} → ${markup(endOf(head))}, as of ${markup(formatMoment(now))}`;
  return `<p>${ends}${token === undefined ? '' : `, plan digest <code>${markup(token.token)}</code>`}</p>`;
}

function endOf({ name, commit }: Plan['base']): string {
  if (commit === undefined) return name;
  return name === commit ? commit.slice(0, 12) : `${name} (${commit.slice(0, 8)})`;
}

/** What happens to one cluster, by placement. */
interface ClusterMoves {
  readonly gains: readonly string[];
  readonly loses: readonly string[];
}

/**
 * The clusters by set and region, with names: those that change with their placements, the others folded. A cluster is
 * listed in the set of its label, or else in the first one that selects it; the other sets follow.
 */
export function fleetHtml(plan: Plan): string {
  const { sets, groups } = fleetMap(plan);
  const moves = movesByCluster(plan);
  const parts = sets.flatMap((set) =>
    groups
      .filter((group) => group.set === set)
      .toSorted((a, b) => (a.region < b.region ? -1 : 1))
      .map((group) => groupHtml(group, moves)),
  );
  const others = otherSets(plan, moves);
  return `${parts.join('\n')}${others.length === 0 ? '' : `<h3>Other sets of these clusters</h3>${listOf(others)}`}`;
}

function movesByCluster({ placements }: Plan): ReadonlyMap<string, ClusterMoves> {
  const moves = (of: 'added' | 'removed'): ReadonlyMap<string, readonly string[]> => {
    const pairs = placements.flatMap((plan) =>
      plan[of].map(({ cluster }) => ({ cluster, placement: `${plan.namespace}/${plan.name}` })),
    );
    return new Map(
      [...groupBy(pairs, ({ cluster }) => cluster)].map(([cluster, all]) => [
        cluster,
        all.map(({ placement }) => placement),
      ]),
    );
  };
  const [gains, loses] = [moves('added'), moves('removed')];
  return new Map(
    [...gains.keys(), ...loses.keys()].map((cluster) => [
      cluster,
      { gains: gains.get(cluster) ?? [], loses: loses.get(cluster) ?? [] },
    ]),
  );
}

/** More changed clusters of a group are folded. */
const MAX_OPEN = 12;

function groupHtml(
  { set, region, cells }: FleetMap['groups'][number],
  moves: ReadonlyMap<string, ClusterMoves>,
): string {
  const changed = cells.filter(({ change }) => change !== 'none');
  const staying = cells.filter(({ change, runs }) => change === 'none' && runs);
  const absent = cells.filter(({ change, runs }) => change === 'none' && !runs);
  const title = `${set === '' ? 'No set' : `Set ${set}`}, ${region === '' ? 'no region' : `region ${region}`}`;
  const [open, more] = [changed.slice(0, MAX_OPEN), changed.slice(MAX_OPEN)];
  const item = ({ cluster }: FleetCell): string => changedHtml(cluster, moves.get(cluster));
  return [
    `<h3>${markup(title)} <small>${formatCount(cells.length, 'cluster')}</small></h3>`,
    open.length === 0 ? '' : listOf(open.map(item)),
    more.length === 0 ? '' : fold(`${more.length} more that change`, listOf(more.map(item))),
    namesHtml('stays', `● ${formatCount(staying.length, 'cluster')}: it stays there`, staying),
    namesHtml('absent', `○ ${formatCount(absent.length, 'cluster')}: not on it`, absent),
  ].join('');
}

function changedHtml(cluster: string, moves: ClusterMoves | undefined): string {
  const gains = moves?.gains ?? [];
  const loses = moves?.loses ?? [];
  const texts = [
    ...(gains.length === 0 ? [] : [`<span class="joins">+ gains</span> ${markup(formatNames(gains, 5))}`]),
    ...(loses.length === 0 ? [] : [`<span class="leaves">− loses</span> ${markup(formatNames(loses, 5))}`]),
  ];
  return `<strong>${markup(cluster)}</strong> ${texts.join('; ')}`;
}

function namesHtml(kind: string, summary: string, cells: readonly FleetCell[]): string {
  if (cells.length === 0) return '';
  const names = cells.map(({ cluster }) => `<li>${markup(cluster)}</li>`).join('');
  return fold(summary, `<ul class="names ${kind}">${names}</ul>`);
}

/** A cluster is in one set by its label, and in any number of others. */
function otherSets({ fleet }: Plan, moves: ReadonlyMap<string, ClusterMoves>): readonly string[] {
  const pairs = fleet.flatMap(({ name, sets }) => sets.slice(1).map((set) => ({ set, name })));
  return [...groupBy(pairs, ({ set }) => set)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([set, members]) => {
      const changed = members.filter(({ name }) => moves.has(name)).map(({ name }) => name);
      const which = changed.length === 0 ? 'none of them changes' : `change: ${formatNames(changed, 10)}`;
      return `Set ${markup(set)}: ${formatCount(members.length, 'cluster')}, ${markup(which)}`;
    });
}
