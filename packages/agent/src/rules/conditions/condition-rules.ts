import { type CelBudget, evaluateWithin, newCelBudget } from '@berth/kube-cel/cel-budget';
import type { CelCompilation } from '@berth/kube-cel/compile-cel';
import { compileConditionMessage, compileConditionRule } from '@berth/kube-cel/kubernetes-environment';
import { celProblemText } from '@berth/kube-cel/value/cel-problem';
import { celTypeName } from '@berth/kube-cel/value/cel-value';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import type { ConditionRule } from '@berth/ocm/kind/manifest-work';
import { RESERVED_CONDITIONS } from '../manifests/validate-work.ts';

/**
 * Evaluates the condition rules of one manifest on the object that is on the cluster. Returns a condition for each
 * rule, without generation and time. All rules of one pass share a cost budget. A rule for a condition that the agent
 * itself maintains is ignored; `validateWorkSpec` warns of it. Upstream evaluates such a rule, and rule and agent
 * overwrite each other.
 */
export function evaluateConditionRules(
  object: KubeObject,
  rules: readonly ConditionRule[],
): readonly Condition[] {
  const budget = newCelBudget();
  return rules
    .filter((rule) => !RESERVED_CONDITIONS.has(rule.condition))
    .flatMap((rule) => evaluateRule(object, rule, budget) ?? []);
}

function evaluateRule(object: KubeObject, rule: ConditionRule, budget: CelBudget): Condition | undefined {
  switch (rule.type) {
    case 'CEL':
      return evaluateCel(object, rule, budget);
    case 'WellKnownConditions': {
      const known = wellKnownCondition(object, rule.condition);
      if (known === undefined) return undefined;
      // As upstream, the built-in text counts as a message expression. So a `messageExpression` replaces it, and a
      // plain `message` does not.
      const message =
        messageOf(object, { messageExpression: rule.messageExpression }, known.result, budget) ??
        known.message;
      return evaluated(rule, known.result, message);
    }
    default:
      return {
        type: rule.condition,
        status: 'Unknown',
        reason: 'ConditionRuleInvalid',
        message: `unrecognized condition rule type ${String(rule.type)}`,
      };
  }
}

/**
 * All expressions must be true; evaluation stops at the first that is not. An empty list is true.
 */
function evaluateCel(object: KubeObject, rule: ConditionRule, budget: CelBudget): Condition {
  const compiled = (rule.celExpressions ?? []).map((expression) => RULES.get(expression));
  const broken = compiled.find((compilation) => !compilation.ok);
  if (broken?.ok === false) return failed(rule, problemText(broken));
  for (const compilation of compiled) {
    if (!compilation.ok) continue;
    const outcome = evaluateWithin(budget, compilation.program, { object });
    if (!outcome.ok) return failed(rule, outcome.message);
    if (typeof outcome.value !== 'boolean')
      return failed(rule, `expected bool result, got ${goType(celTypeName(outcome.value))}`);
    if (!outcome.value) return evaluated(rule, false, messageOrDefault(object, rule, false, budget));
  }
  return evaluated(rule, true, messageOrDefault(object, rule, true, budget));
}

function messageOrDefault(
  object: KubeObject,
  rule: ConditionRule,
  result: boolean,
  budget: CelBudget,
): string {
  return (
    messageOf(object, rule, result, budget) ??
    (result ? `Manifest is ${rule.condition}` : `Manifest is not ${rule.condition}`)
  );
}

/**
 * The message of a rule for its result; undefined if it has none. An evaluation error becomes the
 * message.
 */
function messageOf(
  object: KubeObject,
  rule: Pick<ConditionRule, 'message' | 'messageExpression'>,
  result: boolean,
  budget: CelBudget,
): string | undefined {
  const fallback = rule.message === '' ? undefined : rule.message;
  if (rule.messageExpression === undefined || rule.messageExpression === '') return fallback;
  const compilation = MESSAGES.get(rule.messageExpression);
  if (!compilation.ok) return problemText(compilation).split('\n')[0];
  const outcome = evaluateWithin(budget, compilation.program, { object, result });
  if (!outcome.ok) return outcome.message;
  if (typeof outcome.value !== 'string')
    return `expected message expression to have a string result, got ${goType(celTypeName(outcome.value))}`;
  return outcome.value === '' ? fallback : outcome.value;
}

function evaluated(rule: ConditionRule, result: boolean, message: string): Condition {
  return {
    type: rule.condition,
    status: result ? 'True' : 'False',
    reason: 'ConditionRuleEvaluated',
    message,
  };
}

function failed(rule: ConditionRule, message: string): Condition {
  return { type: rule.condition, status: 'False', reason: 'ConditionRuleExpressionError', message };
}

function problemText(compilation: Extract<CelCompilation, { ok: false }>): string {
  return celProblemText(compilation.problem).replace(/^compilation failed: /, '');
}

/** Messages contain Go's type names. */
function goType(name: string): string {
  return name === 'int' || name === 'uint' ? `${name}64` : name === 'double' ? 'float64' : name;
}

/** The same few expressions are evaluated on every poll of every work: they are compiled once. */
class CompileCache {
  readonly #compiled = new Map<string, CelCompilation>();
  readonly #compile: (expression: string) => CelCompilation;

  constructor(compile: (expression: string) => CelCompilation) {
    this.#compile = compile;
  }

  get(expression: string): CelCompilation {
    const known = this.#compiled.get(expression);
    if (known !== undefined) return known;
    if (this.#compiled.size >= MAX_COMPILED) this.#compiled.clear();
    const compilation = this.#compile(expression);
    this.#compiled.set(expression, compilation);
    return compilation;
  }
}

const MAX_COMPILED = 1_000;
const RULES = new CompileCache(compileConditionRule);
const MESSAGES = new CompileCache(compileConditionMessage);

interface WellKnownCondition {
  readonly result: boolean;
  readonly message: string;
}

/** Complete of a Job and of a Pod; undefined for every other kind and condition. */
function wellKnownCondition(object: KubeObject, condition: string): WellKnownCondition | undefined {
  if (condition !== 'Complete') return undefined;
  const status = (object['status'] ?? {}) as { conditions?: unknown; phase?: unknown };
  switch (`${object.apiVersion} ${object.kind}`) {
    case 'batch/v1 Job': {
      const finished = Array.isArray(status.conditions) && status.conditions.some(endsJob);
      return { result: finished, message: finished ? 'Job is finished' : 'Job is not finished' };
    }
    case 'v1 Pod': {
      const phase = typeof status.phase === 'string' ? status.phase : '';
      return { result: phase === 'Succeeded' || phase === 'Failed', message: `Pod is in phase ${phase}` };
    }
    default:
      return undefined;
  }
}

function endsJob(condition: unknown): boolean {
  const { type, status } = (condition ?? {}) as { type?: unknown; status?: unknown };
  return (type === 'Complete' || type === 'Failed') && status === 'True';
}
