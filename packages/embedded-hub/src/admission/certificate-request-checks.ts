import { readCertificateRequest } from '@berth/kube/x509/certificate-request';
import { organizationsOf } from '@berth/kube/x509/certificate-subject';
import { CLIENT_SIGNER, requestText } from '../auth/certificates/client-signer.ts';
import { MASTERS_GROUP } from '../auth/rbac/authorizer.ts';
import {
  type JsonObject,
  type JsonValue,
  deepEqual,
  isObject,
  listAt,
  objectAt,
  textAt,
} from '../json/json-value.ts';
import { forbiddenField } from '../schema/field-problems.ts';
import { type FieldProblem, invalid, forbidden } from '../wire/status-errors.ts';
import type { AdmissionCheck, AdmissionWrite } from '../write/write-request.ts';

const GROUP = 'certificates.k8s.io';
const DECISIONS = ['Approved', 'Denied'];
const FINAL = [...DECISIONS, 'Failed'];

/**
 * A request is approved or denied once, and only through the subresource `approval`: conditions
 * cannot be removed, a signer cannot approve, and a certificate cannot be replaced
 * (`pkg/apis/certificates/validation`, validateCertificateSigningRequestUpdate).
 */
export const approvalRules: AdmissionCheck = (write) => {
  if (!isCertificateRequest(write)) return [];
  if (write.operation !== 'UPDATE' || write.subresource === '') return [];
  const problems = [...conditionProblems(write), ...certificateProblems(write)];
  if (problems.length === 0) return [];
  throw invalid(write.ref.definition, nameOf(write), problems);
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

/**
 * Approving a certificate request needs the right to `approve` for its signer, in addition to the
 * right to the subresource; signing needs `sign`. A grant may name the signer or its whole domain
 * (`kubernetes.io/*`).
 */
export const approvalCheck: AdmissionCheck = (write) => {
  if (!isCertificateRequest(write) || write.operation !== 'UPDATE') return [];
  const verb = write.subresource === 'approval' ? 'approve' : write.subresource === 'status' ? 'sign' : '';
  if (verb === '') return [];
  const signer = textAt(objectAt(write.old ?? write.object, 'spec'), 'signerName');
  const domain = `${signer.split('/')[0] ?? ''}/*`;
  const attributes = { verb, group: GROUP, resource: 'signers' };
  if ([signer, domain].some((name) => write.can({ ...attributes, name }))) return [];
  throw forbidden(
    write.ref.definition,
    nameOf(write),
    `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`,
  );
};

/**
 * Rejects certificate requests for the group system:masters, as the admission plugin
 * CertificateSubjectRestriction.
 */
export const subjectRestriction: AdmissionCheck = (write) => {
  if (!isCertificateRequest(write)) return [];
  const spec = objectAt(write.object, 'spec');
  if (write.operation !== 'CREATE' || textAt(spec, 'signerName') !== CLIENT_SIGNER) return [];
  const request = readCertificateRequest(requestText(spec));
  const organizations = request.kind === 'request' ? organizationsOf(request.subjectDer) : [];
  if (!organizations.includes(MASTERS_GROUP)) return [];
  throw forbidden(
    write.ref.definition,
    nameOf(write),
    `use of ${CLIENT_SIGNER} signer with ${MASTERS_GROUP} group is not allowed`,
  );
};

function isCertificateRequest({ ref: { definition } }: AdmissionWrite): boolean {
  return definition.group === GROUP && definition.kind === 'CertificateSigningRequest';
}

function nameOf({ object }: AdmissionWrite): string {
  return textAt(objectAt(object, 'metadata'), 'name');
}
