import { readCertificateRequest } from '../../hub/auth/certificates/certificate-request.ts';
import { readSubject } from '../../hub/auth/certificates/certificate-subject.ts';
import type {
  CertificateRequestObject,
  RequestContent,
} from '../../core/registration/approval/judge-request.ts';

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
  return { kind: 'subject', ...reading.subject, asksForExtensions: request.hasAttributes };
}
