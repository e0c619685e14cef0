import { type CelBudget, evaluateWithin, newCelBudget } from '../cel/cel-budget.ts';
import { type CelProblem, celProblemText } from '../cel/cel-problem.ts';
import { celTypeName, type CelValue } from '../cel/cel-value.ts';
import type { CelCompilation } from '../cel/compile-cel.ts';
import { compileConditionMessage, compileConditionRule } from '../cel/condition-cel.ts';
import type { ConditionRule } from '../model/manifest-work.ts';
import type { KubeObject } from '../model/object-meta.ts';
import type { PlannedCondition } from './observed-status.ts';

/** Rules as Berth evaluates them: well-known ones are CEL too. */
interface CelRule {
  readonly condition: string;
  readonly expressions: readonly string[];
  readonly message: string;
  readonly messageExpression: string;
}

const WELL_KNOWN: Readonly<Record<string, CelRule>> = {
  'batch/v1 Job Complete': {
    condition: 'Complete',
    expressions: [
      `has(object.status) && hasConditions(object.status) && object.status.conditions.exists(c,
        (c.type == 'Complete' || c.type == 'Failed') && c.status == 'True')`,
    ],
    message: '',
    messageExpression: `result ? 'Job is finished' : 'Job is not finished'`,
  },
  'v1 Pod Complete': {
    condition: 'Complete',
    expressions: [`has(object.status.phase) && object.status.phase in ['Succeeded', 'Failed']`],
    message: '',
    messageExpression: `'Pod is in phase ' + (has(object.status.phase) ? object.status.phase : '')`,
  },
};

/**
 * The conditions that rules give for an object as it lives, one per rule; a well-known rule for a kind that has none gives
 * nothing. All rules of one object share a budget, so that no work can keep the agent busy.
 */
export function evaluateConditionRules(
  object: KubeObject,
  rules: readonly ConditionRule[],
): readonly PlannedCondition[] {
  const budget = newCelBudget();
  return rules.flatMap((rule) => evaluateRule(object, rule, budget) ?? []);
}

function evaluateRule(
  object: KubeObject,
  rule: ConditionRule,
  budget: CelBudget,
): PlannedCondition | undefined {
  const { condition: type } = rule;
  switch (rule.type) {
    case 'WellKnownConditions': {
      const key = `${object.apiVersion} ${object.kind} ${type}`;
      const known = Object.hasOwn(WELL_KNOWN, key) ? WELL_KNOWN[key] : undefined;
      if (known === undefined) return undefined;
      const messageExpression = nonEmpty(rule.messageExpression) ?? known.messageExpression;
      return evaluate(object, { ...known, messageExpression, message: rule.message ?? '' }, budget);
    }
    case 'CEL': {
      const { celExpressions: expressions = [], message = '', messageExpression = '' } = rule;
      return evaluate(object, { condition: type, expressions, message, messageExpression }, budget);
    }
    default:
      // The CRD names the two types; an older or newer server may let others through.
      return {
        type,
        status: 'Unknown',
        reason: 'ConditionRuleInvalid',
        message: `unrecognized condition rule type ${String(rule.type satisfies never)}`,
      };
  }
}

function evaluate(object: KubeObject, rule: CelRule, budget: CelBudget): PlannedCondition {
  const type = rule.condition;
  const failed = (message: string): PlannedCondition => ({
    type,
    status: 'False',
    reason: 'ConditionRuleExpressionError',
    message,
  });
  let result = true;
  for (const expression of rule.expressions) {
    const compiled = compileConditionRule(expression);
    if (!compiled.ok) return failed(problemText(compiled.problem));
    const outcome = evaluateWithin(budget, compiled.program, { object });
    if (!outcome.ok) return failed(outcome.message);
    if (typeof outcome.value !== 'boolean')
      return failed(`expected bool result, got ${goTypeOf(outcome.value)}`);
    result = outcome.value;
    if (!result) break;
  }
  return {
    type,
    status: result ? 'True' : 'False',
    reason: 'ConditionRuleEvaluated',
    message: messageOf(object, rule, result, budget),
  };
}

function messageOf(object: KubeObject, rule: CelRule, result: boolean, budget: CelBudget): string {
  const fallback = nonEmpty(rule.message) ?? `Manifest is ${result ? '' : 'not '}${rule.condition}`;
  if (rule.messageExpression === '') return fallback;
  const compiled: CelCompilation = compileConditionMessage(rule.messageExpression);
  if (!compiled.ok) return problemText(compiled.problem).split('\n', 1)[0] ?? '';
  const outcome = evaluateWithin(budget, compiled.program, { object, result });
  if (!outcome.ok) return outcome.message;
  if (typeof outcome.value !== 'string')
    return `expected message expression to have a string result, got ${goTypeOf(outcome.value)}`;
  return nonEmpty(outcome.value) ?? fallback;
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

const HEADING = 'compilation failed: ';

function problemText(problem: CelProblem): string {
  const text = celProblemText(problem);
  return text.startsWith(HEADING) ? text.slice(HEADING.length) : text;
}

/** The names of Go, as OCM's agent writes them into messages. */
function goTypeOf(value: CelValue): string {
  const name = celTypeName(value);
  return GO_TYPES[name] ?? name;
}

const GO_TYPES: Readonly<Record<string, string>> = { int: 'int64', uint: 'uint64', double: 'float64' };
