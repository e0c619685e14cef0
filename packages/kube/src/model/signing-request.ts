import type { KubeObject } from './object-meta.ts';

/** The content of the PEM of a request. `malformed`: it has no single valid interpretation. */
export type RequestContent =
  | {
      readonly kind: 'subject';
      readonly commonName: string;
      readonly organizations: readonly string[];
      readonly organizationalUnits: readonly string[];
      /** SubjectPublicKeyInfo. */
      readonly publicKeyDer: Buffer;
      readonly asksForExtensions: boolean;
      /** The DNS names that it asks for; undefined if it asks for other extensions. */
      readonly dnsNames: readonly string[] | undefined;
    }
  | { readonly kind: 'malformed'; readonly why: string };

/** The fields of a certificates.k8s.io/v1 CertificateSigningRequest that approval reads. */
export interface CertificateRequestObject extends KubeObject {
  readonly spec?: {
    readonly signerName?: string;
    readonly request?: string;
    readonly username?: string;
    readonly groups?: readonly string[];
    readonly uid?: string;
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status?: string }[];
    readonly certificate?: string;
  };
}

/** The requester of a certificate. The API server writes it into the request, and nobody can change it. */
export interface RequesterIdentity {
  readonly username: string;
  readonly groups: readonly string[];
  readonly uid: string;
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

const DECIDED = ['Denied', 'Failed', 'Approved'] as const;

/** What somebody decided about the request. A denial counts beside an approval. */
export function decisionOf({ status }: CertificateRequestObject): (typeof DECIDED)[number] | undefined {
  return DECIDED.find((type) => status?.conditions?.some((condition) => condition.type === type));
}

/** The requester, as recorded by the API server. */
export function requesterOf({ spec }: CertificateRequestObject): RequesterIdentity {
  const { username = '', groups = [], uid = '', extra = {} } = spec ?? {};
  return { username, groups, uid, extra };
}
