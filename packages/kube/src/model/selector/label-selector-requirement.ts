import { labelKeyProblem, labelValueProblem } from './label-syntax.ts';

export type SelectorOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';

/** One checked part of a selector. `values` is without repetitions; Gt and Lt hold exactly one integer. */
export interface Requirement {
  readonly key: string;
  readonly operator: SelectorOperator;
  readonly values: readonly string[];
}

export type RequirementResult =
  | { readonly ok: true; readonly requirement: Requirement }
  | { readonly ok: false; readonly error: string };

/** Labels or claims by name. Keys are looked up as own properties only, so `constructor` is just a key. */
export type LabelMap = Readonly<Record<string, string>>;

const INTEGER = /^[+-]?[0-9]+$/;
const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);

/** Checks one requirement as Kubernetes does when it builds a selector (apimachinery `labels.NewRequirement`). */
export function makeRequirement(
  key: string,
  operator: SelectorOperator,
  values: readonly string[],
): RequirementResult {
  const problem =
    prefixed(`key ${JSON.stringify(key)}`, labelKeyProblem(key)) ?? valuesProblem(key, operator, values);
  if (problem !== undefined) return { ok: false, error: problem };
  return { ok: true, requirement: { key, operator, values: [...new Set(values)] } };
}

/** Whether labels satisfy the requirement: NotIn and DoesNotExist hold for an absent key, all others do not. */
export function matchesRequirement(requirement: Requirement, labels: LabelMap): boolean {
  const { key, operator, values } = requirement;
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
    case 'Lt':
      return value !== undefined && compares(operator, value, values[0] ?? '');
  }
}

function compares(operator: 'Gt' | 'Lt', value: string, bound: string): boolean {
  const left = parseInt64(value);
  const right = parseInt64(bound);
  if (left === undefined || right === undefined) return false;
  return operator === 'Gt' ? left > right : left < right;
}

function valuesProblem(
  key: string,
  operator: SelectorOperator,
  values: readonly string[],
): string | undefined {
  const named = `key ${JSON.stringify(key)}, operator ${operator}`;
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) return `${named}: values must not be empty`;
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) return `${named}: values must be empty, got ${JSON.stringify(values)}`;
      break;
    case 'Gt':
    case 'Lt':
      if (values.length !== 1) return `${named}: needs exactly one value, got ${values.length}`;
      if (parseInt64(values[0] ?? '') === undefined)
        return `${named}: the value must be an integer, got ${JSON.stringify(values[0])}`;
      break;
  }
  for (const value of values) {
    const problem = prefixed(`${named}: value ${JSON.stringify(value)}`, labelValueProblem(value));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function parseInt64(text: string): bigint | undefined {
  if (!INTEGER.test(text) || text.length > 40) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value > MAX_INT64 || value < MIN_INT64 ? undefined : value;
}

function prefixed(prefix: string, problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : `${prefix}: ${problem}`;
}
