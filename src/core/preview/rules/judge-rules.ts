import { celTypeName } from '@berth/kube-cel/value/cel-value';
import { BugError } from '@berth/runtime/errors';
import type { RuleResult } from '../plan-verdict.ts';
import type { PlanRule } from './plan-rule.ts';
import { type JudgedPlan, planView } from './plan-view.ts';
import { compileRule } from './rule-cel.ts';

/** The limit for plans with tens of thousands of moves. A rule that exceeds it fails, and so counts as broken. */
const COST_LIMIT = 50_000_000;

/**
 * The result of each rule for a plan, in the order of the rules. A rule that evaluates to neither true nor false fails.
 */
export function judgeRules(rules: readonly PlanRule[], judged: JudgedPlan): readonly RuleResult[] {
  const plan = planView(judged);
  return rules.map(({ expression, ...rule }) => {
    const about = {
      name: rule.name,
      effect: rule.effect,
      message: rule.message,
      owners: rule.owners,
      location: rule.location,
    };
    const compiled = compileRule(expression);
    if (!compiled.ok)
      throw new BugError('was not checked before it is judged', {
        code: 'rules.compile',
        subject: rule.name,
      });
    const outcome = compiled.program.evaluate({ plan }, COST_LIMIT);
    if (!outcome.ok) return { ...about, outcome: 'failed', message: `cannot be judged: ${outcome.message}` };
    if (typeof outcome.value !== 'boolean') {
      const message = `cannot be judged: got a ${celTypeName(outcome.value)}, expected a bool`;
      return { ...about, outcome: 'failed', message };
    }
    return { ...about, outcome: outcome.value ? 'kept' : 'broken' };
  });
}
