import { duplicate, invalidValue, unsupportedValue } from '../../admit/field-problems.ts';
import { specProblems } from './certificate-spec.ts';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { getOwn, isObject, listAt, objectAt, textAt } from '../../json/json-value.ts';
import type { FieldProblem } from '../../status/status-errors.ts';
import type { Strategy } from './strategy.ts';

const DECIDING = new Set(['Approved', 'Denied', 'Failed']);
/** Nobody reads more of one answer. */
const MOST_PROBLEMS = 8;

/** A request never changes after it was made; approval changes its conditions, the signer its certificate. */
export const CERTIFICATE_STRATEGY: Strategy = {
  fillIn: (object, old, now) => withConditionTimes(object, old, now),
  onUpdate: (object, old, subresource) => {
    const spec = getOwn(old, 'spec');
    const result = spec === undefined ? object : { ...object, spec };
    if (subresource !== 'approval') return result;
    const certificate = getOwn(objectAt(old, 'status') ?? {}, 'certificate');
    const status = { ...objectAt(object, 'status') };
    delete status['certificate'];
    return { ...result, status: certificate === undefined ? status : { ...status, certificate } };
  },
  // The spec never changes, so it is judged once: requests of an older hub may lack what is asked for today.
  validate: (object, old) => [
    ...(old === undefined ? specProblems(objectAt(object, 'spec')) : []),
    ...conditionProblems(object),
  ],
};

function withConditionTimes(object: JsonObject, old: JsonObject | undefined, now: string): JsonObject {
  const status = objectAt(object, 'status');
  if (old === undefined || status === undefined || !Array.isArray(status['conditions'])) return object;
  const before = listAt(objectAt(old, 'status'), 'conditions').filter(isObject);
  const conditions = status['conditions'].map((condition): JsonValue => {
    if (!isObject(condition)) return condition;
    const known = before.find((one) => one['type'] === condition['type']);
    const moved = known?.['status'] !== condition['status'];
    return {
      ...condition,
      lastUpdateTime: condition['lastUpdateTime'] ?? now,
      lastTransitionTime:
        condition['lastTransitionTime'] ?? (moved ? now : (known?.['lastTransitionTime'] ?? now)),
    };
  });
  return { ...object, status: { ...status, conditions } };
}

/** Approved and Denied exclude each other; all three are True or absent. */
function conditionProblems(object: JsonObject): FieldProblem[] {
  const conditions = listAt(objectAt(object, 'status'), 'conditions').filter(isObject);
  const types = new Set<string>();
  const problems: FieldProblem[] = [];
  for (const [index, one] of conditions.entries()) {
    const at = `status.conditions[${String(index)}]`;
    const [type, status] = [textAt(one, 'type'), textAt(one, 'status')];
    const wrong = DECIDING.has(type) && status !== '' && status !== 'True';
    if (types.has(type)) problems.push(duplicate(`${at}.type`, type));
    else if (wrong) problems.push(unsupportedValue(`${at}.status`, status, ['True']));
    types.add(type);
    if (problems.length === MOST_PROBLEMS) break;
  }
  if (types.has('Approved') && types.has('Denied'))
    problems.push(
      invalidValue('status.conditions', 'Denied', 'Approved and Denied conditions are mutually exclusive'),
    );
  return problems;
}
