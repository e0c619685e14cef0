import type { CommitStatus } from '@berth/forge/contract/pull-request-forge';
import { type Digest, jointCode, splitRemedy } from '../../publish/approval/approval-code.ts';
import type { RuleOverride } from '../rules/override-rules.ts';
import { formatMoment } from '../plan-text.ts';
import { names } from './comment-blocks.ts';
import { code, prose } from './foreign-text.ts';
import { isAfterwards, type MergeCause } from './merge-cause.ts';
import type { HeldChange } from './command-answers.ts';
import type { HeldAfterMerge, MergeDifference } from './merge-comparison.ts';

/** What a merged pull request did. */
export interface MergeResult {
  readonly held: readonly HeldAfterMerge[];
  readonly differences: readonly ExplainedDifference[];
  /** What was reported as held and is not any more. */
  readonly ended: readonly EndedHold[];
  /** What the plan says happens later, as sentences. */
  readonly later: readonly string[];
  readonly overrides: readonly Pick<RuleOverride, 'rule' | 'by' | 'reason'>[];
}

export interface ExplainedDifference extends MergeDifference {
  /** Undefined: unknown. */
  readonly cause?: MergeCause | undefined;
}

export interface EndedHold {
  readonly what: HeldChange['what'];
  /** Who released it, where and when. Undefined: it ended without a release. */
  readonly releasedBy?: string | undefined;
  /** Of one that was not released, if it is known. */
  readonly cause?: MergeCause | undefined;
  /** Where the placement is now. */
  readonly clusters?: readonly string[] | undefined;
}

const MAX_LINES = 20;
const MAX_NAMES = 5;

/** The result of a merged pull request. `undefined`: not known yet. */
export function mergeResultText(result: MergeResult | undefined): string {
  if (result === undefined) return '**Merged: waiting for the hub to follow.**';
  const { held, differences, ended, later, overrides } = result;
  const lines = [
    ...held.map(heldLine),
    ...differences.map(differenceLine),
    ...ended.map(endedLine),
    ...overrides.map(
      ({ rule, by, reason }) => `- Rule ${code(rule)} was overridden by ${code(by)}: ${prose(reason)}`,
    ),
    ...later.map((text) => `- Later: ${prose(text)}`),
  ];
  const shown = lines.slice(0, MAX_LINES);
  if (lines.length > shown.length) shown.push(`- … and ${lines.length - shown.length} more`);
  return [`**${titleOf(result)}**`, ...(shown.length === 0 ? [] : [shown.join('\n')])].join('\n\n');
}

/** The comment that people are notified of: a hold with the command that approves all of it, or a difference. */
export function mergeNotice(marker: string, result: MergeResult, digest: Digest): string {
  return `${marker}\n${mergeResultText(result)}${approvalText(result, digest)}\n`;
}

/** Whether people have to know: something is held, or the merge did something else than the plan said. */
export function isNotable({ held, differences }: MergeResult): boolean {
  return held.length > 0 || differences.some(({ cause }) => cause === undefined || !isAfterwards(cause));
}

/** The status of the commit of the merge. */
export function mergeStatus(result: MergeResult): Pick<CommitStatus, 'state' | 'description'> {
  const { held, differences } = result;
  const isOff = isNotable({ ...result, held: held.filter(({ isPlanned }) => !isPlanned) });
  const waits = heldTitle(held).replaceAll('`', '').replace(/\.$/, '');
  if (isOff && differences.length > 0) {
    const whose = isByOthers(result) ? ', not by this pull request' : '';
    const more = held.length === 0 ? '' : `; ${waits}`;
    return { state: 'failure', description: `Not as the plan said: ${counted(differences)}${whose}${more}` };
  }
  if (held.length > 0) return { state: isOff ? 'failure' : 'pending', description: waits };
  if (differences.length > 0)
    return { state: 'success', description: `${counted(differences)} moved again, not by this pull request` };
  const overrides = result.overrides.map(({ rule, by }) => `; rule ${rule} was overridden by ${by}`).join('');
  const what = isAsPlanned(result) ? 'As the plan said' : 'Nothing is held any more';
  return { state: 'success', description: `${what}${overrides}` };
}

function titleOf(result: MergeResult): string {
  const { held, differences, ended } = result;
  if (held.length > 0) return `Merged. ${heldTitle(held)}`;
  if (differences.length > 0) {
    const are = differences.length === 1 ? 'is' : 'are';
    const whose = isByOthers(result) ? ', and not by this pull request' : '';
    return `Merged: ${counted(differences)} ${are} not as this plan said${whose}.`;
  }
  if (!isAsPlanned(result)) return 'Merged. Nothing is held any more.';
  return `Merged: everything is as this plan said.${ended.length === 0 ? '' : ' Nothing is held any more.'}`;
}

/** What was held was released, and nothing else differs. */
function isAsPlanned({ ended }: MergeResult): boolean {
  return ended.every(({ releasedBy }) => releasedBy !== undefined);
}

function isByOthers({ differences }: MergeResult): boolean {
  return differences.every(({ cause }) => cause !== undefined);
}

function counted({ length }: readonly unknown[]): string {
  return length === 1 ? '1 placement' : `${length} placements`;
}

/** `1 change is held and not applied: team-a/web stays on c1.` */
function heldTitle(held: readonly HeldAfterMerge[]): string {
  const [only, ...more] = held;
  if (only !== undefined && more.length === 0)
    return `1 change is held and not applied: ${heldSubject(only)}.`;
  return `${held.length} changes are held and not applied.`;
}

function heldSubject({ what }: HeldAfterMerge): string {
  if ('deletionsOf' in what) return `the deletions of source ${code(what.deletionsOf)}`;
  if ('addOn' in what) return `add-on ${code(what.addOn)} stays on ${names(what.leaving, MAX_NAMES)}`;
  if (what.before.length === 0) return `${code(what.placement)} stays on no cluster`;
  return `${code(what.placement)} stays on ${names(what.before, MAX_NAMES)}`;
}

function heldLine(one: HeldAfterMerge): string {
  const { reason, message, isPlanned } = one;
  const why = reason === undefined ? '' : ` (${prose(reason)})`;
  const other = isPlanned ? '' : ', which this plan did not say';
  return `- ${heldSubject(one)}${why}${other}: ${prose(splitRemedy(message)[0])}`;
}

function endedLine({ what, releasedBy, cause, clusters = [] }: EndedHold): string {
  const subject =
    'deletionsOf' in what
      ? `the deletions of source ${code(what.deletionsOf)}`
      : 'addOn' in what
        ? `the removal of add-on ${code(what.addOn)} from ${names(what.leaving, MAX_NAMES)}`
        : code(what.placement);
  const where =
    'placement' in what
      ? ` It is on ${clusters.length === 0 ? 'no cluster' : names(clusters, MAX_NAMES)}.`
      : '';
  if (releasedBy !== undefined) return `- ${subject}: released by ${prose(releasedBy)}.${where}`;
  const why = cause === undefined ? '' : `: ${causeText(cause)}`;
  return `- ${subject}: not held any more${why}.${where}`;
}

function approvalText({ held }: MergeResult, digest: Digest): string {
  const codes = held.flatMap(({ token }) => token ?? []);
  const joint = jointCode(digest, codes);
  if (joint === undefined) return '';
  const which = codes.length === 1 ? 'it' : 'all of them';
  return `\n\nTo apply ${which}, write a comment here: ${code(`/berth approve ${joint}`)}.`;
}

function differenceLine({
  placement,
  expected,
  published,
  cause,
}: MergeResult['differences'][number]): string {
  const missing = expected.filter((name) => !published.includes(name));
  const extra = published.filter((name) => !expected.includes(name));
  const parts = [
    missing.length > 0 ? `not on ${names(missing, MAX_NAMES)}, though planned` : '',
    extra.length > 0 ? `on ${names(extra, MAX_NAMES)}, though not planned` : '',
    cause === undefined ? '' : `not by this pull request: ${causeText(cause)}`,
  ].filter((part) => part !== '');
  return `- ${code(placement)}: ${parts.join('; ')}`;
}

/** `#9, which was merged later, moves it, too` */
export function causeText(cause: MergeCause): string {
  switch (cause.kind) {
    case 'later-merge':
      return `${prose(`#${cause.number}`)}, which was merged later, moves it, too`;
    case 'later-commit':
      return `it was decided when the branch was at ${code(cause.commit.slice(0, 12))} already`;
    case 'hub-since':
      return `it was as planned until ${formatMoment(cause.at)}; then something on the hub changed, or time passed`;
    case 'earlier-merge':
      return `${prose(`#${cause.number}`)}, which was merged between this plan and this merge, moves it, too`;
    case 'earlier-commits':
      return 'the branch got other commits between this plan and this merge';
    case 'hub-before':
      return 'clusters, scores or decisions changed on the hub between this plan and this merge';
  }
}

/** A result that was inserted before. */
const RESULT = /^\n*\*\*Merged[:.] [^\n]*\*\*\n+(?:- [^\n]*\n+)*/;

/** The answer to a question that nobody asks after the merge. */
const MAY_MERGE = /^\*\*May I merge\?\*\* [^\n]*\n+/m;

/** What the plan said of later. The result has what is still to come. */
const LATER = /^\*\*Later, [^\n]*\*\*\n+(?:- [^\n]*\n+)*/m;

/** Inserts the result below the first line of a preview's comment, and replaces an earlier result. */
export function withMergeResult(comment: string, result: MergeResult | undefined, maxLength: number): string {
  const [marker = '', headline = '', ...rest] = comment.split('\n');
  const old = [RESULT, MAY_MERGE, LATER, /^\n+/];
  const body = old.reduce((text, part) => text.replace(part, ''), rest.join('\n'));
  const text = mergeResultText(result);
  const of = (part: string): string => `${marker}\n${headline}\n\n${part}\n\n${body}`;
  // The comment of the plan may be as long as the forge allows. Then the notice has the list.
  return of(text).length <= maxLength ? of(text) : of(text.split('\n', 1)[0] ?? '');
}
