import { objectAt, textAt } from '../json/json-value.ts';
import { forbidden } from '../wire/status-errors.ts';
import type { AdmissionCheck } from '../write/write-request.ts';

const GROUP = 'certificates.k8s.io';

/**
 * Approving a certificate request needs the right to `approve` for its signer, in addition to the
 * right to the subresource; signing needs `sign`. A grant may name the signer or its whole domain
 * (`kubernetes.io/*`).
 */
export const approvalCheck: AdmissionCheck = (write) => {
  const { definition } = write.ref;
  if (definition.group !== GROUP || definition.kind !== 'CertificateSigningRequest') return [];
  if (write.operation !== 'UPDATE') return [];
  const verb = write.subresource === 'approval' ? 'approve' : write.subresource === 'status' ? 'sign' : '';
  if (verb === '') return [];
  const signer = textAt(objectAt(write.old ?? write.object, 'spec'), 'signerName');
  const domain = `${signer.split('/')[0] ?? ''}/*`;
  const attributes = { verb, group: GROUP, resource: 'signers' };
  if ([signer, domain].some((name) => write.can({ ...attributes, name }))) return [];
  const name = textAt(objectAt(write.object, 'metadata'), 'name');
  throw forbidden(
    definition,
    name,
    `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`,
  );
};
