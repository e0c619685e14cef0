import type { Passed, Problem } from '@berth/runtime/problem/problem';
import { printable } from '@berth/runtime/text/printable';
import type { CliIo } from './cli-io.ts';
import { type OutputFormat, renderDocument } from './output-format.ts';
import { countProblems, renderProblems } from './problem-report.ts';
import { writePainted } from './terminal-output.ts';

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
