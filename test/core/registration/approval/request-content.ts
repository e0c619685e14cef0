import type { RequestContent } from '@berth/kube/model/signing-request';

type Subject = Extract<RequestContent, { readonly kind: 'subject' }>;

/** What was read from the PEM of a request that asks only for a subject. */
export function requestContent(over: Partial<Subject>): Subject {
  return {
    ...{ kind: 'subject', commonName: 'user', organizations: [], organizationalUnits: [] },
    ...{ publicKeyDer: Buffer.alloc(0), asksForExtensions: false, dnsNames: [] },
    ...over,
  };
}
