import { describeTaint } from './describe-change.ts';
import { SCHEDULER_ANNOTATION } from '../verdict/names-on-placements.ts';
import type { ClusterVerdict, PredicateFailure, PredicateFinding } from '../verdict/explanation.ts';

type Refusal = Exclude<ClusterVerdict, { kind: 'selected' }>;

export const DECIDED_BY_OTHERS_TEXT = `Another controller decides this placement, because it carries no annotation ${SCHEDULER_ANNOTATION}: berth (with --embedded Berth decides every placement).`;

const SKIPPED_TEXTS = {
  'being-deleted': 'placement is being deleted',
  'scheduling-disabled': 'scheduling is disabled',
  'decided-by-others': 'another controller decides',
} as const;

/**
 * The reason of a refusal for a summary: a verb phrase after a number of clusters, `25 lack label
 * tier=gold`.
 */
export function refusalText(verdict: Refusal): string {
  switch (verdict.kind) {
    case 'skipped':
      return SKIPPED_TEXTS[verdict.why];
    case 'no-such-cluster':
      return 'unknown to the fleet';
    case 'cluster-being-deleted':
      return 'being deleted';
    case 'not-in-eligible-set':
      return notInEligibleSetText(verdict.eligible);
    case 'misconfigured':
      return 'not checked: the placement is misconfigured';
    case 'predicate':
      return nearestFailureText(verdict.predicates);
    case 'tainted': {
      const refusing = verdict.taints.find(({ verdict: kind }) => kind === 'refused' || kind === 'expired');
      return refusing === undefined
        ? 'tainted'
        : `tainted ${describeTaint({ ...refusing.taint, effect: undefined })}`;
    }
    case 'spread':
      return `would break the spread over ${verdict.constraint.topologyKey}`;
    case 'outranked':
      return OUTRANKED_TEXT;
  }
}

export const OUTRANKED_TEXT = 'outranked';

export function notInEligibleSetText(eligible: readonly string[]): string {
  return eligible.length === 0
    ? 'in no cluster set that the namespace may use'
    : `not in cluster set ${eligible.join(', ')}`;
}

/** Describes the first failing part of the predicate that is closest to matching. */
function nearestFailureText(predicates: readonly PredicateFinding[]): string {
  const [nearest] = sortByFewestFailures(predicates);
  const [failure] = nearest?.failures ?? [];
  return failure === undefined ? 'match no predicate' : failureText(failure);
}

/** Fewest failing parts first. */
export function sortByFewestFailures(predicates: readonly PredicateFinding[]): readonly PredicateFinding[] {
  return predicates.toSorted((a, b) => a.failures.length - b.failures.length || a.predicate - b.predicate);
}

function failureText(failure: PredicateFailure): string {
  if (failure.part === 'cel') return `fail CEL ${shorten(failure.expression)}`;
  const { part, key, operator, values } = failure;
  const [only] = values;
  switch (operator) {
    case 'In':
      return values.length === 1
        ? `lack ${part} ${key}=${only}`
        : `lack ${part} ${key} in (${values.join(', ')})`;
    case 'Exists':
      return `lack ${part} ${key}`;
    case 'NotIn':
      return values.length === 1
        ? `have ${part} ${key}=${only}`
        : `have ${part} ${key} in (${values.join(', ')})`;
    case 'DoesNotExist':
      return `have ${part} ${key}`;
    default:
      return `fail ${part} ${key} ${operator} ${values.join(', ')}`;
  }
}

const MAX_EXPRESSION = 60;

function shorten(expression: string): string {
  const line = expression.replace(/\s+/g, ' ');
  return line.length <= MAX_EXPRESSION ? line : `${line.slice(0, MAX_EXPRESSION - 1)}…`;
}

/** Wanted and actual of one failing part: `label tier is silver, wanted gold`. */
export function failureDetail(failure: PredicateFailure): string {
  if (failure.part === 'cel')
    return failure.failure === undefined
      ? `CEL is false: ${failure.expression}`
      : `CEL gave no result: ${failure.expression} (${failure.failure})`;
  const { part, key, actual } = failure;
  const have =
    actual === undefined ? `${part} ${key} is not set` : `${part} ${key} is ${JSON.stringify(actual)}`;
  return `${have}, wanted ${wanted(failure)}`;
}

function wanted(failure: Exclude<PredicateFailure, { part: 'cel' }>): string {
  const { operator, values } = failure;
  const list = values.map((value) => JSON.stringify(value)).join(', ');
  switch (operator) {
    case 'In':
      return values.length === 1 ? list : `one of ${list}`;
    case 'NotIn':
      return values.length === 1 ? `not ${list}` : `none of ${list}`;
    case 'Exists':
      return 'any value';
    case 'DoesNotExist':
      return 'none';
    default:
      return `${operator} ${list}`;
  }
}
