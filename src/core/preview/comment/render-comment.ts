import type { Problem } from '@berth/runtime/problem/problem';
import { formatLocation } from '@berth/runtime/problem/source-location';
import { approvalTitle, approvalAnnotation, formatMoment } from '../plan-text.ts';
import type { Plan } from '../plan.ts';
import { applicationBlocks } from './application-blocks.ts';
import { details, items, MAX_MOVES, MAX_NAMES, names } from './comment-blocks.ts';
import { objectBlocks, rolloutBlocks, workloadBlocks } from './effect-blocks.ts';
import type { FleetMap } from './fleet-map.ts';
import { fleetMapAlt } from './fleet-map-svg.ts';
import { fleetMapText } from './fleet-map-text.ts';
import { code, prose } from './foreign-text.ts';
import { placementBlocks } from './placement-blocks.ts';
import { type PlanRow, planRows } from './plan-rows.ts';
import {
  type CommentApproval,
  hintSentence,
  type PreviewOutcome,
  previewVerdict,
} from './preview-outcome.ts';
import { riskBlocks } from './risk-blocks.ts';

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
  const summary = [...problemBlocks(problems), ...tables(rows)];
  if (summaryOnly)
    return [...summary, '_The head is in a fork: only the summary is shown, and programs were not run._'];
  return [
    ...whatIfBlocks(plan),
    ...riskBlocks(plan, comment),
    ...summary,
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

function problemBlocks(problems: readonly Problem[]): readonly string[] {
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return [];
  const lines = errors.map(({ location, message, object }) => {
    const { commit: _commit, ...place } = location ?? { file: object ?? '', line: 0, column: 0 };
    return `- ${code(location === undefined ? place.file : formatLocation(place))}: ${prose(message)}`;
  });
  return [items(lines, MAX_MOVES)];
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
  const named = token === undefined ? '' : `, plan token ${code(token.token)}`;
  const again = takesCommands ? ` · plan again with ${code('/berth plan')}` : '';
  return `<sub>${code(base.commit?.slice(0, 12) ?? base.name)} → ${end}, as of ${formatMoment(now)}${named}${again}${report}</sub>`;
}
