import type { AdmissionCompilation, CompiledVariable } from './admission-cel.ts';
import { type CelBudget, evaluateWithin, newCelBudget } from './cel-budget.ts';
import type { CelAuthorizer, CelResourceCheck } from './library/authorization.ts';
import { CelFailure, type CelJsonMap, type CelValue } from './value/cel-value.ts';

/**
 * Cost budget of all validations of one policy with one parameter object. Source: apiserver
 * `pkg/apis/cel/config.go`.
 */
export const VALIDATION_BUDGET = 10_000_000;
/** Cost budget of the `matchConditions`: a quarter of it. */
export const CONDITION_BUDGET = 2_500_000;

const OUT_OF_BUDGET =
  'validation failed due to running out of cost budget, no further validation rules will be run';

/** Values of the variables; null where a write has none. */
export interface AdmissionInput {
  readonly object: CelJsonMap | null;
  readonly oldObject: CelJsonMap | null;
  readonly request: CelJsonMap;
  readonly namespaceObject: CelJsonMap | null;
  readonly params: CelJsonMap | null;
  readonly authorizer?: CelAuthorizer | undefined;
  readonly requestResource?: CelResourceCheck | undefined;
}

/** `budget`: the budget is used up, so the run evaluates nothing more. */
export type AdmissionOutcome =
  | { readonly kind: 'value'; readonly value: CelValue }
  | { readonly kind: 'error' | 'budget'; readonly message: string };

/**
 * Evaluates the expressions for one write. They share a cost budget and the variables, each of
 * which is computed when it is first used.
 */
export class AdmissionRun {
  readonly #bindings: Readonly<Record<string, unknown>>;
  readonly #budget: CelBudget;
  /** Cost of the variables that were computed since the current expression started. */
  #variableCost = 0;
  #cost = 0;

  constructor(input: AdmissionInput, budget: number, variables: readonly CompiledVariable[] = []) {
    const { authorizer, requestResource, ...values } = input;
    this.#budget = newCelBudget(budget);
    this.#bindings = {
      ...values,
      authorizer,
      'authorizer.requestResource': requestResource,
      variables: this.#lazyVariables(variables),
    };
  }

  /** Spent so far. */
  get cost(): number {
    return this.#cost;
  }

  get remainingBudget(): number {
    return this.#budget.remaining;
  }

  evaluate(expression: string, compilation: AdmissionCompilation): AdmissionOutcome {
    if (!compilation.ok) return { kind: 'error', message: `compilation error: ${compilation.detail}` };
    this.#variableCost = 0;
    const outcome = evaluateWithin(this.#budget, compilation.program, this.#bindings);
    this.#budget.remaining -= this.#variableCost;
    this.#cost += outcome.cost + this.#variableCost;
    if (this.#budget.remaining < 0) return { kind: 'budget', message: OUT_OF_BUDGET };
    if (outcome.ok) return { kind: 'value', value: outcome.value };
    const message = `expression '${expression}' resulted in error: ${asGoMessage(outcome.message)}`;
    return { kind: 'error', message };
  }

  /** An object whose members are computed once, when they are first read. */
  #lazyVariables(variables: readonly CompiledVariable[]): object {
    const members = Object.create(null) as Record<string, unknown>;
    for (const { name, compilation } of variables) {
      let known: { readonly value: unknown } | undefined;
      const get = (): unknown => (known ??= { value: this.#variable(name, compilation) }).value;
      Object.defineProperty(members, name, { get, enumerable: true, configurable: true });
    }
    return members;
  }

  #variable(name: string, compilation: AdmissionCompilation): CelValue | CelFailure {
    const failed = (what: string, why: string): CelFailure =>
      new CelFailure(`composited variable ${JSON.stringify(name)} fails to ${what}: ${why}`);
    if (!compilation.ok) return failed('compile', compilation.detail);
    const outcome = compilation.program.evaluate(this.#bindings);
    this.#variableCost += outcome.cost;
    return outcome.ok ? outcome.value : failed('evaluate', asGoMessage(outcome.message));
  }
}

/** cel-go does not name the missing overload. */
function asGoMessage(message: string): string {
  return message.replace(/no such overload: .*$/s, 'no such overload');
}
