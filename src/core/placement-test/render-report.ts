import { printable } from '@berth/runtime/text/printable';
import { formatLocation } from '@berth/runtime/problem/source-location';
import type { TestReport } from './junit.ts';

const PAINT = { ok: '\u001b[32m', fail: '\u001b[31m', off: '\u001b[0m' } as const;

export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  /** Cases that are wrong themselves, and tests whose file or fleet could not be read. */
  readonly broken: number;
}

export function countCases(reports: readonly TestReport[]): TestCounts {
  const cases = reports.flatMap((report) => report.cases);
  const failed = cases.filter(({ failures }) => failures.length > 0).length;
  const wrong = cases.filter(({ error }) => error !== undefined).length;
  const unread = reports.filter(({ problems }) => problems.length > 0).length;
  return { passed: cases.length - failed - wrong, failed, broken: wrong + unread };
}

/**
 * One test as people read it.
 * @param colour then the text is for `writePainted`
 */
export function renderReport({ file, name, cases, problems, assumed }: TestReport, colour: boolean): string {
  const mark = (kind: 'ok' | 'fail', word: string): string =>
    colour ? `${PAINT[kind]}${word}${PAINT.off}` : word;
  const lines = [printable(`${file}: ${name}`)];
  for (const sentence of assumed) lines.push(`  assumed: ${printable(sentence)}`);
  for (const problem of problems) lines.push(`  ${mark('fail', 'ERROR')}  ${indented(problem, 9)}`);
  for (const { name: caseName, failures, error, location } of cases) {
    const reasons = error === undefined ? failures : [error];
    const passed = reasons.length === 0;
    lines.push(
      `  ${passed ? mark('ok', 'ok   ') : mark('fail', error === undefined ? 'FAIL ' : 'ERROR')}  ${printable(caseName)}`,
    );
    if (!passed && location !== undefined) lines.push(`           ${formatLocation(location)}`);
    for (const reason of reasons) lines.push(`           ${indented(reason, 11)}`);
  }
  return `${lines.join('\n')}\n`;
}

export function renderCounts({ passed, failed, broken }: TestCounts): string {
  return `${passed} passed, ${failed} failed${broken === 0 ? '' : `, ${broken} broken`}\n`;
}

/** Tests for programs: the objects of `-o json` and `-o yaml`. */
export function describeReports(reports: readonly TestReport[]): unknown {
  return {
    ...countCases(reports),
    tests: reports.map(({ file, name, durationMs, problems, assumed, cases }) => ({
      ...{ file, name, durationMs: Math.round(durationMs), problems, assumed },
      cases: cases.map(({ name: caseName, placement, failures, error, location }) => ({
        name: caseName,
        outcome: error !== undefined ? 'broken' : failures.length > 0 ? 'failed' : 'passed',
        placement: placement === '' ? undefined : placement,
        failures,
        error,
        location,
      })),
    })),
  };
}

function indented(text: string, columns: number): string {
  return text
    .split('\n')
    .map(printable)
    .join(`\n${' '.repeat(columns)}`);
}
