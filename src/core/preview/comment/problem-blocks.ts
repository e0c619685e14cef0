import type { Problem } from '@berth/runtime/problem/problem';
import { describeProblem, placeOf } from '../../sources/describe-problem.ts';
import { details, items, MAX_MOVES } from './comment-blocks.ts';
import { code, fileLine, markup, prose } from './foreign-text.ts';
import { hintSentence } from './preview-outcome.ts';

/** So many errors have a block of their own, with lines of their file. */
const MAX_EXCERPTS = 5;

/**
 * The problems of the manifests as Markdown: errors first, each with its hint and its lines; warnings are folded.
 * @param withExcerpts false: without lines of files
 */
export function problemBlocks(problems: readonly Problem[], withExcerpts: boolean): readonly string[] {
  const [errors, warnings] = bySeverity(problems);
  const rest = errors.slice(MAX_EXCERPTS);
  return [
    ...errors.slice(0, MAX_EXCERPTS).map((problem) => block(problem, withExcerpts)),
    ...(rest.length === 0 ? [] : [items(rest.map(line), MAX_MOVES)]),
    ...(warnings.length === 0
      ? []
      : [details(warningsTitle(warnings.length), items(warnings.map(line), MAX_MOVES))]),
  ];
}

/** The same as HTML. '' without problems. */
export function problemSection(problems: readonly Problem[]): string {
  if (problems.length === 0) return '';
  const shown = bySeverity(problems).flat().slice(0, MAX_SHOWN).map(problemHtml);
  const left = problems.length > MAX_SHOWN ? `<p>… and ${problems.length - MAX_SHOWN} more</p>` : '';
  return `<section><h2>Problems</h2>\n${shown.join('\n')}${left}</section>`;
}

const MAX_SHOWN = 2000;

function problemHtml(problem: Problem): string {
  const { severity, sentence, hint, excerpt } = describeProblem(problem);
  const place = placeOf(problem);
  const where = place === undefined ? '' : ` <code>${markup(place)}</code>:`;
  const advice = hint === undefined ? '' : ` ${markup(hintSentence(hint))}`;
  const kind = severity === 'error' ? 'danger' : 'warning';
  const lines = excerpt.map((text) => escaped(fileLine(text))).join('\n');
  return `<p><span class="${kind}">${severity}</span>${where} ${markup(sentence)}.${advice}</p>${lines === '' ? '' : `\n<pre>${lines}</pre>`}`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

function block(problem: Problem, withExcerpts: boolean): string {
  const { excerpt } = describeProblem(problem);
  const lines = withExcerpts ? excerpt.map(fileLine) : [];
  return `${line(problem)}${lines.length === 0 ? '' : `\n\n  \`\`\`yaml\n${lines.map((text) => `  ${text}`).join('\n')}\n  \`\`\``}`;
}

function line(problem: Problem): string {
  const { sentence, hint } = describeProblem(problem);
  const place = placeOf(problem);
  const where = place === undefined ? '' : `${code(place)}: `;
  return `- ${where}${prose(sentence)}${hint === undefined ? '' : `. ${prose(hintSentence(hint))}`}`;
}

function warningsTitle(count: number): string {
  return count === 1 ? '1 warning in the manifests' : `${count} warnings in the manifests`;
}

function bySeverity(problems: readonly Problem[]): readonly [readonly Problem[], readonly Problem[]] {
  return [
    problems.filter(({ severity }) => severity === 'error'),
    problems.filter(({ severity }) => severity !== 'error'),
  ];
}
