import { describe, expect, it } from 'vitest';
import { StatusError } from '../../src/wire/status-error.ts';
import { boundedWork } from '../../src/wire/status-errors.ts';
import {
  chargeKeys,
  chargeText,
  chargeWork,
  withinWorkBudget,
  WorkExceededError,
} from '../../src/json/work-budget.ts';

describe('a work budget', () => {
  it('ends what spends more than it has, at the same step every time', () => {
    let steps = 0;
    const run = () => {
      steps = 0;
      for (;;) {
        chargeWork(1);
        steps += 1;
      }
    };
    expect(() => withinWorkBudget(run, 1_000)).toThrow(WorkExceededError);
    expect(steps).toBe(1_000);
    expect(() => withinWorkBudget(run, 120_000)).toThrow(WorkExceededError);
    expect(steps).toBe(120_000);
  });

  it('lets through what stays within it and hands back the result', () => {
    expect(
      withinWorkBudget(() => {
        chargeWork(10);
        return 'done';
      }, 10),
    ).toBe('done');
  });

  it('is the budget of the outermost part: a part inside it gets no second one', () => {
    const inner = (): void => withinWorkBudget(() => chargeWork(60), 100);
    expect(() =>
      withinWorkBudget(() => {
        inner();
        inner();
      }, 100),
    ).toThrow(WorkExceededError);
  });

  it('ends with its part, also when that fails', () => {
    expect(() =>
      withinWorkBudget(() => {
        throw new Error('other');
      }, 1),
    ).toThrow('other');
    expect(() => chargeWork(5)).not.toThrow();
  });

  it('refuses nothing outside of a request, however much is spent', () => {
    for (let times = 0; times < 5; times += 1) expect(() => chargeWork(2 ** 29)).not.toThrow();
  });

  it('charges more for the keys of objects that become hash tables', () => {
    expect(() => withinWorkBudget(() => chargeKeys(1_000), 1_001)).not.toThrow();
    expect(() => withinWorkBudget(() => chargeKeys(1_001), 1_500)).toThrow(WorkExceededError);
  });

  it('charges whole steps for texts', () => {
    expect(() => withinWorkBudget(() => chargeText(17, 16), 1)).toThrow(WorkExceededError);
    expect(() => withinWorkBudget(() => chargeText(17, 16), 2)).not.toThrow();
  });

  it('becomes 413 at the end of a request', () => {
    const run = (): never => {
      for (;;) chargeWork(1_000);
    };
    expect(() => boundedWork(run)).toThrow(StatusError);
    expect(() => boundedWork(run)).toThrow(/Request entity too large: it takes more processing/);
  });
});
