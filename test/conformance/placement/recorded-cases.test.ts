import { describe, expect, it } from 'vitest';
import { compileCel } from '../../../src/core/placement/schedule-all.ts';
import { scheduleAllPlainly } from '../../../src/core/placement/plain/reference-schedule.ts';
import { caseGroups, comparable, readCases } from './compare-case.ts';

describe.each(caseGroups())('placement agrees with the recorded scheduler: %s', (group) => {
  it.each(readCases(group).map((recorded) => [recorded.case.name, recorded] as const))(
    '%s',
    (_name, recorded) => {
      const results = scheduleAllPlainly(recorded.case, compileCel);
      expect(results.map((result, index) => comparable(result, recorded.expected[index] as never))).toEqual(
        recorded.expected.map((wanted, index) => comparable(wanted, results[index] as never)),
      );
    },
  );
});
