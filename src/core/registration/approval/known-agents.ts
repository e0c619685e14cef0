import { agentUser } from '@berth/ocm/registration/names';
import { recognizeRequest, type RequestRecognition } from '../recognize-request.ts';
import type { CertificateRequestObject, RequestContent } from '@berth/kube/model/signing-request';

/** A certificate request of a cluster, and the content of its PEM. */
export interface ReadRequest {
  readonly csr: CertificateRequestObject;
  readonly content: RequestContent;
}

/** Whether the agent of a cluster made the request for itself, and which agent. */
export function recognize({ csr, content }: ReadRequest): RequestRecognition {
  if (content.kind === 'malformed') return { kind: 'other', why: content.why };
  return recognizeRequest({
    ...content,
    labels: csr.metadata.labels ?? {},
    signerName: csr.spec?.signerName ?? '',
  });
}

/**
 * The users of the agents to whom the hub has given a certificate for the cluster. A hub deletes requests after an hour or
 * so: an agent that is missing here may still be known to a person.
 */
export function knownAgents(requests: readonly ReadRequest[], cluster: string): ReadonlySet<string> {
  const users = requests.flatMap((request) => {
    const found = recognize(request);
    return found.kind === 'agent' && found.identity.cluster === cluster && isApproved(request.csr)
      ? [agentUser(found.identity)]
      : [];
  });
  return new Set(users);
}

function isApproved({ status }: CertificateRequestObject): boolean {
  return status?.conditions?.some(({ type }) => type === 'Approved') === true;
}
