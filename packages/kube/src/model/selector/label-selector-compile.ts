import type {
  LabelMap,
  Requirement,
  RequirementResult,
  SelectorOperator,
} from './label-selector-requirement.ts';
import { makeRequirement, matchesRequirement } from './label-selector-requirement.ts';

/** A checked selector: all requirements must hold. `nothing` selectors match no labels at all, not even empty ones. */
export interface CompiledSelector {
  readonly requirements: readonly Requirement[];
  readonly nothing: boolean;
}

/** `error` names the key or operator that is wrong and says what was expected. */
export type SelectorCompilation =
  | { readonly ok: true; readonly selector: CompiledSelector }
  | { readonly ok: false; readonly error: string };

const OPERATORS: readonly string[] = ['In', 'NotIn', 'Exists', 'DoesNotExist'] satisfies SelectorOperator[];

/**
 * Builds a meta/v1 LabelSelector as Kubernetes does (`LabelSelectorAsSelector`): absent matches nothing, empty matches
 * everything; matchLabels come first, then matchExpressions; the first problem is reported.
 */
export function compileLabelSelector(selector: LabelSelector | undefined): SelectorCompilation {
  if (selector === undefined) return { ok: true, selector: { requirements: [], nothing: true } };
  const requirements: Requirement[] = [];
  for (const result of buildRequirements(selector)) {
    if (!result.ok) return result;
    requirements.push(result.requirement);
  }
  return { ok: true, selector: { requirements, nothing: false } };
}

/** Whether the labels satisfy every requirement. Absent labels count as none. */
export function matchesLabels(selector: CompiledSelector, labels: LabelMap | undefined): boolean {
  if (selector.nothing) return false;
  const present = labels ?? {};
  return selector.requirements.every((requirement) => matchesRequirement(requirement, present));
}

function* buildRequirements(selector: LabelSelector): Generator<RequirementResult> {
  for (const [key, value] of Object.entries(selector.matchLabels ?? {}))
    yield makeRequirement(key, 'In', [value]);
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    if (OPERATORS.includes(operator)) yield makeRequirement(key, operator as SelectorOperator, values ?? []);
    else
      yield {
        ok: false,
        error: `"${operator}" is not a label selector operator (key "${key}"): expected ${OPERATORS.join(', ')}`,
      };
  }
}

/**
 * meta/v1 LabelSelector. An absent selector differs from an empty one; its user defines the meaning
 * of absent.
 */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly LabelSelectorRequirement[] | undefined;
}

export interface LabelSelectorRequirement {
  readonly key: string;
  /** In | NotIn | Exists | DoesNotExist; kept as text because unchecked input may hold anything. */
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}
