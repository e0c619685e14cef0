import type { AdmissionInput, AdmissionOutcome } from '@berth/kube-cel/admission-run';
import { AdmissionRun, VALIDATION_BUDGET } from '@berth/kube-cel/admission-run';
import { utf8LengthBytes } from '@berth/runtime/text/utf8';
import { evaluateConditions } from '../webhooks/admission/match-constraints.ts';
import type { AdmissionPolicy, Validation } from './admission-policy.ts';

/**
 * Source: apiserver `pkg/admission/plugin/policy/validating/validator.go`. Unlike there, a message
 * is computed only if it is needed.
 */

const MAX_MESSAGE_BYTES = 5 * 1024;
const INVALID = 'Invalid';

/** A violation that a policy reports. */
export interface Denial {
  /** Index of the validation; 0 if no validation was reached. */
  readonly index: number;
  readonly message: string;
  /** '' where an expression failed. */
  readonly reason: string;
}

export interface PolicyVerdict {
  readonly denials: readonly Denial[];
  /** Values of audit annotations by key. */
  readonly annotations: readonly (readonly [key: string, value: string])[];
  /** Failed audit annotations reject the write, independent of the binding's actions. */
  readonly annotationErrors: readonly string[];
  /** CEL cost of all expressions. */
  readonly cost: number;
}

interface Failure {
  readonly failure: string;
}

const NOTHING: Omit<PolicyVerdict, 'cost'> = { denials: [], annotations: [], annotationErrors: [] };

/** Evaluates a policy for one write and one parameter object. */
export function evaluatePolicy(policy: AdmissionPolicy, input: AdmissionInput): PolicyVerdict {
  let cost = 0;
  if (policy.matchConditions.length > 0) {
    const conditionInput = { ...input, namespaceObject: null };
    const { result, cost: spent } = evaluateConditions(
      policy.matchConditions,
      conditionInput,
      policy.variables,
    );
    cost = spent;
    if (result === false) return { ...NOTHING, cost };
    if (result !== true) return { ...failed(policy, result.error), cost };
  }
  const run = new AdmissionRun(input, VALIDATION_BUDGET, policy.variables);
  const outcomes: AdmissionOutcome[] = [];
  for (const { expression, compilation } of policy.validations) {
    const outcome = run.evaluate(expression, compilation);
    if (outcome.kind === 'budget') return { ...failed(policy, outcome.message), cost: cost + run.cost };
    outcomes.push(outcome);
  }
  const messages = new AdmissionRun(withoutAuthorizer(input), run.remainingBudget, policy.variables);
  const denials = outcomes.flatMap((outcome, index) => denialOf(policy, [outcome, index], messages) ?? []);
  cost += run.cost + messages.cost;
  const annotations = new AdmissionRun(input, VALIDATION_BUDGET, policy.variables);
  const notes = annotate(policy, annotations);
  cost += annotations.cost;
  return 'failure' in notes ? { ...failed(policy, notes.failure), cost } : { denials, ...notes, cost };
}

function failed({ failsOpen }: AdmissionPolicy, message: string): Omit<PolicyVerdict, 'cost'> {
  return failsOpen ? NOTHING : { ...NOTHING, denials: [{ index: 0, message, reason: '' }] };
}

function withoutAuthorizer({
  authorizer: _one,
  requestResource: _two,
  ...rest
}: AdmissionInput): AdmissionInput {
  return rest;
}

function denialOf(
  { validations, failsOpen }: AdmissionPolicy,
  [outcome, index]: readonly [AdmissionOutcome, number],
  messages: AdmissionRun,
): Denial | undefined {
  if (outcome.kind !== 'value')
    return failsOpen ? undefined : { index, message: outcome.message, reason: '' };
  if (outcome.value === true) return undefined;
  const validation = validations[index] as Validation;
  const message = computedMessage(validation, messages);
  if (typeof message === 'object')
    return failsOpen
      ? undefined
      : { index, message: `failed messageExpression: ${message.failure}`, reason: '' };
  const text = message || validation.message.trim() || `failed expression: ${validation.expression.trim()}`;
  return { index, message: text, reason: validation.reason || INVALID };
}

/** '' if there is no usable message, which must be one line and not too long. */
function computedMessage({ messageExpression }: Validation, run: AdmissionRun): string | Failure {
  if (messageExpression === undefined) return '';
  const outcome = run.evaluate(messageExpression.expression, messageExpression.compilation);
  if (outcome.kind === 'budget') return { failure: outcome.message };
  if (outcome.kind !== 'value' || typeof outcome.value !== 'string') return '';
  const text = outcome.value.trim();
  return utf8LengthBytes(text) > MAX_MESSAGE_BYTES || text.includes('\n') ? '' : text;
}

/** `failure`: the budget is used up. */
function annotate(
  { auditAnnotations, failsOpen }: AdmissionPolicy,
  run: AdmissionRun,
): Pick<PolicyVerdict, 'annotations' | 'annotationErrors'> | Failure {
  const annotations: [string, string][] = [];
  const annotationErrors: string[] = [];
  for (const { key, expression, compilation } of auditAnnotations) {
    const outcome = run.evaluate(expression, compilation);
    if (outcome.kind === 'budget') return { failure: outcome.message };
    if (outcome.kind !== 'value') {
      if (!failsOpen) annotationErrors.push(outcome.message);
    } else if (typeof outcome.value === 'string' && outcome.value.trim() !== '')
      annotations.push([key, outcome.value.trim()]);
  }
  return { annotations, annotationErrors };
}
