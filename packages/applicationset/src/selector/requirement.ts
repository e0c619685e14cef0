import { labelValue, type NameRule, qualifiedName } from '@berth/kube/model/selector/name-rules';
import { GenerateError } from '../failure/failures.ts';
import type { TypedObject } from '../types/go-type.ts';

/**
 * One requirement of a label selector. Each entry of `matchLabels` is a requirement with `In` and
 * one value.
 */
export interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

type Labels = Readonly<Record<string, string>>;

export interface SelectorRules {
  /** What Argo CD calls a selector with an unknown operator. */
  readonly operatorOf: string;
  /** The rule for label values; undefined if any text is allowed. */
  readonly valueRule: NameRule | undefined;
}

/**
 * The rules of the selector next to a generator. Its values may be any text, such as the address of
 * a cluster.
 */
export const POST_SELECTOR: SelectorRules = { operatorOf: 'pod selector', valueRule: undefined };
/** The rules of a selector for labels of objects. */
export const LABEL_SELECTOR: SelectorRules = { operatorOf: 'label selector', valueRule: labelValue };

const OPERATORS = new Set(['In', 'NotIn', 'Exists', 'DoesNotExist']);

/**
 * The requirements of a meta/v1 LabelSelector. Errors have the texts of apimachinery.
 * @throws GenerateError
 */
export function requirementsOf(selector: TypedObject, rules: SelectorRules): readonly Requirement[] {
  const labels = (selector['matchLabels'] ?? {}) as Labels;
  const expressions = (selector['matchExpressions'] ?? []) as readonly TypedObject[];
  return [
    ...Object.entries(labels).map(([key, value]) => checked({ key, operator: 'In', values: [value] }, rules)),
    ...expressions.map((expression) => {
      const operator = (expression['operator'] ?? '') as string;
      if (!OPERATORS.has(operator))
        throw new GenerateError(`${JSON.stringify(operator)} is not a valid ${rules.operatorOf} operator`);
      const values = (expression['values'] ?? []) as readonly string[];
      return checked({ key: (expression['key'] ?? '') as string, operator, values }, rules);
    }),
  ];
}

/** Whether labels satisfy all requirements. */
export function matchesAll(requirements: readonly Requirement[], labels: Labels): boolean {
  return requirements.every(({ key, operator, values }) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (operator === 'Exists') return value !== undefined;
    if (operator === 'DoesNotExist') return value === undefined;
    const isIn = value !== undefined && values.includes(value);
    return operator === 'In' ? isIn : !isIn;
  });
}

function checked(requirement: Requirement, { valueRule }: SelectorRules): Requirement {
  const { key, operator, values } = requirement;
  const problems: string[] = [];
  const keyProblems = qualifiedName(key);
  if (keyProblems.length > 0)
    problems.push(`key: Invalid value: ${JSON.stringify(key)}: ${keyProblems.join('; ')}`);
  const mustHaveValues = operator === 'In' || operator === 'NotIn';
  if (mustHaveValues && values.length === 0)
    problems.push("values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty");
  if (!mustHaveValues && values.length > 0)
    problems.push(
      `values: Invalid value: ${JSON.stringify(values)}: values set must be empty for exists and does not exist`,
    );
  values.forEach((value, index) => {
    const wrong = valueRule?.(value) ?? [];
    if (wrong.length > 0)
      problems.push(
        `values[${String(index)}][${key}]: Invalid value: ${JSON.stringify(value)}: ${wrong.join('; ')}`,
      );
  });
  const [first] = problems;
  if (first === undefined) return requirement;
  throw new GenerateError(problems.length === 1 ? first : `[${problems.join(', ')}]`);
}
