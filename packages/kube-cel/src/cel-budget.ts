import { COST_BUDGET, COST_BUDGET_MESSAGE, COST_LIMIT_PER_CALL } from './value/cel-cost.ts';
import type { CelOutcome, CelProgram } from './compile-cel.ts';

/**
 * Cost that all expressions about one object share in one evaluation; `evaluateWithin` deducts from it.
 */
export interface CelBudget {
  remaining: number;
}

export function newCelBudget(cost = COST_BUDGET): CelBudget {
  return { remaining: cost };
}

export type BudgetedCelOutcome =
  | Extract<CelOutcome, { ok: true }>
  | (Omit<Extract<CelOutcome, { ok: false }>, 'kind'> & {
      readonly kind: 'runtime' | 'cost-limit' | 'budget';
    });

/**
 * Evaluates and deducts the cost from the budget. The evaluation that exceeds the budget fails, and
 * so does every later one.
 */
export function evaluateWithin(
  budget: CelBudget,
  program: CelProgram,
  variables: Readonly<Record<string, unknown>>,
): BudgetedCelOutcome {
  if (budget.remaining < 0) return overdrawn(0);
  const outcome = program.evaluate(variables, COST_LIMIT_PER_CALL);
  budget.remaining -= outcome.cost;
  return budget.remaining < 0 ? overdrawn(outcome.cost) : outcome;
}

function overdrawn(cost: number): BudgetedCelOutcome {
  return { ok: false, kind: 'budget', message: COST_BUDGET_MESSAGE, cost };
}
