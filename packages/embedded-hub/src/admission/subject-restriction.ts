import { objectAt, textAt } from '../json/json-value.ts';
import { forbidden } from '../wire/status-errors.ts';
import type { AdmissionCheck } from '../write/write-request.ts';
import { MASTERS_GROUP } from '../auth/rbac/authorizer.ts';
import { readCertificateRequest } from '@berth/kube/x509/certificate-request';
import { organizationsOf } from '@berth/kube/x509/certificate-subject';
import { CLIENT_SIGNER, requestText } from '../auth/certificates/client-signer.ts';

/**
 * Rejects certificate requests for the group system:masters, as the admission plugin
 * CertificateSubjectRestriction.
 */
export const subjectRestriction: AdmissionCheck = (write) => {
  const { definition } = write.ref;
  if (definition.kind !== 'CertificateSigningRequest' || definition.group !== 'certificates.k8s.io')
    return [];
  const spec = objectAt(write.object, 'spec');
  if (write.operation !== 'CREATE' || textAt(spec, 'signerName') !== CLIENT_SIGNER) return [];
  const request = readCertificateRequest(requestText(spec));
  const organizations = request.kind === 'request' ? organizationsOf(request.subjectDer) : [];
  if (!organizations.includes(MASTERS_GROUP)) return [];
  throw forbidden(
    definition,
    textAt(objectAt(write.object, 'metadata'), 'name'),
    `use of ${CLIENT_SIGNER} signer with ${MASTERS_GROUP} group is not allowed`,
  );
};
