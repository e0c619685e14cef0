import type { Problem } from '@berth/runtime/problem/problem';
import { markup } from '../comment/foreign-text.ts';
import { type PreviewOutcome, previewVerdict } from '../comment/preview-outcome.ts';
import type { Plan } from '../plan.ts';
import { mergeHtml, type Reportable } from './merge-line.ts';
import { reportSections } from './report-sections.ts';
import { CONTENT_POLICY, SCRIPT, STYLE } from './report-style.ts';

export interface PreviewReport extends Reportable {
  /** `team/fleet#12` */
  readonly subject: string;
  /** Absent: the plan is not of a pull request. */
  readonly pullRequest?: ReportedPullRequest | undefined;
  readonly outcome: PreviewOutcome;
  /** In characters. Sections that do not fit are omitted completely, and the page says so. */
  readonly maxLength: number;
}

/** What the page of a pull request is made of, so that the dashboard can make it again. Plain JSON. */
export type ReportedPlan = Omit<PreviewReport, 'maxLength'>;

/** Foreign text. */
export interface ReportedPullRequest {
  readonly title: string;
  readonly authorName: string;
  readonly url: string | undefined;
}

/** Reserved for the page around the sections. */
const RESERVED = 4_000 + STYLE.length + SCRIPT.length;

/** Signs that every font has. */
const SIGNS = { unchanged: '✓', changes: '→', stopped: '■', failed: '×' } as const;

/** All of a plan as one HTML page, as `berth serve` keeps it for a pull request. @param problems of the head */
export function renderPlanHtml(plan: Plan, problems: readonly Problem[] = []): string {
  return reportPage({
    subject: 'Placement plan',
    outcome: { kind: 'planned', plan, problems, summaryOnly: false },
    approvals: [],
    maxLength: Infinity,
  });
}

/**
 * The complete preview as one HTML page without external content. Its script only filters; without it everything can be
 * read. Foreign text is escaped.
 */
export function reportPage({
  subject,
  pullRequest,
  outcome,
  maxLength,
  ...reportable
}: PreviewReport): string {
  const { approvals } = reportable;
  const { level, text } = previewVerdict(outcome, approvals);
  const { shown, left } = fitting(reportSections(outcome, reportable), maxLength - RESERVED);
  const rest =
    left === 0
      ? ''
      : `<p>${left} more sections do not fit in this page: run <code>berth plan</code> to see them.</p>`;
  const title = pullRequest === undefined || pullRequest.title === '' ? subject : pullRequest.title;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${markup(title)}: what it would move</title>
<meta http-equiv="Content-Security-Policy" content="${CONTENT_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>${STYLE}</style></head><body>
<header>${originHtml(subject, pullRequest)}<h1>${markup(title)}</h1>
<p class="verdict ${level}"><span aria-hidden="true">${SIGNS[level]}</span> ${markup(text)}</p>
<p>${mergeHtml(outcome, reportable)}</p></header>
<div class="tools" hidden><label>Filter <input type="search"></label> <button type="button">Open or close all</button> <span role="status"></span></div>
<main>
${shown.join('\n')}
${rest}
</main>
<script>${SCRIPT}</script></body></html>
`;
}

/** Where the plan comes from: the pull request with a way back, and its author. */
function originHtml(subject: string, pullRequest: ReportedPullRequest | undefined): string {
  if (pullRequest === undefined) return '';
  const { authorName, url } = pullRequest;
  const address = url === undefined ? undefined : webAddress(url);
  const name = address === undefined ? markup(subject) : `<a href="${address}">${markup(subject)}</a>`;
  const by = authorName === '' ? '' : ` by ${markup(authorName)}`;
  return `<p class="origin">${name}${by}</p>`;
}

const MAX_ADDRESS = 2_000;

/** An address of the web, escaped. Undefined for any other, such as `javascript:`. */
function webAddress(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, href } = new URL(text);
  const isWeb = protocol === 'https:' || protocol === 'http:';
  return isWeb && href.length <= MAX_ADDRESS
    ? href.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
    : undefined;
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
