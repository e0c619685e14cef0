import type { BerthError } from '@berth/runtime/errors';
import type { ExcerptLine, Problem } from '@berth/runtime/problem/problem';
import { formatLocation, type SourceLocation } from '@berth/runtime/problem/source-location';

/** A problem of a manifest in the words that every command, comment, status and report uses. */
export interface DescribedProblem {
  readonly severity: Problem['severity'];
  /** The object, if known, and what is wrong with it. */
  readonly sentence: string;
  readonly hint: string | undefined;
  readonly location: SourceLocation | undefined;
  /** Lines of the file, `> 4 | spec:`, with a mark below the place. Foreign text; empty if not known. */
  readonly excerpt: readonly string[];
}

/** The one judge of what is said of a problem. */
export function describeProblem(problem: Problem): DescribedProblem {
  const { severity, message, object, hint, location, excerpt = [] } = problem;
  return {
    severity,
    sentence: object === undefined ? message : `${object}: ${message}`,
    hint,
    location,
    excerpt: location === undefined ? [] : excerptLines(excerpt, location),
  };
}

/** A problem on one line: place, sentence and hint. */
export function problemText(problem: Problem): string {
  const { sentence, hint, location } = describeProblem(problem);
  const place = location === undefined ? '' : `${formatLocation(location)}: `;
  return `${place}${sentence}${hint === undefined ? '' : ` (${hint})`}`;
}

/** The place without its commit, where only one commit is meant. */
export function placeOf({ location }: Pick<Problem, 'location'>): string | undefined {
  return location && formatLocation({ ...location, commit: undefined });
}

const MAX_LINE_LENGTH = 120;
/** Lines before and after the place. */
const AROUND = 1;

/** The lines around a place of a file; none if the place is not in it, or if the file has a Secret. */
export function excerptOf(text: string, { line }: Pick<SourceLocation, 'line'>): readonly ExcerptLine[] {
  if (/^\s*(?:- )?["']?kind["']?:\s*["']?Secret\b/m.test(text)) return [];
  const lines = text.split(/\r?\n/);
  const first = Math.max(line - AROUND, 1);
  return lines
    .slice(first - 1, line + AROUND)
    .map((one, at) => ({ line: first + at, text: one.slice(0, MAX_LINE_LENGTH) }))
    .filter((one) => one.line === line || one.text.trim() !== '');
}

function excerptLines(excerpt: readonly ExcerptLine[], { line, column }: SourceLocation): readonly string[] {
  const width = Math.max(...excerpt.map((one) => String(one.line).length));
  return excerpt.flatMap((one) => {
    const isPlace = one.line === line;
    const shown = `${isPlace ? '>' : ' '} ${String(one.line).padStart(width)} | ${one.text}`;
    if (!isPlace || column > one.text.length + 1) return [shown];
    // Each character before the place takes one column; tabs are shown as one character.
    return [shown, `  ${' '.repeat(width)} | ${' '.repeat(column - 1)}^`];
  });
}

/**
 * Converts a thrown error to a problem of the input, whose location is a field instead of a part of
 * the message.
 */
export function errorProblem({ code, message, hint, location }: BerthError): Problem {
  const place = location === undefined ? '' : ` (${formatLocation(location)})`;
  const text = message.endsWith(place) ? message.slice(0, message.length - place.length) : message;
  return { severity: 'error', code, message: text, ...(hint && { hint }), ...(location && { location }) };
}
