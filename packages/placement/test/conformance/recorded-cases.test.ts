import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { CaseResult } from '../../src/case/case-result.ts';
import { compileCel } from '../../src/filter/cel-hook.ts';
import { simulateSnapshot } from '../../src/case/render-case.ts';
import { scheduleAllPlainly } from '../reference/reference-schedule.ts';
import { caseGroups, comparable, readCases } from './compare-case.ts';

function expectAgreement(results: readonly CaseResult[], expected: readonly CaseResult[]): void {
  expect(results.map((result, index) => comparable(result, expected[index] as CaseResult))).toEqual(
    expected.map((wanted, index) => comparable(wanted, results[index] as CaseResult)),
  );
}

it.each(['README.md', 'docs/placement.md'])('%s says how many cases are recorded', (page) => {
  const cases = caseGroups().flatMap((group) => readCases(group)).length;
  expect(readFileSync(page, 'utf8')).toContain(`${cases} recorded cases`);
});

describe.each(caseGroups())('placement agrees with the recorded scheduler: %s', (group) => {
  const cases = readCases(group).map((recorded) => [recorded.case.name, recorded] as const);

  it.each(cases)('engine, %s', (_name, recorded) => {
    expectAgreement(simulateSnapshot(recorded.case), recorded.expected);
  });

  it.each(cases)('plain implementation, %s', (_name, recorded) => {
    expectAgreement(scheduleAllPlainly(recorded.case, compileCel), recorded.expected);
  });
});
