import { invalidValue } from '../../admit/field-problems.ts';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { getOwn, isObject, listAt, objectAt, textAt } from '../../json/json-value.ts';
import type { FieldProblem } from '../../status/status-errors.ts';
import type { Strategy } from './strategy.ts';

const PEM_HEADER = Buffer.from('-----BEGIN').toString('base64').slice(0, 12);

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
  validate: (object) => {
    const problems: FieldProblem[] = [];
    const spec = objectAt(object, 'spec');
    if (!textAt(spec, 'request').startsWith(PEM_HEADER)) {
      problems.push(
        invalidValue('spec.request', textAt(spec, 'request'), 'PEM block type must be CERTIFICATE REQUEST'),
      );
    }
    const types = listAt(objectAt(object, 'status'), 'conditions')
      .filter(isObject)
      .map((one) => textAt(one, 'type'));
    if (types.includes('Approved') && types.includes('Denied')) {
      problems.push(
        invalidValue('status.conditions', 'Denied', 'Approved and Denied conditions are mutually exclusive'),
      );
    }
    return problems;
  },
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
