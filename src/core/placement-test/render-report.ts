import { formatLocation } from '@berth/runtime/problem/source-location';
import { printable } from '@berth/runtime/text/printable';
import type { CaseOutcome } from './run-placement-test.ts';

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

/** The cases of one PlacementTest, or why it could not be run at all. */
export interface TestReport {
  /** Path as given to the user; '': it is about no file. */
  readonly file: string;
  readonly name: string;
  readonly cases: readonly CaseOutcome[];
  /** Problems of the file or its fleet, already as text; then `cases` is empty. */
  readonly problems: readonly string[];
  /** What the fleet of the test has that was not declared, one sentence each. */
  readonly assumed: readonly string[];
  readonly durationMs: number;
}

/**
 * JUnit XML as CI systems read it: a failed expectation is a failure, a broken test or fleet an error.
 * @param command what made the reports
 */
export function renderJunit(reports: readonly TestReport[], command = 'berth test'): string {
  const suites = reports.map((report) => suite(report, command));
  const sum = (field: 'tests' | 'failures' | 'errors'): number =>
    suites.reduce((sum, one) => sum + one[field], 0);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${escapeXml(command)}" tests="${sum('tests')}" failures="${sum('failures')}" errors="${sum('errors')}">`,
    ...suites.map(({ xml }) => xml),
    '</testsuites>',
    '',
  ].join('\n');
}

interface Suite {
  readonly xml: string;
  readonly tests: number;
  readonly failures: number;
  readonly errors: number;
}

function suite({ file, name, cases, problems, durationMs }: TestReport, command: string): Suite {
  // CI systems group cases by the name of their class.
  const group = file === '' ? command : file;
  const path = file === '' ? '' : ` file="${escapeXml(file)}"`;
  const broken = problems.length > 0;
  const tests = broken ? 1 : cases.length;
  const failures = cases.filter(({ failures: list }) => list.length > 0).length;
  const errors = broken ? 1 : cases.filter(({ error }) => error !== undefined).length;
  const body = broken
    ? [testCase(group, name, element('error', problems))]
    : cases.map((one) => testCase(group, one.name, result(one)));
  const counts = `tests="${tests}" failures="${failures}" errors="${errors}"`;
  const xml = [
    `  <testsuite name="${escapeXml(name)}"${path} ${counts} time="${(durationMs / 1000).toFixed(3)}">`,
    ...body,
    '  </testsuite>',
  ].join('\n');
  return { xml, tests, failures, errors };
}

function testCase(group: string, name: string, result: string): string {
  const open = `    <testcase classname="${escapeXml(group)}" name="${escapeXml(name)}"`;
  return result === '' ? `${open}/>` : `${open}>\n${result}\n    </testcase>`;
}

function result({ failures, error }: CaseOutcome): string {
  if (error !== undefined) return element('error', [error]);
  return failures.length === 0 ? '' : element('failure', failures);
}

function element(kind: 'failure' | 'error', lines: readonly string[]): string {
  const message = escapeXml(lines[0] ?? '');
  return `      <${kind} message="${message}">${escapeXml(lines.join('\n'))}</${kind}>`;
}

/** Also drops the control characters that XML cannot hold at all. */
function escapeXml(text: string): string {
  const legal = [...text].filter((character) => character >= ' ' || '\t\n\r'.includes(character)).join('');
  return legal
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;');
}
