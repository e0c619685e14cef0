import { describe, expect, it } from 'vitest';
import { evaluateWithin, newCelBudget } from '../src/cel-budget.ts';
import type { CelCompilation, CelProgram } from '../src/compile-cel.ts';
import {
  compileConditionMessage,
  compileConditionRule,
  compileValidation,
} from '../src/kubernetes-environment.ts';

function program(compiled: CelCompilation): CelProgram {
  if (!compiled.ok) throw new Error(compiled.problem.message);
  return compiled.program;
}

describe('condition rules', () => {
  const READY = { status: { conditions: [{ type: 'Ready', status: 'True' }], replicas: 3 } };

  it.each<[string, unknown, unknown]>([
    [
      'object.status.conditions.exists(c, c.type == "Ready" && c.status == "True")',
      READY,
      { ok: true, value: true },
    ],
    ['hasConditions(object.status)', READY, { ok: true, value: true }],
    ['hasConditions(object.status)', { status: { conditions: [] } }, { ok: true, value: false }],
    ['hasConditions(object.status)', { status: 'x' }, { ok: true, value: false }],
    ['object.status.replicas == 3', READY, { ok: true, value: true }],
    ['object.status.missing == 1', READY, { ok: false, kind: 'runtime', message: 'no such key: missing' }],
    ['object.status.replicas', READY, { ok: true, value: 3n }],
  ])('%s of %j', (expression, object, want) => {
    expect(program(compileConditionRule(expression)).evaluate({ object })).toMatchObject(want as object);
  });

  it('gives messages the result', () => {
    const message = program(compileConditionMessage('result ? "ready" : object.metadata.name + " waits"'));
    expect(message.evaluate({ object: { metadata: { name: 'web' } }, result: false })).toMatchObject({
      value: 'web waits',
    });
    expect(compileConditionRule('result')).toMatchObject({ ok: false, problem: { line: 1, column: 1 } });
  });
});

describe('validation rules', () => {
  it.each<[string, Record<string, unknown>, unknown]>([
    ['self.minReplicas <= self.replicas', { self: { minReplicas: 1, replicas: 2 } }, true],
    ['self == oldSelf', { self: { a: [1] }, oldSelf: { a: [1] } }, true],
    ['!has(oldSelf.x) || has(self.x)', { self: {}, oldSelf: { x: 1 } }, false],
    ['"got " + string(self.n)', { self: { n: 5 } }, 'got 5'],
  ])('%s', (expression, variables, value) => {
    expect(program(compileValidation(expression)).evaluate(variables)).toMatchObject({ ok: true, value });
  });

  it('knows a transition rule', () => {
    expect(program(compileValidation('self == oldSelf')).usedVariables).toContain('oldSelf');
    expect(program(compileValidation('self.oldSelf == 1')).usedVariables).not.toContain('oldSelf');
    expect(program(compileValidation('[1].all(oldSelf, oldSelf > 0)')).usedVariables).not.toContain(
      'oldSelf',
    );
  });
});

describe('a budget', () => {
  const rule = program(compileConditionRule('object.items.all(i, i > 0)'));
  const object = { items: Array.from({ length: 100_000 }, () => 1) };

  it('is shared by all evaluations of a pass, and stays used up', () => {
    const budget = newCelBudget();
    const kinds = Array.from({ length: 25 }, () => {
      const outcome = evaluateWithin(budget, rule, { object });
      return outcome.ok ? 'ok' : outcome.kind;
    });
    const first = kinds.indexOf('budget');
    expect(first).toBeGreaterThan(15);
    expect(kinds.slice(0, first).every((kind) => kind === 'ok')).toBe(true);
    expect(kinds.slice(first).every((kind) => kind === 'budget')).toBe(true);
    expect(evaluateWithin(budget, rule, { object })).toEqual({
      ok: false,
      kind: 'budget',
      message: 'CEL evaluation budget exceeded',
      cost: 0,
    });
  });

  it('is not the limit of one call', () => {
    const nested = program(compileConditionRule('object.items.all(i, object.items.all(j, i >= j))'));
    expect(evaluateWithin(newCelBudget(), nested, { object })).toMatchObject({
      ok: false,
      kind: 'cost-limit',
      message: 'operation cancelled: actual cost limit exceeded',
    });
  });
});
