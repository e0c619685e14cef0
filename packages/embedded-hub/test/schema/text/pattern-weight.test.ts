import { describe, expect, it } from 'vitest';
import { compilePattern } from '../../../src/schema/text/pattern.ts';
import { patternWeight } from '../../../src/schema/text/pattern-weight.ts';
import { withinWorkBudget, WorkExceededError } from '../../../src/json/work-budget.ts';

describe('patternWeight', () => {
  it.each([
    ['abc', 4],
    ['[a-z\\]0-9]{2,5}', 6],
    ['a{3}', 4],
    ['(ab){1,100}', 401],
    ['((a{10}){10}){10}', 1_200],
    ['\\(\\{', 3],
    ['a{x}', 5],
    ['(((', 4],
  ])('of %s is near %i', (pattern, want) => {
    expect(patternWeight(pattern)).toBeGreaterThanOrEqual(want * 0.8);
    expect(patternWeight(pattern)).toBeLessThanOrEqual(want * 1.3);
  });

  it('keeps a pattern that is written out to a million steps from being compiled', () => {
    const compile = () => compilePattern(`^(${'abcdefghij'.repeat(100)}){1,999}$`);
    expect(() => withinWorkBudget(compile)).toThrow(WorkExceededError);
  });
});
