import { describe, expect, it } from 'vitest';
import type { RuleResult } from '../../../../src/core/preview/plan-verdict.ts';
import { checkRuleExpectation } from '../../../../src/core/preview/rules/check-rule-expectation.ts';
import type { RuleExpectation } from '../../../../src/core/preview/rules/rule-test.ts';

function rule(name: string, over: Partial<RuleResult>): RuleResult {
  const location = { file: '.berth/rules.yaml', line: 1, column: 1 };
  return { name, effect: 'deny', outcome: 'kept', message: `${name} says no`, owners: [], location, ...over };
}

const RESULTS: readonly RuleResult[] = [
  rule('kept', {}),
  rule('broken', { outcome: 'broken' }),
  rule('warns', { outcome: 'broken', effect: 'warn' }),
  rule('failed', { outcome: 'failed', message: 'cannot be judged: no such key' }),
];
const only = (...names: readonly string[]): readonly RuleResult[] =>
  RESULTS.filter(({ name }) => names.includes(name));

describe('what a test expects of rules', () => {
  it.each<[string, RuleExpectation, readonly RuleResult[]]>([
    ['nothing', {}, RESULTS],
    ['allow: every rule is kept', { verdict: 'allow' }, only('kept')],
    ['allow: there is no rule', { verdict: 'allow' }, []],
    ['warn: only rules that warn are broken', { verdict: 'warn' }, only('kept', 'warns')],
    ['deny: a rule is broken', { verdict: 'deny' }, only('broken', 'warns')],
    ['deny: a rule cannot be judged', { verdict: 'deny' }, only('failed')],
    ['names', { kept: ['kept'], broken: ['broken', 'warns'] }, RESULTS],
    ['part of a message', { messages: { broken: 'says no' } }, RESULTS],
  ])('holds: %s', (_name, expectation, results) => {
    expect(checkRuleExpectation(expectation, results)).toEqual({ failures: [], error: undefined });
  });

  it.each<[string, RuleExpectation, readonly RuleResult[], readonly string[]]>([
    [
      'the verdict, with the rules that made it',
      { verdict: 'allow' },
      only('kept', 'warns'),
      ['the rules allow: got warn', 'rule warns is broken: warns says no'],
    ],
    ['a rule that is kept', { broken: ['kept'] }, only('kept'), ['rule kept should be broken: it is kept']],
    [
      'a rule that is broken',
      { kept: ['broken'] },
      only('broken'),
      ['rule broken should be kept: it is broken: broken says no'],
    ],
    [
      'a rule that cannot be judged, which is neither',
      { broken: ['failed'] },
      only('failed'),
      ['rule failed should be broken: cannot be judged: no such key'],
    ],
    [
      'another message',
      { messages: { broken: 'hello' } },
      only('broken'),
      ['rule broken should say "hello": got "broken says no"'],
    ],
    [
      'a message of a rule that is kept',
      { messages: { kept: 'no' } },
      only('kept'),
      ['rule kept should be broken: it is kept'],
    ],
  ])('does not hold: %s', (_name, expectation, results, failures) => {
    expect(checkRuleExpectation(expectation, results)).toEqual({ failures, error: undefined });
  });

  it.each<[string, RuleExpectation, string]>([
    ['a rule that is not there', { kept: ['nope'] }, 'there is no rule nope, there are broken, kept'],
    [
      'a rule that is expected to be both',
      { kept: ['kept'], messages: { kept: 'x' } },
      'rule kept is expected to be kept and to be broken',
    ],
  ])('is wrong: %s', (_name, expectation, error) => {
    expect(checkRuleExpectation(expectation, only('kept', 'broken'))).toEqual({ failures: [], error });
  });
});
