import { invalidValue } from '../../schema/field-problems.ts';
import { readCertificateRequest } from '@berth/kube/x509/certificate-request';
import { requestText } from '../../auth/certificates/client-signer.ts';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { getOwn, isObject, listAt, objectAt, textAt } from '../../json/json-value.ts';
import type { FieldProblem } from '../../wire/status-errors.ts';
import type { Strategy } from './strategy.ts';

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
  // The spec is immutable, so it is validated on create only: requests of an older hub may not meet
  // newer rules.
  validate: (object, old) => (old === undefined ? requestProblems(objectAt(object, 'spec')) : []),
};

function withConditionTimes(object: JsonObject, old: JsonObject | undefined, now: string): JsonObject {
  const status = objectAt(object, 'status');
  if (old === undefined || status === undefined || !Array.isArray(status['conditions'])) return object;
  const before = listAt(objectAt(old, 'status'), 'conditions').filter(isObject);
  const conditions = status['conditions'].map((condition): JsonValue => {
    if (!isObject(condition)) return condition;
    const known = before.find((one) => one['type'] === condition['type']);
    const changed = known?.['status'] !== condition['status'];
    return {
      ...condition,
      lastUpdateTime: condition['lastUpdateTime'] ?? now,
      lastTransitionTime:
        condition['lastTransitionTime'] ?? (changed ? now : (known?.['lastTransitionTime'] ?? now)),
    };
  });
  return { ...object, status: { ...status, conditions } };
}

function requestProblems(spec: JsonObject | undefined): readonly FieldProblem[] {
  const reading = readCertificateRequest(requestText(spec));
  return reading.kind === 'request'
    ? []
    : [invalidValue('spec.request', textAt(spec, 'request'), reading.why)];
}
