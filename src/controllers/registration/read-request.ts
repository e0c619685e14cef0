import { readCertificateRequest } from '@berth/kube/x509/certificate-request';
import { organizationalUnitsOf, readSubject } from '@berth/kube/x509/certificate-subject';
import type { Reflector } from '@berth/kube/cache/reflector';
import type {
  CertificateRequestObject,
  RequestContent,
} from '../../core/registration/approval/judge-request.ts';
import type { ReadRequest } from '../../core/registration/approval/known-agents.ts';
import { CLUSTER_NAME_LABEL } from '@berth/ocm/registration/names';

/**
 * Parses a certificate request as strictly as the embedded hub parses what it signs: exactly one PEM block, without
 * ambiguities.
 */
export function readRequest({ spec }: CertificateRequestObject): RequestContent {
  const pem = Buffer.from(spec?.request ?? '', 'base64').toString('latin1');
  const request = readCertificateRequest(pem);
  if (request.kind === 'malformed') return request;
  if (request.keyVerdict.kind === 'refused') return { kind: 'malformed', why: request.keyVerdict.why };
  const reading = readSubject(request.subjectDer);
  if (reading.kind === 'unusable') return { kind: 'malformed', why: reading.why };
  return {
    ...{ kind: 'subject', ...reading.subject, publicKeyDer: request.publicKeyDer },
    organizationalUnits: organizationalUnitsOf(request.subjectDer),
    ...{ asksForExtensions: request.hasAttributes, dnsNames: request.dnsNames },
  };
}

/** The certificate requests with the label of a cluster. @param requests of the hub */
export function requestsOf(requests: Reflector, cluster: string): readonly ReadRequest[] {
  return (requests.store.list() as unknown as readonly CertificateRequestObject[])
    .filter(({ metadata }) => metadata.labels?.[CLUSTER_NAME_LABEL] === cluster)
    .map((csr) => ({ csr, content: readRequest(csr) }));
}
