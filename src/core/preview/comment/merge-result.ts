import { names } from './comment-blocks.ts';
import { code, prose } from './foreign-text.ts';
import type { MergeDifference } from './merge-comparison.ts';

const MAX_DIFFERENCES = 20;
const MAX_NAMES = 5;
const AS_PLANNED = '**Merged: everything is as this plan said.**';
const PENDING = '**Merged: waiting for the hub to follow.**';

/** The result of a merged pull request. `undefined` differences: not known yet. */
export function mergeResultText(differences: readonly MergeDifference[] | undefined): string {
  if (differences === undefined) return PENDING;
  if (differences.length === 0) return AS_PLANNED;
  const lines = differences.slice(0, MAX_DIFFERENCES).map(differenceText);
  if (differences.length > lines.length) lines.push(`- … and ${differences.length - lines.length} more`);
  const what = differences.length === 1 ? '1 placement is' : `${differences.length} placements are`;
  return `**Merged: ${what} not as this plan said.**\n\n${lines.join('\n')}`;
}

/** Inserts the result below the first line of a preview's comment, and replaces an earlier result. */
export function withMergeResult(
  comment: string,
  differences: readonly MergeDifference[] | undefined,
): string {
  const [marker = '', headline = '', ...rest] = comment.split('\n');
  const body = rest.join('\n').replace(RESULT, '');
  return `${marker}\n${headline}\n\n${mergeResultText(differences)}\n\n${body.replace(/^\n+/, '')}`;
}

/** A result that was inserted before. */
const RESULT = /^\n*\*\*Merged: [^\n]*\*\*\n+(?:- [^\n]*\n+)*/;

function differenceText({ placement, expected, published, held }: MergeDifference): string {
  const missing = expected.filter((name) => !published.includes(name));
  const extra = published.filter((name) => !expected.includes(name));
  const parts = [
    missing.length > 0 ? `planned and not there: ${names(missing, MAX_NAMES)}` : '',
    extra.length > 0 ? `there and not planned: ${names(extra, MAX_NAMES)}` : '',
    held === undefined ? '' : `held: ${prose(held)}`,
  ].filter((part) => part !== '');
  return `- ${code(placement)}: ${parts.join('; ')}`;
}
