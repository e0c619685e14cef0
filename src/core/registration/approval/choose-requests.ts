import { OPERATOR_NAMESPACE, agentUser } from '@berth/ocm/registration/names';
import { type CertificateRequestObject, requesterOf } from '@berth/kube/model/signing-request';
import { knownAgents, type ReadRequest, recognize } from './recognize-request.ts';

export interface ChoiceRules {
  readonly cluster: string;
  /** Users of agents whose requests may be approved. If empty, all requests must come from one user. */
  readonly requesters: readonly string[];
  /** Requests of users other than the bootstrap users count as well. */
  readonly skipsRequesterCheck: boolean;
  /** The cluster has joined and its agent is alive, so another agent may belong to another cluster. */
  readonly isAlive: boolean;
}

export interface RequestChoice {
  readonly approve: readonly CertificateRequestObject[];
  /** Names of requests that are already decided. */
  readonly approved: readonly string[];
  readonly denied: readonly string[];
  /** Ignored requests, each with the reason. */
  readonly left: readonly { readonly name: string; readonly why: string }[];
}

/** Users of a cluster before it has a certificate. The second one is from older versions. */
const BOOTSTRAP_USERS = ['agent-registration-bootstrap', 'cluster-bootstrap'].map(
  (account) => `system:serviceaccount:${OPERATOR_NAMESPACE}:${account}`,
);
const BOOTSTRAP_TOKEN_PREFIX = 'system:bootstrap:';
const BOOTSTRAP_GROUPS = [
  'system:bootstrappers:managedcluster',
  `system:serviceaccounts:${OPERATOR_NAMESPACE}`,
  `system:serviceaccounts:${OPERATOR_NAMESPACE}-hub`,
];

/**
 * Chooses the certificate requests of a cluster that a person approves by accepting the cluster. If several agents made
 * requests, none is approved unless the person names the agents, because one of them may be an impostor. A request counts
 * only if it is that of an agent of the cluster and a bootstrap user made it: every user who may create requests can put the
 * label of a cluster on one, and could otherwise keep the cluster from joining. The request of an unknown agent is
 * ignored while another agent is alive, because two clusters with one name would overwrite each other. A service account
 * is compared by its full name; clusteradm compares only the beginning.
 * Source: open-cluster-management.io/clusteradm `pkg/cmd/accept`.
 */
export function chooseRequests(requests: readonly ReadRequest[], rules: ChoiceRules): RequestChoice {
  const isOwn = (request: ReadRequest): boolean => {
    const found = recognize(request);
    return found.kind === 'agent' && found.identity.cluster === rules.cluster;
  };
  const decided = (type: string): readonly string[] =>
    requests
      .filter((request) => hasCondition(request.csr, type) && isOwn(request))
      .map(({ csr }) => csr.metadata.name);
  const known = knownAgents(requests, rules.cluster);
  const open = requests
    .filter(({ csr }) => !hasCondition(csr, 'Approved') && !hasCondition(csr, 'Denied'))
    .map((request) => ({ ...request, judgement: judge(request, rules, known) }));
  const approvable = open.flatMap(({ csr, judgement }) =>
    'user' in judgement ? [{ csr, user: judgement.user }] : [],
  );
  const users = [...new Set(approvable.map(({ user }) => user))].sort();
  const isUnclear = users.length > 1 && rules.requesters.length === 0 && !rules.skipsRequesterCheck;
  return {
    approve: isUnclear ? [] : approvable.map(({ csr }) => csr),
    approved: decided('Approved'),
    denied: decided('Denied'),
    left: [
      ...open.flatMap(({ csr, judgement }) =>
        'why' in judgement ? [{ name: csr.metadata.name, why: judgement.why }] : [],
      ),
      ...(isUnclear
        ? approvable.map(({ csr, user }) => ({
            name: csr.metadata.name,
            why: `several agents ask for the cluster, one of them as ${user}: name those that are yours with --requesters`,
          }))
        : []),
    ],
  };
}

function judge(
  request: ReadRequest,
  { cluster, requesters, skipsRequesterCheck, isAlive }: ChoiceRules,
  known: ReadonlySet<string>,
): { readonly user: string } | { readonly why: string } {
  const { csr } = request;
  const found = recognize(request);
  if (found.kind === 'other') return { why: found.why };
  if (found.identity.cluster !== cluster) return { why: `it is of cluster ${found.identity.cluster}` };
  const user = agentUser(found.identity);
  if (requesters.length > 0 && !requesters.includes(user))
    return { why: `${user} is not among --requesters` };
  if (isAlive && requesters.length === 0 && !skipsRequesterCheck && !known.has(user))
    return {
      why: `the cluster has joined and its agent is alive, so ${user} may be that of another cluster with this name: if it is yours, name it with --requesters`,
    };
  if (skipsRequesterCheck || isBootstrapUser(csr)) return { user };
  const { username } = requesterOf(csr);
  return {
    why: `its requester ${username} is no bootstrap user (--skip-approve-check approves it nevertheless)`,
  };
}

function isBootstrapUser(csr: CertificateRequestObject): boolean {
  const { username, groups } = requesterOf(csr);
  const isKnown = username.startsWith(BOOTSTRAP_TOKEN_PREFIX) || BOOTSTRAP_USERS.includes(username);
  return isKnown && groups.some((group) => BOOTSTRAP_GROUPS.includes(group));
}

function hasCondition({ status }: CertificateRequestObject, type: string): boolean {
  return status?.conditions?.some((condition) => condition.type === type) === true;
}
