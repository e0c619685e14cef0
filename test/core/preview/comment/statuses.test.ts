import { describe, expect, it } from 'vitest';
import type { Problem } from '@berth/runtime/problem/problem';
import { statusReport, ruleStatuses } from '../../../../src/core/preview/comment/status-report.ts';
import type { Plan } from '../../../../src/core/preview/plan.ts';
import type { RuleResult } from '../../../../src/core/preview/plan-verdict.ts';
import { move, placementPlan, plan, planned } from './comment-fixture.ts';

const rule = (name: string, over: Partial<RuleResult> = {}): RuleResult => ({
  ...{ name, effect: 'deny', outcome: 'kept', message: 'At most one.', owners: ['ops'] },
  location: { file: '.berth/rules.yaml', line: 4, column: 3 },
  ...over,
});
const ruled = (...base: readonly RuleResult[]): Partial<Plan> => ({
  rules: { changed: false, base, head: [] },
});
const UNPLANNED = { kind: 'unplanned', message: 'both changed web.yaml' } as const;
const problem = (severity: Problem['severity'], line: number): Problem => ({
  ...{ severity, code: 'schema.type', message: 'got a number, expected text \u202e' },
  location: { file: 'web.yaml', line, column: 1 },
});
const HELD = placementPlan('team-a/db', {
  removed: [move('c1')],
  held: { reason: 'WouldEmpty', message: 'It would be empty.' },
});

describe('the status of each guard rule', () => {
  const told = (outcome: Parameters<typeof ruleStatuses>[0], known: readonly string[] = []) =>
    ruleStatuses(outcome, known).map(({ name, state, description }) => [name, state, description]);

  it('says what the rule says of the plan', () => {
    const rules = ruled(
      rule('few'),
      rule('regions', { outcome: 'broken' }),
      rule('soft', { effect: 'warn', outcome: 'broken', owners: [] }),
      rule('odd', { outcome: 'failed', message: 'cannot be judged: no such key' }),
    );
    expect(told(planned(plan(rules)))).toEqual([
      ['few', 'success', 'Kept'],
      ['regions', 'failure', 'Denied by rule regions: At most one. (ask ops)'],
      ['soft', 'success', 'Warning of rule soft: At most one.'],
      ['odd', 'failure', 'Denied by rule odd: cannot be judged: no such key (ask ops)'],
    ]);
    expect(ruleStatuses(planned(plan(rules)), []).map(({ report }) => report.conclusion)).toEqual([
      'success',
      'failure',
      'neutral',
      'failure',
    ]);
  });

  it('comes for a rule that is gone too: a branch may still require it', () => {
    expect(told(planned(plan({})), ['few'])).toEqual([['few', 'success', 'There is no such rule any more']]);
    expect(told(planned(plan(ruled(rule('few')))), ['few', 'old'])).toMatchObject([
      ['few', 'success', 'Kept'],
      ['old', 'success', expect.any(String)],
    ]);
  });

  it('comes without a plan too, and then stops', () => {
    expect(told(UNPLANNED, ['few'])).toEqual([['few', 'failure', 'Not judged: there is no plan']]);
  });

  it('passes for a rule that only the pull request has, and judges by the base what it removes', () => {
    const base = [rule('few', { outcome: 'broken' })];
    const head = [rule('new', { outcome: 'broken' })];
    const changed = plan({ rules: { changed: true, base, head } });
    expect(told(planned(changed))).toMatchObject([
      ['few', 'failure', expect.any(String)],
      ['new', 'success', expect.stringContaining('would break it')],
    ]);
  });

  it('passes where nothing changes, as the preview does', () => {
    const unchanged = plan({ ...ruled(rule('never', { outcome: 'broken' })), hasChanges: false });
    expect(told(planned(unchanged))).toEqual([['never', 'success', 'Nothing moves, no object changes']]);
    expect(statusReport(planned(unchanged), [], '').conclusion).toBe('success');
  });
});

describe('the report of a check', () => {
  const moved = { placements: [placementPlan('team-a/web', { added: [move('c3')] })] };
  it.each([
    { name: 'changes', outcome: planned(plan(moved)), conclusion: 'success' },
    {
      name: 'a warning of a rule',
      outcome: planned(plan({ ...moved, ...ruled(rule('x', { effect: 'warn', outcome: 'broken' })) })),
      conclusion: 'neutral',
    },
    {
      name: 'a rule that denies',
      outcome: planned(plan({ placements: [HELD], ...ruled(rule('x', { outcome: 'broken' })) })),
      conclusion: 'failure',
    },
    { name: 'a hold', outcome: planned(plan({ placements: [HELD] })), conclusion: 'action-required' },
    { name: 'an error', outcome: planned(plan(moved), [problem('error', 1)]), conclusion: 'failure' },
    { name: 'no plan', outcome: UNPLANNED, conclusion: 'failure' },
  ])('concludes for $name: $conclusion', ({ outcome, conclusion }) => {
    expect(statusReport(outcome, [], '').conclusion).toBe(conclusion);
  });

  it('lets an approved hold pass', () => {
    const approvals = [{ token: HELD.token, by: 'grace' }];
    expect(statusReport(planned(plan({ placements: [HELD] })), approvals, '').conclusion).toBe('success');
  });

  it('says at the line of an approved change who approved it', () => {
    const finding = {
      code: 'held',
      severity: 'danger',
      subject: 'Placement team-a/db',
      message: 'Would be held (WouldEmpty): it would be empty.',
      location: { file: 'db.yaml', line: 7, column: 1 },
    } as const;
    const outcome = planned(plan({ placements: [HELD], findings: [finding] }));
    const remarks = (approvals: Parameters<typeof statusReport>[1]) =>
      statusReport(outcome, approvals, '').annotations.map(({ level, message }) => [level, message]);
    const held = 'Placement team-a/db: Would be held (WouldEmpty): it would be empty.';
    expect(remarks([])).toEqual([['failure', held]]);
    expect(remarks([{ token: HELD.token, by: 'grace' }])).toEqual([
      ['notice', held.replace('Would be held', 'Approved by grace')],
    ]);
  });

  it('remarks at lines, the most dangerous first, in text that hides nothing, and 200 at most', () => {
    const of = plan({
      ...ruled(rule('few', { outcome: 'broken' })),
      findings: [
        {
          code: 'unsatisfied',
          severity: 'notice',
          subject: 'Placement team-a/web',
          message: 'one is missing',
        },
        {
          ...{
            code: 'last-cluster',
            severity: 'danger',
            subject: 'Placement team-a/db',
            message: 'its last',
          },
          location: { file: 'db.yaml', line: 7, column: 1 },
        },
      ],
    });
    const { annotations } = statusReport(planned(of, [problem('warning', 2), problem('error', 9)]), [], '');
    expect(annotations).toEqual([
      {
        ...{ file: 'web.yaml', line: 9, level: 'failure', title: 'schema.type' },
        message: 'got a number, expected text �',
      },
      expect.objectContaining({ file: '.berth/rules.yaml', line: 4, level: 'failure', title: 'rule few' }),
      expect.objectContaining({ file: 'db.yaml', line: 7, message: 'Placement team-a/db: its last' }),
      expect.objectContaining({ file: 'web.yaml', line: 2, level: 'warning' }),
    ]);
    const many = Array.from({ length: 300 }, (_, line) => problem('warning', line + 1));
    expect(statusReport(planned(of, many), [], '').annotations).toHaveLength(200);
  });

  it('tells of a fork only what is wrong with its files', () => {
    const of = plan(ruled(rule('few', { outcome: 'broken' })));
    expect(statusReport(planned(of, [problem('error', 9)], true), [], '').annotations).toMatchObject([
      { file: 'web.yaml', line: 9 },
    ]);
  });
});
