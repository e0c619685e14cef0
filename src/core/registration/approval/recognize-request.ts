import type { CertificateRequestObject, RequestContent } from '@berth/kube/model/signing-request';
import {
  ADDON_NAME_LABEL,
  agentGroups,
  type AgentIdentity,
  agentUser,
  ALL_AGENTS_GROUP,
  CLIENT_SIGNER,
  CLUSTER_NAME_LABEL,
  clusterGroup,
  parseAgentUser,
} from '@berth/ocm/registration/names';

/**
 * The parts of a certificate request that recognition needs: labels, signer, and the subject that was read from its
 * PEM.
 */
export interface RequestFacts {
  readonly labels: Readonly<Record<string, string>>;
  readonly signerName: string;
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Whether the request asks for extensions, such as subject alternative names. */
  readonly asksForExtensions: boolean;
}

type RequestRecognition =
  | { readonly kind: 'agent'; readonly identity: AgentIdentity }
  /** `why` is a sentence for the log, without secrets. */
  | { readonly kind: 'other'; readonly why: string };

/**
 * Whether the agent of a cluster made the certificate request for itself. The label, the organization and the common
 * name must name the same cluster. A request without the group of all agents comes from an old agent and is valid.
 * Stricter than OCM: no duplicate organization and no extension, because no agent asks for either.
 * Source: open-cluster-management.io/ocm `pkg/registration/register/csr/approver.go`, validateCSR.
 */
export function recognizeRequest(facts: RequestFacts): RequestRecognition {
  const { labels, signerName, commonName, organizations, asksForExtensions } = facts;
  const label = labels[CLUSTER_NAME_LABEL] ?? '';
  if (label === '') return other(`it has no label ${CLUSTER_NAME_LABEL}`);
  if (Object.hasOwn(labels, ADDON_NAME_LABEL)) return other('it is labelled as the request of an add-on');
  if (signerName !== CLIENT_SIGNER) return other(`its signer is ${signerName}, expected ${CLIENT_SIGNER}`);
  if (asksForExtensions) return other('it asks for extensions, such as subject alternative names');
  const identity = parseAgentUser(commonName);
  if (identity === undefined)
    return other('its common name is not system:open-cluster-management:CLUSTER:AGENT');
  if (identity.cluster !== label) return other('its common name and its label name two clusters');
  const own = organizations.filter((name) => name !== ALL_AGENTS_GROUP);
  if (own.length !== 1 || own[0] !== clusterGroup(label) || organizations.length > agentGroups(label).length)
    return other(`its organisations are not those of the agents of cluster ${label}`);
  return { kind: 'agent', identity };
}

function other(why: string): RequestRecognition {
  return { kind: 'other', why };
}

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
