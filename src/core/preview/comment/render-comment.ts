import { formatRef } from '@berth/kube/model/object-ref';
import { remediation } from '../../publish/judge/judge-result.ts';
import type { ApplicationSetPlan } from '../effects/plan-effects.ts';
import {
  approvalTitle,
  approvalAnnotation,
  formatMoment,
  formatCount,
  objectNote,
  rolloutText,
  staggeredRollouts,
  workloadVerb,
  brokenRules,
  changedRulesText,
  lostFileText,
  LATER_TITLE,
  laterTexts,
  otherFindings,
  ruleMessage,
  waitingText,
} from '../plan-text.ts';
import type { Plan, WorkloadPlan, PlacementPlan } from '../plan.ts';
import { details, items, MAX_MOVES, MAX_NAMES, names, fieldList } from './comment-blocks.ts';
import { contentChanges } from '../content-changes.ts';
import { type FleetMap, type CellChange, type FleetGroup, fleetMapAlt } from './fleet-map.ts';
import { code, prose, fenced } from './foreign-text.ts';
import { placementBlocks } from './placement-blocks.ts';
import { type PlanRow, planRows } from './plan-rows.ts';
import { problemBlocks } from './problem-blocks.ts';
import {
  type CommentApproval,
  hintSentence,
  type PreviewOutcome,
  previewVerdict,
} from './preview-outcome.ts';

export interface PreviewComment {
  /** Identifies the comment, so that it can be found again. */
  readonly marker: string;
  readonly outcome: PreviewOutcome;
  /** Full id of the commit that was planned. */
  readonly head: string;
  readonly approvals: readonly CommentApproval[];
  /** Whether a reply is read as a command (`/berth plan`). */
  readonly takesCommands: boolean;
  /** Refused requests, as sentences. */
  readonly notes: readonly string[];
  readonly map: FleetMap | undefined;
  /** Addresses that users of the forge can open; absent if there are none. */
  readonly links?: { readonly report: string; readonly map: string } | undefined;
  /** In characters. */
  readonly maxLength: number;
}

const ICONS = { unchanged: '✅', changes: '🔀', stopped: '✋', failed: '❌' } as const;
/** Rows after the first number are folded. Folded rows after the second number are only counted. */
const [MAX_OPEN_ROWS, MAX_FOLDED_ROWS] = [20, 80] as const;
/** Characters that are reserved for the sentence about omitted sections. */
const RESERVED = 300;
/** Lines about values before the table. */
const MAX_CONTENTS = 10;

/**
 * A preview as the one comment on its pull request: the verdict, a table with the most dangerous changes first, then
 * sections to expand. A block that does not fit is omitted completely and counted, so that no table or code block is
 * truncated. Text of the repository is shown without mark-up, HTML, mentions or invisible characters.
 */
export function renderComment(comment: PreviewComment): string {
  const { outcome, marker, maxLength } = comment;
  const tail = footer(comment);
  const [first, ...blocks] = [
    `<!-- ${marker} -->\n${headline(comment)}`,
    // The response to a command that was just given comes first.
    ...comment.notes.map((note) => `> ${prose(note)}`),
    ...(outcome.kind === 'planned' ? plannedBlocks(comment, outcome) : unplannedBlocks(outcome)),
  ];
  let text = first;
  let omitted = 0;
  for (const block of blocks) {
    if (text.length + block.length + tail.length + RESERVED > maxLength) omitted++;
    else text += `\n\n${block}`;
  }
  if (omitted > 0) {
    const where =
      comment.links === undefined ? 'run `berth plan`' : `open the [full report](${comment.links.report})`;
    text += `\n\n_${omitted} more sections do not fit in a comment: ${where} to see them._`;
  }
  return `${text}\n\n${tail}\n`;
}

function headline({ outcome, approvals }: PreviewComment): string {
  const { level, text } = previewVerdict(outcome, approvals);
  return `### ${ICONS[level]} Berth: ${prose(text)}`;
}

function unplannedBlocks({ hint }: PreviewOutcome & { readonly kind: 'unplanned' }): readonly string[] {
  return hint === undefined ? [] : [prose(hintSentence(hint))];
}

function plannedBlocks(
  comment: PreviewComment,
  { plan, problems, summaryOnly }: PreviewOutcome & { readonly kind: 'planned' },
): readonly string[] {
  const rows = planRows(plan);
  const summary = [...problemBlocks(problems, !summaryOnly), ...tables(rows)];
  if (summaryOnly)
    return [...summary, '_The head is in a fork: only the summary is shown, and programs were not run._'];
  return [
    ...whatIfBlocks(plan),
    ...riskBlocks(plan, comment),
    ...waitingBlocks(plan),
    ...contentBlocks(plan),
    ...summary,
    ...laterBlocks(plan),
    ...mapBlocks(comment),
    ...placementBlocks(plan, rows),
    ...workloadBlocks(plan),
    ...applicationBlocks(plan),
    ...rolloutBlocks(plan),
    ...objectBlocks(plan),
    ...approvalAnnotation(plan).map((annotation) =>
      details(approvalTitle(plan), `Put it on an object of the change (optional): ${code(annotation)}`),
    ),
    ...(plan.notEvaluated.length === 0
      ? []
      : [details('Not evaluated', items(plan.notEvaluated.map((note) => `- ${prose(note)}`)))]),
  ];
}

function whatIfBlocks({ whatIf }: Plan): readonly string[] {
  return whatIf.length === 0 ? [] : [`What if ${whatIf.slice(0, MAX_MOVES).map(code).join(', ')}`];
}

function waitingBlocks(plan: Plan): readonly string[] {
  return plan.waiting.length === 0 ? [] : [`⏳ ${prose(waitingText(plan))}`];
}

function contentBlocks(plan: Plan): readonly string[] {
  const lines = contentChanges(plan).map(({ subject, text }) => `- ${code(subject)}: ${prose(text)}`);
  return lines.length === 0 ? [] : [items(lines, MAX_CONTENTS)];
}

function laterBlocks(plan: Plan): readonly string[] {
  const lines = laterTexts(plan).map((text) => `- ${prose(text)}`);
  return lines.length === 0 ? [] : [`**${LATER_TITLE}**\n\n${items(lines, MAX_MOVES)}`];
}

function tables(rows: readonly PlanRow[]): readonly string[] {
  const [open, rest] = [rows.slice(0, MAX_OPEN_ROWS), rows.slice(MAX_OPEN_ROWS)];
  if (rest.length === 0) return open.length === 0 ? [] : [table(open)];
  const folded = rest.slice(0, MAX_FOLDED_ROWS);
  const counted = rest.length > folded.length ? `\n\n… and ${rest.length - folded.length} more` : '';
  return [table(open), details(`${rest.length} more placements`, `${table(folded)}${counted}`)];
}

/** The column of risks is left out where no row has one. */
function table(rows: readonly PlanRow[]): string {
  const hasRisk = rows.some(({ risk }) => risk !== undefined);
  const lines = rows.map(({ placement, workloads, from, to, kept, why, risk }) => {
    const apps = workloads.slice(0, MAX_NAMES).map(({ name }) => code(name));
    const more = workloads.length > apps.length ? `, +${workloads.length - apps.length}` : '';
    // In front, because further columns may be off a small screen.
    const mark = risk === undefined ? '' : risk.level === 'danger' ? '🔴 ' : '🟡 ';
    const app = `${mark}${code(placement)}${apps.length === 0 ? '' : `: ${apps.join(', ')}${more}`}`;
    const stays = kept > 0 ? ` (${kept} stay)` : '';
    const cells = [
      app,
      `${names(from)}${stays}`,
      names(to),
      ...(hasRisk ? [prose(risk?.text ?? '')] : []),
      why === '' ? '–' : prose(why),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const titles = ['app', 'from', 'to', ...(hasRisk ? ['risk'] : []), 'why'];
  return [`| ${titles.join(' | ')} |`, `|${'---|'.repeat(titles.length)}`, ...lines].join('\n');
}

function mapBlocks({ map, links }: PreviewComment): readonly string[] {
  const text = map === undefined ? undefined : fleetMapText(map);
  if (map === undefined || text === undefined) return [];
  const fence = details('Fleet map', `\`\`\`text\n${text}\n\`\`\``);
  return links === undefined ? [fence] : [`![${fleetMapAlt(map)}](${links.map})`, fence];
}

function footer({ outcome, head, links, takesCommands }: PreviewComment): string {
  const end = code(head.slice(0, 12));
  const report = links === undefined ? '' : ` · [full report](${links.report})`;
  if (outcome.kind === 'unplanned') return `<sub>${end}${report}</sub>`;
  const { base, now, token } = outcome.plan;
  const named = token === undefined ? '' : `, plan digest ${code(token.token)}`;
  const again = takesCommands ? ` · plan again with ${code('/berth plan')}` : '';
  return `<sub>${code(base.commit?.slice(0, 12) ?? base.name)} → ${end}, as of ${formatMoment(now)}${named}${again}${report}</sub>`;
}

/** The part of the comment about the approval of a hold. */
interface Approvable {
  readonly approvals: readonly CommentApproval[];
  /** Whether a comment can approve it. */
  readonly takesCommands: boolean;
}

/**
 * What a reader must see before the merge: the rules that deny, the holds and how to approve them, and the other risks.
 */
function riskBlocks(plan: Plan, comment: Approvable): readonly string[] {
  return [...ruleBlocks(plan), ...heldBlocks(plan, comment), ...findingBlocks(plan)];
}

function ruleBlocks(plan: Plan): readonly string[] {
  const broken = brokenRules(plan).map(
    (rule) =>
      `> ${rule.effect === 'deny' ? '⛔ **Denied by rule' : '⚠️ **Warning of rule'} ${code(rule.name)}**: ${prose(ruleMessage(rule))}`,
  );
  const changed = changedRulesText(plan);
  return bounded([...broken, ...(changed === '' ? [] : [`> ${prose(changed)}`])]);
}

function heldBlocks(plan: Plan, { approvals, takesCommands }: Approvable): readonly string[] {
  const approval = (token: string): string => {
    const found = approvals.find((one) => one.token === token);
    if (found !== undefined) return ` Approved by ${code(found.by)}.`;
    return takesCommands ? ` Approve it with the comment ${code(`/berth approve ${token}`)}.` : '';
  };
  // A reader of the pull request approves it with a comment, and needs no other way.
  const messageOf = (one: Pick<PlacementPlan, 'namespace' | 'name' | 'token'>, message: string): string =>
    takesCommands ? message.replace(` ${remediation(one, one.token)}`, '') : message;
  const held = plan.placements.flatMap(({ namespace, name, held: hold, token }) =>
    hold === undefined
      ? []
      : [
          `> **${code(`${namespace}/${name}`)} would be held** (${prose(hold.reason)}): ${prose(messageOf({ namespace, name, token }, hold.message))}${approval(token)}`,
        ],
  );
  const deletions = plan.deletionsHeld.map(
    ({ source, message, token }) =>
      `> **Deletions of source ${code(source)} would be held**: ${prose(message)}${approval(token)}`,
  );
  const files = plan.lostFiles.map((lost) => `> **File lost**: ${prose(lostFileText(lost))}`);
  const all = [...deletions, ...held, ...files];
  return bounded(all);
}

const [MAX_QUOTES, MAX_FINDINGS] = [100, 20] as const;

const MARKS = { danger: '🔴', warning: '🟡', notice: '🔵' } as const;

function findingBlocks(plan: Plan): readonly string[] {
  const lines = otherFindings(plan).map(
    ({ severity, subject, message }) => `- ${MARKS[severity]} ${code(subject)}: ${prose(message)}`,
  );
  return lines.length === 0 ? [] : [items(lines, MAX_FINDINGS)];
}

function bounded(quotes: readonly string[]): readonly string[] {
  if (quotes.length <= MAX_QUOTES) return quotes;
  return [...quotes.slice(0, MAX_QUOTES), `> … and ${quotes.length - MAX_QUOTES} more.`];
}

/** The works that are created, changed, moved and deleted. */
function workloadBlocks({ workloads }: Plan): readonly string[] {
  if (workloads.length === 0) return [];
  const lines = workloads.flatMap((plan) => {
    const { kind, namespace, name, added, removed, kept } = plan;
    const where = [
      added.length > 0 ? `+ ${names(added)}` : '',
      removed.length > 0 ? `− ${names(removed)}` : '',
      kept > 0 ? `stays on ${kept}` : '',
    ].filter((part) => part !== '');
    return [
      `- ${code(formatRef({ kind, namespace, name }))} ${workloadVerb(plan)}: ${where.join('; ') || 'on no cluster'}`,
      ...manifestLines(plan),
    ];
  });
  return [details(`Workloads (${workloads.length})`, items(lines))];
}

function manifestLines({ manifests, changedOn }: WorkloadPlan): readonly string[] {
  if (manifests.length === 0) return [];
  const lines = manifests
    .slice(0, MAX_MOVES)
    .map(({ change, ref, fields }) => `  - ${change} ${code(formatRef(ref))}${fieldList(fields)}`);
  const more = manifests.length - lines.length;
  return [`  - on ${names(changedOn)}`, ...lines, ...(more > 0 ? [`  - … and ${more} more`] : [])];
}

/** How changed works are rolled out step by step. */
function rolloutBlocks(plan: Plan): readonly string[] {
  const staggered = staggeredRollouts(plan);
  if (staggered.length === 0) return [];
  const lines = staggered.map(
    (forecast) => `- ${code(formatRef(forecast))}: ${prose(rolloutText(forecast))}`,
  );
  return [details(`Rollouts (${staggered.length})`, items(lines))];
}

/** The objects that the commit itself changes. */
function objectBlocks({ objects }: Plan): readonly string[] {
  if (objects.length === 0) return [];
  const lines = objects.map((object) => {
    const { change, ref, fields } = object;
    const what = fieldList(fields.map((path) => ({ path })));
    return `- ${change} ${code(formatRef(ref))}${what}${prose(objectNote(object))}`;
  });
  return [details(`Changed objects (${objects.length})`, items(lines))];
}

/** The Applications that Argo CD would make, change and delete, by ApplicationSet. */
function applicationBlocks({ applications }: Plan): readonly string[] {
  if (applications.length === 0) return [];
  const title = `Applications of ${formatCount(applications.length, 'ApplicationSet')}`;
  return [details(title, items(applications.flatMap(setLines)))];
}

function setLines(set: ApplicationSetPlan): readonly string[] {
  const { namespace, name, applications, kept, failure, notRendered, preserves } = set;
  const title = `- ${code(`${namespace}/${name}`)}`;
  if (notRendered !== undefined) return [`${title} is not rendered: ${prose(notRendered)}`];
  if (failure !== undefined)
    return [
      `${title} fails, ${formatCount(kept, 'Application')} ${kept === 1 ? 'stays' : 'stay'}: ${prose(failure)}`,
    ];
  const stays = preserves === true ? '; what deleted ones deployed stays' : '';
  const lines = applications.slice(0, MAX_MOVES).map(({ change, name: application, destination, fields }) => {
    const where = destination === '' ? '' : ` on ${code(destination)}`;
    return `  - ${change} ${code(application)}${where}${fieldList(fields)}`;
  });
  const more = applications.length - lines.length;
  return [
    `${title}: ${applications.length} of ${applications.length + kept} differ${stays}`,
    ...lines,
    ...(more > 0 ? [`  - … and ${more} more`] : []),
  ];
}

const MAX_REGIONS = 6;

const MAX_SETS = 20;

/**
 * The map as lines of a code block: one sign for each cluster. Undefined if nothing moves, or if there are no clusters.
 */
function fleetMapText({ sets, regions, groups, counts }: FleetMap): string | undefined {
  if (counts.gains + counts.loses + counts.both === 0) return undefined;
  const changed = (group: FleetGroup): boolean => group.cells.some(({ change }) => change !== 'none');
  // If not all fit, the sets or regions with changes are shown.
  const pick = (names: readonly string[], of: 'set' | 'region', most: number): readonly string[] =>
    names.length <= most
      ? names
      : names.filter((name) => groups.some((group) => group[of] === name && changed(group))).slice(0, most);
  const [rows, columns] = [pick(sets, 'set', MAX_SETS), pick(regions, 'region', MAX_REGIONS)];
  const cell = (set: string, region: string): string => {
    const group = groups.find((one) => one.set === set && one.region === region);
    return group === undefined ? '' : cellsText(group);
  };
  const table = [
    ['', ...columns.map((region) => shortName(region, 'no region'))],
    ...rows.map((set) => [shortName(set, 'no set'), ...columns.map((region) => cell(set, region))]),
  ];
  const widths = (table[0] ?? []).map((_, at) =>
    Math.max(...table.map((row) => [...(row[at] ?? '')].length)),
  );
  const lines = table.map((row) =>
    row
      .map((text, at) => text + ' '.repeat((widths[at] ?? 0) - [...text].length))
      .join('  ')
      .trimEnd(),
  );
  const left = sets.length - rows.length + regions.length - columns.length;
  return [
    ...lines,
    ...(left > 0 ? [`(${left} more sets and regions are not shown)`] : []),
    '',
    '+ gains workloads   − loses workloads',
    '± both              · unchanged',
  ].join('\n');
}

const SIGNS: Readonly<Record<CellChange, string>> = { none: '·', gains: '+', loses: '−', both: '±' };

/** A larger group shows only changed clusters and counts the others. */
const MAX_CELLS = 24;

function cellsText({ cells }: FleetGroup): string {
  const signs = cells.map(({ change }) => SIGNS[change]);
  if (signs.length <= MAX_CELLS) return signs.join('');
  const moving = signs.filter((sign) => sign !== SIGNS.none);
  const shown = moving.slice(0, MAX_CELLS - 8);
  return `${shown.join('')}${moving.length > shown.length ? '…' : ''} of ${signs.length}`.trim();
}

const MAX_NAME = 24;

function shortName(name: string, otherwise: string): string {
  if (name === '') return otherwise;
  const points = [...fenced(name)];
  return points.length > MAX_NAME ? `${points.slice(0, MAX_NAME - 1).join('')}…` : points.join('');
}
