import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { acceptsByRule, type AutoAcceptance, isOpenToRules } from '../acceptance/auto-acceptance.ts';
import { isAlive } from '../health/is-live.ts';
import { REGISTER_GROUP, type AgentIdentity, agentUser } from '@berth/ocm/registration/names';
import { recognizeRequest } from './recognize-request.ts';
import {
  type CertificateRequestObject,
  decisionOf,
  type RequestContent,
  type RequesterIdentity,
  requesterOf,
} from '@berth/kube/model/signing-request';

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
