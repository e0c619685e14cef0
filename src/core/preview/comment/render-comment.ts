import { formatRef } from '@berth/kube/model/object-ref';
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
  ruleMessage,
  waitingText,
} from '../plan-text.ts';
import { LATER_TITLE, laterTexts } from '../later/later-texts.ts';
import type { Plan, WorkloadPlan, CommentApproval } from '../plan.ts';
import { mergeMovesText } from '../placement-words.ts';
import {
  type Approvable,
  approvalBlocks,
  approvedFindings,
  heldBlocks,
  type ReadCommands,
} from './approval-blocks.ts';
import {
  copyable,
  details,
  fieldList,
  fittingLines,
  items,
  listBlock,
  type ListBlock,
  MAX_MOVES,
  names,
} from './comment-blocks.ts';
import { contentChanges } from '../content-changes.ts';
import { type FleetMap, fleetMapAlt, fleetMapText } from './fleet-map.ts';
import { code, prose } from './foreign-text.ts';
import { mayMergeText, hintSentence, type PreviewOutcome, previewVerdict } from './preview-outcome.ts';
import { placementBlocks, type PlanRow, planRows } from './plan-rows.ts';
import { problemBlocks } from './problem-blocks.ts';

type Block = string | ListBlock;

export interface PreviewComment {
  /** Identifies the comment, so that it can be found again. */
  readonly marker: string;
  readonly outcome: PreviewOutcome;
  /** Full id of the commit that was planned. */
  readonly head: string;
  readonly approvals: readonly CommentApproval[];
  /** How replies are read as commands (`/berth plan`). Absent: they are not. */
  readonly commands?: ReadCommands | undefined;
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
const [MAX_QUOTES, MAX_FINDINGS] = [100, 20] as const;

/**
 * A preview as the one comment on its pull request: the verdict, whether it may be merged and the command that approves
 * what is held, a table with the most dangerous changes first, then sections to expand. The first three always fit. Of a
 * list, the lines that do not fit are counted. Any other block that does not fit is omitted completely and counted, so that
 * no command, table or code block is truncated. Text of the repository is shown without mark-up, HTML, mentions or
 * invisible characters.
 */
export function renderComment(comment: PreviewComment): string {
  const { outcome, marker, maxLength } = comment;
  const tail = footer(comment);
  const blocks = outcome.kind === 'planned' ? plannedBlocks(comment, outcome) : unplannedBlocks(outcome);
  let text = [
    `<!-- ${marker} -->\n${headline(comment)}`,
    // The response to a command that was just given comes first.
    ...comment.notes.map((note) => `> ${prose(note)}`),
    mayMergeText(outcome, comment.approvals),
    ...approvalBlocks(comment),
  ].join('\n\n');
  let omitted = 0;
  for (const block of blocks) {
    const room = maxLength - text.length - tail.length - RESERVED;
    const shown = typeof block === 'string' ? block : fittingLines(block, room);
    if (shown === '' || shown.length > room) omitted++;
    else text += `\n\n${shown}`;
  }
  if (omitted > 0) {
    const where =
      comment.links === undefined ? 'run `berth plan`' : `open the [full report](${comment.links.report})`;
    text += `\n\n_${formatCount(omitted, 'more section does', 'more sections do')} not fit in a comment: ${where} to see ${omitted === 1 ? 'it' : 'them'}._`;
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
): readonly Block[] {
  const rows = planRows(plan, comment.approvals);
  const summary = [...problemBlocks(problems, !summaryOnly), ...tables(rows, comment.approvals)];
  if (summaryOnly)
    return [
      ...heldBlocks(plan, comment),
      ...summary,
      '_The head is in a fork: only the summary is shown, and programs were not run._',
    ];
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
      details(
        approvalTitle(plan),
        `Optional. It goes into \`metadata.annotations\` of any object of the change:\n\n${copyable(annotation, 'yaml')}`,
      ),
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

function tables(rows: readonly PlanRow[], approvals: readonly CommentApproval[]): readonly string[] {
  const approved = new Set(approvals.map(({ token }) => token));
  const [open, rest] = [rows.slice(0, MAX_OPEN_ROWS), rows.slice(MAX_OPEN_ROWS)];
  if (rest.length === 0) return open.length === 0 ? [] : [table(open, approved)];
  const folded = rest.slice(0, MAX_FOLDED_ROWS);
  const counted = rest.length > folded.length ? `\n\n… and ${rest.length - folded.length} more` : '';
  return [
    table(open, approved),
    details(`${rest.length} more placements`, `${table(folded, approved)}${counted}`),
  ];
}

/** The column of risks is left out where no row has one. */
function table(rows: readonly PlanRow[], approved: ReadonlySet<string>): string {
  const hasRisk = rows.some(({ risk }) => risk !== undefined);
  const lines = rows.map(({ placement, workloads, plan, why, risk }) => {
    const apps = workloads.length === 0 ? '' : `: ${names(workloads.map(({ name }) => name))}`;
    // In front, because further columns may be off a small screen.
    const mark = risk === undefined ? '' : risk.level === 'danger' ? '🔴 ' : '🟡 ';
    const cells = [
      `${mark}${code(placement)}${apps}`,
      mergeMovesText(plan, approved.has(plan.token), names),
      ...(hasRisk ? [prose(risk?.text ?? '')] : []),
      prose(why),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const titles = ['app', 'what happens', ...(hasRisk ? ['risk'] : []), 'why'];
  return [`| ${titles.join(' | ')} |`, `|${'---|'.repeat(titles.length)}`, ...lines].join('\n');
}

function mapBlocks({ map, links }: PreviewComment): readonly string[] {
  const text = map === undefined ? undefined : fleetMapText(map);
  if (map === undefined || text === undefined) return [];
  const fence = details('Fleet map', `\`\`\`text\n${text}\n\`\`\``);
  return links === undefined ? [fence] : [`![${fleetMapAlt(map)}](${links.map})`, fence];
}

function footer({ outcome, head, links, commands }: PreviewComment): string {
  const end = code(head.slice(0, 12));
  const report = links === undefined ? '' : ` · [full report](${links.report})`;
  if (outcome.kind === 'unplanned') return `<sub>${end}${report}</sub>`;
  const { base, now, token } = outcome.plan;
  const named = token === undefined ? '' : `, plan digest ${code(token.token)}`;
  const again = commands !== undefined ? ` · plan again with ${code('/berth plan')}` : '';
  return `<sub>Plan for ${end} on base ${code(base.commit?.slice(0, 12) ?? base.name)}, as of ${formatMoment(now)}${named}${again}${report}</sub>`;
}

/**
 * What a reader must see before the merge: the rules that deny, the holds and how to approve them, and the other risks.
 */
function riskBlocks(plan: Plan, comment: Approvable): readonly Block[] {
  const files = plan.lostFiles.map((lost) => `- 🔴 **File lost**: ${prose(lostFileText(lost), Infinity)}`);
  return [
    ...heldBlocks(plan, comment),
    ...ruleBlocks(plan, comment),
    ...listBlock(files, MAX_QUOTES, 'lost file'),
    ...findingBlocks(plan, comment),
  ];
}

function ruleBlocks(plan: Plan, { commands }: Approvable): readonly Block[] {
  const broken = brokenRules(plan).map((rule) => {
    const { name, owners, overridden } = rule;
    if (overridden !== undefined)
      return `- 🔓 **Rule ${code(name)} is overridden by ${code(overridden.by)}**: ${prose(overridden.reason)}. The rule says: ${prose(rule.message)}`;
    const override =
      rule.effect === 'deny' && commands !== undefined && owners.length > 0
        ? `. An owner of the rule can let it pass with the comment ${code(`/berth override ${name} REASON`)}.`
        : '';
    return `- ${rule.effect === 'deny' ? '⛔ **Denied by rule' : '⚠️ **Warning of rule'} ${code(rule.name)}**: ${prose(ruleMessage(rule))}${override}`;
  });
  const changed = changedRulesText(plan);
  return [
    ...listBlock(broken, MAX_QUOTES, 'rule'),
    ...(changed === '' ? [] : [`- ${prose(changed, Infinity)}`]),
  ];
}

const MARKS = { danger: '🔴', warning: '🟡', notice: '🔵' } as const;

function findingBlocks(plan: Plan, { approvals }: Approvable): readonly ListBlock[] {
  const lines = approvedFindings(plan, approvals).map(
    ({ severity, subject, message }) =>
      `- ${MARKS[severity]} **Risk for ${code(subject)}**: ${prose(message)}`,
  );
  return listBlock(lines, MAX_FINDINGS, 'risk');
}

/** The works that are created, changed, moved and deleted. */
function workloadBlocks({ workloads }: Plan): readonly string[] {
  if (workloads.length === 0) return [];
  const lines = workloads.flatMap((plan) => {
    const { kind, namespace, name, added, removed, kept } = plan;
    const where = [
      added.length > 0 ? `joins ${names(added)}` : '',
      removed.length > 0 ? `leaves ${names(removed)}` : '',
      kept > 0 ? `stays on ${formatCount(kept, 'cluster')}` : '',
    ].filter((part) => part !== '');
    return [
      `- ${code(formatRef({ kind, namespace, name }))} ${workloadVerb(plan)}: ${where.join(', ') || 'on no cluster'}`,
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
  const stays = preserves === true ? '; what the deleted ones deployed stays' : '';
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
