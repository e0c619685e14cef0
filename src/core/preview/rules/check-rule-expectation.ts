import type { RuleResult } from '../plan-verdict.ts';
import type { RuleExpectation, RuleVerdict } from './rule-test.ts';

export interface CheckedRules {
  /** Expectations that are not met; empty if all are. */
  readonly failures: readonly string[];
  /** The expectation is invalid: it names a rule that does not exist. */
  readonly error: string | undefined;
}

/** Compares the results of rules with the expectations of a test. */
export function checkRuleExpectation(expect: RuleExpectation, results: readonly RuleResult[]): CheckedRules {
  const byName = new Map(results.map((result) => [result.name, result]));
  const { kept = [], broken = [], messages = {}, verdict } = expect;
  const unknown = [...kept, ...broken, ...Object.keys(messages)].find((name) => !byName.has(name));
  if (unknown !== undefined) return { failures: [], error: noRule(unknown, [...byName.keys()]) };
  const both = kept.find((name) => broken.includes(name) || name in messages);
  if (both !== undefined)
    return { failures: [], error: `rule ${both} is expected to be kept and to be broken` };
  const found = verdictOf(results);
  const failures = [
    ...(verdict === undefined || verdict === found ? [] : [`the rules ${verdict}: got ${found}`]),
    ...kept.flatMap((name) => failureOf(byName.get(name), 'kept')),
    ...[...new Set([...broken, ...Object.keys(messages)])].flatMap((name) =>
      failureOf(byName.get(name), 'broken'),
    ),
    ...Object.entries(messages).flatMap(([name, text]) => messageFailure(byName.get(name), text)),
  ];
  return { failures: withBroken(failures, results), error: undefined };
}

/** A rule that cannot be evaluated counts as broken. */
function verdictOf(results: readonly RuleResult[]): RuleVerdict {
  const broken = results.filter(({ outcome }) => outcome !== 'kept');
  if (broken.some(({ effect }) => effect === 'deny')) return 'deny';
  return broken.length > 0 ? 'warn' : 'allow';
}

function failureOf(result: RuleResult | undefined, expected: 'kept' | 'broken'): readonly string[] {
  if (result === undefined) return [];
  const { name, outcome, message } = result;
  if (outcome === expected) return [];
  const got = outcome === 'kept' ? 'it is kept' : outcome === 'broken' ? `it is broken: ${message}` : message;
  return [`rule ${name} should be ${expected}: ${got}`];
}

function messageFailure(result: RuleResult | undefined, text: string): readonly string[] {
  if (result === undefined || result.outcome === 'kept' || result.message.includes(text)) return [];
  return [`rule ${result.name} should say ${JSON.stringify(text)}: got ${JSON.stringify(result.message)}`];
}

/** The verdict alone does not show which rule caused it. */
function withBroken(failures: readonly string[], results: readonly RuleResult[]): readonly string[] {
  if (failures.length === 0) return [];
  const broken = results
    .filter(
      ({ name, outcome }) => outcome !== 'kept' && !failures.some((one) => one.startsWith(`rule ${name} `)),
    )
    .map(({ name, message }) => `rule ${name} is broken: ${message}`);
  return [...failures, ...broken];
}

function noRule(name: string, known: readonly string[]): string {
  const names = known.length === 0 ? 'there are none' : `there are ${known.toSorted().join(', ')}`;
  return `there is no rule ${name}, ${names}`;
}
