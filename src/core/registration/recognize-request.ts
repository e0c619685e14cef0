import {
  agentGroups,
  ALL_AGENTS_GROUP,
  type AgentIdentity,
  clusterGroup,
  parseAgentUser,
} from './agent-identity.ts';
import { ADDON_NAME_LABEL, CLIENT_SIGNER, CLUSTER_NAME_LABEL } from './names.ts';

/** A certificate request as far as recognition needs it: the object's labels and signer, and the subject that was read from its PEM. */
export interface RequestFacts {
  readonly labels: Readonly<Record<string, string>>;
  readonly signerName: string;
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Extensions that the request asks for, subject alternative names among them. */
  readonly asksForExtensions: boolean;
}

export type RequestRecognition =
  | { readonly kind: 'agent'; readonly identity: AgentIdentity }
  /** `why` is a sentence for the log: it names no secret. */
  | { readonly kind: 'other'; readonly why: string };

/**
 * Whether a certificate request is one that the agent of a cluster makes for itself. Everything that says which cluster it is must agree:
 * the label, the organisation and the common name. A request without the group of all agents is one of an old agent, and good.
 * Stricter than OCM: no organisation twice, no extension, because no agent asks for either.
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
