import { type JsonObject, type JsonValue, listAt, textAt } from '../../json/json-value.ts';
import type { KeyUsage } from '@berth/kube/x509/certificate-authority';
import { readCertificateRequest } from '@berth/kube/x509/certificate-request';
import { type CertificateSubject, readSubject } from '@berth/kube/x509/certificate-subject';
import { MASTERS_GROUP } from '../rbac/authorizer.ts';

/** The only signer of the hub: client certificates for its own API. */
export const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';
/** The default of kube-controller-manager's `--cluster-signing-duration`. */
const MAX_SECONDS = 365 * 86_400;
const MIN_SECONDS = 600;
/**
 * Extension servers trust this user's headers about other users. Its certificates come from an authority of their
 * own.
 */
export const FRONT_PROXY = 'front-proxy';

/** What to sign, or why not: the text of the condition `Failed`. */
export type SigningVerdict =
  | {
      readonly kind: 'sign';
      readonly subject: CertificateSubject;
      readonly publicKeyDer: Buffer;
      readonly keyUsages: readonly KeyUsage[];
      readonly lifetimeMs: number;
    }
  | { readonly kind: 'refuse'; readonly why: string };

/** Judges the spec of an approved CertificateSigningRequest for `kubernetes.io/kube-apiserver-client`. */
export function judgeClientRequest(spec: JsonObject | undefined): SigningVerdict {
  const request = readCertificateRequest(requestText(spec));
  if (request.kind === 'malformed') return refuse(request.why);
  if (request.keyVerdict.kind === 'refused') return refuse(request.keyVerdict.why);
  const reading = readSubject(request.subjectDer);
  if (reading.kind === 'unusable') return refuse(reading.why);
  const { subject } = reading;
  if (subject.organizations.includes(MASTERS_GROUP))
    return refuse(`a request for the group ${MASTERS_GROUP} is never signed`);
  if (subject.commonName === FRONT_PROXY) return refuse(`a request for ${FRONT_PROXY} is never signed`);
  const usages = listAt(spec, 'usages');
  const why = usageProblem(usages);
  if (why !== undefined) return refuse(why);
  return {
    kind: 'sign',
    subject,
    publicKeyDer: request.publicKeyDer,
    keyUsages: usages.filter(isKeyUsage),
    lifetimeMs: lifetimeSeconds(spec) * 1000,
  };
}

/** The PEM text in `spec.request`. */
export function requestText(spec: JsonObject | undefined): string {
  return Buffer.from(textAt(spec, 'request'), 'base64').toString('latin1');
}

/** Messages of `pkg/controller/certificates/signer/signer.go`. */
function usageProblem(usages: readonly JsonValue[]): string | undefined {
  const other = usages.find((usage) => usage !== 'client auth' && !isKeyUsage(usage));
  if (other !== undefined)
    return `invalid usage for client certificate: ${typeof other === 'string' ? other : JSON.stringify(other)}`;
  return usages.includes('client auth')
    ? undefined
    : 'missing required usage for client certificate: client auth';
}

function isKeyUsage(usage: JsonValue): usage is KeyUsage {
  return usage === 'digital signature' || usage === 'key encipherment';
}

function lifetimeSeconds(spec: JsonObject | undefined): number {
  const requested = spec?.['expirationSeconds'];
  const seconds = typeof requested === 'number' ? requested : MAX_SECONDS;
  return Math.min(Math.max(seconds, MIN_SECONDS), MAX_SECONDS);
}

function refuse(why: string): SigningVerdict {
  return { kind: 'refuse', why };
}
