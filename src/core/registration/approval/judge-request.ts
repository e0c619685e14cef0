import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { KubeObject } from '@berth/kube/model/object-meta';
import {
  acceptsByRule,
  type AutoAcceptance,
  isOpenToRules,
  type RequesterIdentity,
} from '../acceptance/auto-acceptance.ts';
import { isAlive } from '../health/is-joined.ts';
import { REGISTER_GROUP, type AgentIdentity, agentUser } from '@berth/ocm/registration/names';
import { recognizeRequest } from '../recognize-request.ts';

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

export type RequestVerdict =
  /** Already decided, or not a request of an agent. */
  | { readonly kind: 'leave'; readonly why: string }
  /** An agent renews its own certificate. It is approved if the hub confirms the right. */
  | { readonly kind: 'renewal'; readonly identity: AgentIdentity; readonly requester: RequesterIdentity }
  | { readonly kind: 'approve'; readonly identity: AgentIdentity }
  /** A person decides. `why`: although a rule accepts the requester. */
  | { readonly kind: 'wait'; readonly identity: AgentIdentity; readonly why?: string };

export interface ApprovalRules {
  readonly auto: AutoAcceptance;
  /** Whether the agent with this user has a certificate for the cluster. Called only if the verdict depends on it. */
  readonly isKnownAgent: (user: string) => boolean;
}

/** The right that the hub must confirm before a renewal is approved (SubjectAccessReview). */
export const RENEW_RIGHT = {
  group: REGISTER_GROUP,
  resource: 'managedclusters',
  subresource: 'clientcertificates',
  verb: 'renew',
} as const;

/** The condition of an approved request, with the same text as in OCM. */
export const APPROVED_CONDITION = {
  type: 'Approved',
  status: 'True',
  reason: 'AutoApprovedByHubCSRApprovingController',
  message: 'Auto approving Managed cluster agent certificate after SubjectAccessReview.',
} as const;

const DECIDED = ['Denied', 'Failed', 'Approved'] as const;

/** What somebody decided about the request. A denial counts beside an approval. */
export function decisionOf({ status }: CertificateRequestObject): (typeof DECIDED)[number] | undefined {
  return DECIDED.find((type) => status?.conditions?.some((condition) => condition.type === type));
}

/**
 * Judges one certificate request. A cluster can renew only its own certificate: the requester must be the common name.
 * A first request is approved if a rule accepts the cluster and the requester, but never for a cluster that was denied
 * or is being deleted. While the agent of a cluster is alive, no rule approves another agent, which may be that of a second
 * cluster with the same name. When it is no longer alive, the rule decides.
 * Source: open-cluster-management.io/ocm `pkg/registration/register/csr/approve_reconciler.go`.
 */
export function judgeRequest(
  csr: CertificateRequestObject,
  content: RequestContent,
  cluster: ManagedCluster | undefined,
  { auto, isKnownAgent }: ApprovalRules,
): RequestVerdict {
  const decision = decisionOf(csr);
  if (decision !== undefined) return { kind: 'leave', why: `it is ${decision.toLowerCase()} already` };
  if (content.kind === 'malformed') return { kind: 'leave', why: content.why };
  const { commonName, organizations, asksForExtensions } = content;
  const labels = csr.metadata.labels ?? {};
  const signerName = csr.spec?.signerName ?? '';
  const found = recognizeRequest({ labels, signerName, commonName, organizations, asksForExtensions });
  if (found.kind === 'other') return { kind: 'leave', why: found.why };
  const { identity } = found;
  const requester = requesterOf(csr);
  if (requester.username === agentUser(identity)) return { kind: 'renewal', identity, requester };
  const isAccepted =
    cluster !== undefined && isOpenToRules(cluster) && acceptsByRule(auto, cluster, requester);
  if (!isAccepted) return { kind: 'wait', identity };
  if (isAlive(cluster) && !isKnownAgent(agentUser(identity)))
    return { kind: 'wait', identity, why: 'another agent of the cluster is alive' };
  return { kind: 'approve', identity };
}

/** The requester, as recorded by the API server. */
export function requesterOf({ spec }: CertificateRequestObject): RequesterIdentity {
  const { username = '', groups = [], uid = '', extra = {} } = spec ?? {};
  return { username, groups, uid, extra };
}
