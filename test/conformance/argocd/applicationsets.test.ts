import { describe, expect, it } from 'vitest';
import { answerCase } from '../../../src/app/cli/commands/argocd/cases/answer-case.ts';
import { isError, readApplicationSetCases, sidesOf } from './compare-result.ts';
import { OTHER_TEXTS } from './other-texts.ts';

const CASES = readApplicationSetCases();
const FAMILIES = [...new Set(CASES.map(({ recorded }) => recorded.family))];

function answerOf(line: string) {
  const answer = answerCase(line);
  if (!('result' in answer)) throw new TypeError(`${answer.id} is no ApplicationSet`);
  return answer.result;
}

describe.each(FAMILIES)('ApplicationSets become what Argo CD makes of them: %s', (family) => {
  const cases = CASES.filter(({ recorded }) => recorded.family === family).map(
    ({ line, recorded }) => [`${recorded.id}: ${recorded.about}`, line, recorded] as const,
  );

  it.each(cases)('%s', (_name, line, { result }) => {
    const { want, got } = sidesOf(result, answerOf(line), false);
    expect(got).toBe(want);
  });
});

describe('errors are told in the words of Argo CD', () => {
  const failing = CASES.filter(({ recorded }) => isError(recorded.result));

  it.each(
    failing
      .filter(({ recorded }) => !(recorded.id in OTHER_TEXTS))
      .map(({ line, recorded }) => [recorded.id, line, recorded.result] as const),
  )('%s', (_id, line, result) => {
    const { want, got } = sidesOf(result, answerOf(line), true);
    expect(got).toBe(want);
  });

  it('lists only texts that do differ', () => {
    const differing = failing
      .filter(({ line, recorded }) => {
        const { want, got } = sidesOf(recorded.result, answerOf(line), true);
        return want !== got;
      })
      .map(({ recorded }) => recorded.id);
    expect(differing).toEqual(Object.keys(OTHER_TEXTS));
  });
});
