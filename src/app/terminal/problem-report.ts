import type { Passed, Problem } from '@berth/runtime/problem/problem';
import { formatLocation } from '@berth/runtime/problem/source-location';
import { printable } from '@berth/runtime/text/printable';
import { describeProblem } from '../../core/sources/describe-problem.ts';
import type { CliIo } from './cli-io.ts';
import { type OutputFormat, renderDocument } from './output-format.ts';
import { writePainted } from './terminal-output.ts';

const PAINT = { error: '\u001b[31m', warning: '\u001b[33m', off: '\u001b[0m' } as const;

/**
 * Renders problems for people: `file:line:column: error: …`, a form that editors and CI turn into links.
 * @param colour whether to add colours; print such text with `writePainted`
 */
export function renderProblems(problems: readonly Problem[], colour: boolean): string {
  return problems.map((problem) => renderProblem(problem, colour)).join('');
}

function renderProblem(problem: Problem, colour: boolean): string {
  const { severity, sentence, hint, location } = describeProblem(problem);
  const where = location === undefined ? '' : `${formatLocation(location)}: `;
  const label = colour ? `${PAINT[severity]}${severity}${PAINT.off}` : severity;
  const advice = hint === undefined ? '' : `    hint: ${printable(hint)}\n`;
  return `${where}${label}: ${printable(sentence)} [${printable(problem.code)}]\n${advice}`;
}

/** `2 errors, 1 warning`, or `no problems`. */
export function countProblems(problems: readonly Problem[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  const parts = [count(errors, 'error'), count(warnings, 'warning')].filter((part) => part !== undefined);
  return parts.length === 0 ? 'no problems' : parts.join(', ');
}

function count(number: number, noun: string): string | undefined {
  if (number === 0) return undefined;
  return number === 1 ? `1 ${noun}` : `${number} ${noun}s`;
}

/**
 * Prints what was checked or made, one line each and the hint below it.
 * @returns the worst severity
 */
export async function printChecks(
  io: CliIo,
  checks: readonly (Problem | Passed)[],
  output: OutputFormat,
): Promise<'ok' | Problem['severity']> {
  const problems = checks.flatMap((one) => (one.severity === 'ok' ? [] : [one]));
  if (output !== 'table') io.stdout.write(await renderDocument(checks, output));
  else {
    const lines = checks.map((one) =>
      one.severity === 'ok'
        ? `ok: ${printable(one.object)}: ${printable(one.message)}\n`
        : renderProblems([one], io.colour),
    );
    writePainted(io.stdout, `${lines.join('')}${countProblems(problems)}\n`);
  }
  if (problems.some(({ severity }) => severity === 'error')) return 'error';
  return problems.length > 0 ? 'warning' : 'ok';
}
