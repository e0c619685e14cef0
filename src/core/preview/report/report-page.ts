import type { Problem } from '@berth/runtime/problem/problem';
import { formatLocation } from '@berth/runtime/problem/source-location';
import type { FleetMap } from '../comment/fleet-map.ts';
import { fleetMap } from '../comment/fleet-map.ts';
import { fleetMapSvg } from '../comment/fleet-map-svg.ts';
import { markup } from '../comment/foreign-text.ts';
import {
  type CommentApproval,
  hintSentence,
  type PreviewOutcome,
  previewVerdict,
} from '../comment/preview-outcome.ts';
import type { Plan } from '../plan.ts';
import { list } from './html-parts.ts';
import { planSections } from './plan-sections.ts';

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
  const lines = problems.map(({ severity, message, location }) => {
    const place = location === undefined ? '' : `${formatLocation({ ...location, commit: undefined })}: `;
    return `${severity}: ${place}${message}`;
  });
  const picture = map === undefined ? '' : `<figure>${fleetMapSvg(map).replace(NAMESPACE, '')}</figure>`;
  return [list('Problems', lines), picture, ...planSections(plan)].filter((section) => section !== '');
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
  'code{font-family:ui-monospace,monospace}li,td{overflow-wrap:anywhere}',
  'figure{margin:1rem 0;overflow:auto}',
  '.danger{color:#cf222e;font-weight:600}.warning{color:#9a6700}',
  '@media (prefers-color-scheme:dark){.danger{color:#ff7b72}.warning{color:#d29922}}',
].join('');
