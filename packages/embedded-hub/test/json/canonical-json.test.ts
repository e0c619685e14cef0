import { expect, it } from 'vitest';
import { canonicalJson } from '../../src/json/json-value.ts';
import { WorkExceededError, withinWorkBudget } from '../../src/json/work-budget.ts';

it('sorts keys as Go does, those that look like numbers as well', () => {
  expect(canonicalJson({ b: 1, '10': { z: [], a: null }, '2': true })).toBe(
    '{"10":{"a":null,"z":[]},"2":true,"b":1}',
  );
});

it.each([
  { name: 'an object', value: Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`k${at}`, at])) },
  { name: 'a list', value: Array.from({ length: 110 }, () => 0) },
])('spends the work budget of the request: $name', ({ value }) => {
  expect(() => withinWorkBudget(() => canonicalJson(value), 100)).toThrow(WorkExceededError);
  expect(withinWorkBudget(() => JSON.parse(canonicalJson(value)) as unknown, 130)).toEqual(value);
});
