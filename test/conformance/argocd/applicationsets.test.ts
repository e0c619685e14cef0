import { describe, expect, it } from 'vitest';
import { renderRecordedCase } from '../../../src/app/cli/commands/argocd/cases/run-cases.ts';
import { readApplicationSetCases, sidesOf } from './compare-result.ts';

const CASES = readApplicationSetCases();
const FAMILIES = [...new Set(CASES.map(({ recorded }) => recorded.family))];

function answerOf(line: string) {
  const answer = renderRecordedCase(line);
  if (!('result' in answer)) throw new TypeError(`${answer.id} is no ApplicationSet`);
  return answer.result;
}

describe.each(FAMILIES)('ApplicationSets become what Argo CD makes of them: %s', (family) => {
  const cases = CASES.filter(({ recorded }) => recorded.family === family).map(
    ({ line, recorded }) => [`${recorded.id}: ${recorded.about}`, line, recorded] as const,
  );

  it.each(cases)('%s', (_name, line, { result }) => {
    const { want, got } = sidesOf(result, answerOf(line));
    expect(got).toBe(want);
  });
});
