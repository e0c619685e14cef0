import { describe, expect, it } from 'vitest';
import type { RemovalBudget } from '../../../../src/core/publish/judge/removal-budget.ts';
import {
  DEFAULT_REMOVAL_BUDGET,
  parseRemovalBudget,
  removalLimit,
} from '../../../../src/core/publish/judge/removal-budget.ts';

describe('removalLimit', () => {
  it.each<[string, RemovalBudget, number, number]>([
    ['a quarter by default', DEFAULT_REMOVAL_BUDGET, 100, 25],
    ['rounded down', DEFAULT_REMOVAL_BUDGET, 15, 3],
    ['but always two', DEFAULT_REMOVAL_BUDGET, 4, 2],
    ['two also of none', DEFAULT_REMOVAL_BUDGET, 0, 2],
    ['a number, whatever is published', { percent: 0, atLeast: 7 }, 1_000, 7],
    ['nothing', { percent: 0, atLeast: 0 }, 1_000, 0],
    ['everything', { percent: 100, atLeast: 0 }, 9, 9],
  ])('%s', (_name, budget, published, want) => {
    expect(removalLimit(budget, published)).toBe(want);
  });
});

describe('parseRemovalBudget', () => {
  it.each<[string, RemovalBudget | undefined]>([
    ['10%', { percent: 10, atLeast: 2 }],
    [' 10% ', { percent: 10, atLeast: 2 }],
    ['0%', { percent: 0, atLeast: 2 }],
    ['100%', { percent: 100, atLeast: 2 }],
    ['101%', undefined],
    ['3', { percent: 0, atLeast: 3 }],
    ['101', { percent: 0, atLeast: 101 }],
    ['-1', undefined],
    ['1.5%', undefined],
    ['12345678', undefined],
    ['', undefined],
    ['%', undefined],
  ])('%j', (text, want) => {
    expect(parseRemovalBudget(text)).toEqual(want);
  });
});
