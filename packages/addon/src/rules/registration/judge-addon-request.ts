import type { StatusRegistration } from '@berth/ocm/kind/addon';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { addonNames } from '@berth/ocm/registration/addon-names';
import {
  ADDON_NAME_LABEL,
  CLIENT_SIGNER,
  CLUSTER_NAME_LABEL,
  parseAgentUser,
} from '@berth/ocm/registration/names';
import {
  type CertificateRequestObject,
  decisionOf,
  type RequestContent,
  requesterOf,
} from '@berth/kube/model/signing-request';
import { EVERYBODY, type StoredAddOn } from './plan-registration.ts';

/** The condition of an approved request of an add-on, with the same text as in OCM. */
export const ADDON_APPROVED = {
  type: 'Approved',
  status: 'True',
  reason: 'AutoApprovedByHubCSRApprovingController',
  message: 'Auto approving addon agent certificate.',
} as const;

export interface RequestedAddOn {
  readonly cluster: string;
  readonly addon: string;
}

/** What the hub has of the add-on that a request names. */
export interface AddOnFacts {
  readonly cluster: ManagedCluster | undefined;
  readonly addon: StoredAddOn | undefined;
  /** What the add-on declares. Undefined: that is not known. */
  readonly registrations: readonly StatusRegistration[] | undefined;
}

export type SignedContent = Extract<RequestContent, { readonly kind: 'subject' }>;

export type AddOnVerdict =
  | { readonly kind: 'leave' }
  /** Nothing is done. It is judged again when the cluster, the add-on or what it is made from changes. */
  | { readonly kind: 'wait'; readonly why: string }
  | AllowedRequest
  /** It is not what the add-on registers. Only the add-on's own manager may allow it all the same. */
  | { readonly kind: 'doubt'; readonly why: string; readonly otherwise: AllowedRequest };

export type AllowedRequest =
  | { readonly kind: 'approve'; readonly signerName: string; readonly content: SignedContent }
  /** It is approved, and its signer is one of the add-on's own. */
  | { readonly kind: 'sign'; readonly signerName: string; readonly content: SignedContent };

/** The add-on that a certificate request is for, by its labels; undefined: it is not one of an add-on. */
export function requestedAddOn({ metadata }: CertificateRequestObject): RequestedAddOn | undefined {
  const { [CLUSTER_NAME_LABEL]: cluster = '', [ADDON_NAME_LABEL]: addon = '' } = metadata.labels ?? {};
  return cluster === '' || addon === '' ? undefined : { cluster, addon };
}

/**
 * Judges the certificate request of an add-on. It is approved if the agent of the same cluster made it,
 * and it asks for exactly the subject that the hub told that agent to ask for. A request for one of the add-on's
 * signers is signed under the same rule, also when a person approved it.
 *
 * Stricter than OCM, which approves every request for a template's signer and copies any name into the certificate,
 * so that the agent of one cluster could act as that of another, or as the server. And a cluster that nobody accepted
 * gets no certificate.
 * Source: open-cluster-management.io/ocm `pkg/addon/templateagent/registration.go`, open-cluster-management.io/addon-framework
 * `pkg/utils/csr_helpers.go`.
 */
export function judgeAddOnRequest(
  csr: CertificateRequestObject,
  content: RequestContent,
  facts: AddOnFacts,
): AddOnVerdict {
  const of = requestedAddOn(csr);
  const decision = decisionOf(csr);
  const isOpen = decision === undefined;
  const isUnsigned = decision === 'Approved' && (csr.status?.certificate ?? '') === '';
  if (of === undefined || !(isOpen || isUnsigned)) return { kind: 'leave' };
  const { signerName = '' } = csr.spec ?? {};
  // The hub signs these itself.
  if (isUnsigned && signerName === CLIENT_SIGNER) return { kind: 'leave' };
  if (content.kind === 'malformed') return wait(content.why);
  // Kubernetes' other signers make nodes and servers of the hub.
  if (signerName !== CLIENT_SIGNER && signerName.startsWith('kubernetes.io/'))
    return wait(`no add-on has the signer ${signerName}`);
  const { cluster, addon, registrations } = facts;
  if (cluster === undefined || addon === undefined) return wait('the hub has no such cluster or add-on');
  if (cluster.spec?.hubAcceptsClient !== true) return wait('the cluster is not accepted');
  if (registrations === undefined) return wait('what the add-on registers is not known');
  const wanted = registrations.find((one) => one.signerName === signerName);
  if (wanted === undefined) return wait(`the add-on has no registration with the signer ${signerName}`);
  const agent = parseAgentUser(requesterOf(csr).username);
  const otherwise: AllowedRequest = { kind: isOpen ? 'approve' : 'sign', signerName, content };
  const isForeign = isOpen && agent?.cluster !== of.cluster;
  const why = isForeign
    ? 'its requester is not the agent of the cluster'
    : subjectProblem(wanted, content, { ...of, agent: agent?.agent });
  return why === undefined ? otherwise : { kind: 'doubt', why, otherwise };
}

/** What the certificate would say that the registration does not; undefined: nothing. */
function subjectProblem(
  { signerName, subject }: StatusRegistration,
  content: SignedContent,
  { cluster, addon, agent }: RequestedAddOn & { readonly agent: string | undefined },
): string | undefined {
  const names = addonNames(addon, cluster);
  const isClient = signerName === CLIENT_SIGNER;
  // Without a user, the cluster's agent takes its own name.
  const own = agent === undefined ? undefined : `${names.groups[0]}:agent:${agent}`;
  const user = subject?.user || own;
  if (user === undefined || content.commonName !== user) return 'its common name is not that of the add-on';
  const groups = subject?.groups ?? [];
  // Whatever is registered, the hub's own signer makes no user of another add-on or of the hub.
  const isWithin =
    user.startsWith(`${names.groups[0]}:agent:`) && groups.every((group) => names.groups.includes(group));
  if (isClient && !isWithin) return 'its registration names a user or a group that is not of the add-on';
  // Agents of OCM up to 1.2 ask for this group as well, which every user has.
  const asked = content.organizations.filter((name) => !isClient || name !== EVERYBODY);
  if (!sameNames(asked, groups) || content.organizations.length > asked.length + 1)
    return 'its organizations are not those of the add-on';
  // The hub's own signer drops units.
  if (!isClient && !sameNames(content.organizationalUnits, subject?.organizationUnit ?? []))
    return 'its organizational units are not those of the add-on';
  return content.dnsNames?.every((name) => name === names.dnsName) === true
    ? undefined
    : `it asks for extensions other than the name ${names.dnsName}`;
}

function sameNames(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && [...left].sort().join('\n') === [...right].sort().join('\n');
}

function wait(why: string): AddOnVerdict {
  return { kind: 'wait', why };
}
