import { forbiddenField } from '../schema/field-problems.ts';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { deepEqual, isObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import type { FieldProblem } from '../wire/status-errors.ts';
import { invalid } from '../wire/status-errors.ts';
import type { AdmissionCheck, AdmissionWrite } from '../write/write-request.ts';

const FINAL = ['Approved', 'Denied', 'Failed'];
const DECISIONS = ['Approved', 'Denied'];

/**
 * A request is approved or denied once, and only through the subresource `approval`: conditions
 * cannot be removed, a signer cannot approve, and a certificate cannot be replaced
 * (`pkg/apis/certificates/validation`, validateCertificateSigningRequestUpdate).
 */
export const approvalRules: AdmissionCheck = (write) => {
  const { definition } = write.ref;
  if (definition.kind !== 'CertificateSigningRequest' || definition.group !== 'certificates.k8s.io')
    return [];
  if (write.operation !== 'UPDATE' || write.subresource === '') return [];
  const problems = [...conditionProblems(write), ...certificateProblems(write)];
  if (problems.length === 0) return [];
  throw invalid(definition, textAt(objectAt(write.object, 'metadata'), 'name'), problems);
};

function conditionProblems({ object, old, subresource }: AdmissionWrite): FieldProblem[] {
  const problem = (change: string, type: string): FieldProblem =>
    forbiddenField(
      'status.conditions',
      `updates may not ${change} a condition of type ${JSON.stringify(type)}`,
    );
  return FINAL.flatMap((type) => {
    const [before, after] = [conditionsOf(old, type), conditionsOf(object, type)];
    if (after.length < before.length) return [problem('remove', type)];
    if (subresource === 'approval' || !DECISIONS.includes(type)) return [];
    if (after.length > before.length) return [problem('add', type)];
    return deepEqual(before, after) ? [] : [problem('modify', type)];
  });
}

function certificateProblems({ object, old }: AdmissionWrite): FieldProblem[] {
  const [before, after] = [old, object].map((one) => textAt(objectAt(one, 'status'), 'certificate'));
  if (before === '' || before === after) return [];
  return [forbiddenField('status.certificate', 'updates may not modify existing certificate content')];
}

function conditionsOf(request: JsonObject | undefined, type: string): JsonValue[] {
  return listAt(objectAt(request, 'status'), 'conditions').filter(
    (one) => isObject(one) && one['type'] === type,
  );
}
