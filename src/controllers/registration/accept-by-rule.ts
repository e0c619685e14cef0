import type { Reflector } from '@berth/kube/cache/reflector';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { isOpenToRules } from '../../core/registration/acceptance/auto-acceptance.ts';
import {
  type CertificateRequestObject,
  judgeRequest,
} from '../../core/registration/approval/judge-request.ts';
import { knownAgents } from '../../core/registration/approval/known-agents.ts';
import {
  AUTO_ACCEPTED_ANNOTATION,
  CLUSTER_NAME_LABEL,
  REGISTRATION_MANAGER,
} from '@berth/ocm/registration/names';
import { requestsOf } from './read-request.ts';
import type { RegistrationOptions } from './registration-options.ts';

/**
 * Accepts a cluster once if a rule accepts the identity that requests its certificate. If a namespace with the name of
 * the cluster exists that does not belong to the cluster, a person must decide. Otherwise a cluster could choose the
 * name of any namespace of the hub.
 */
export class AutomaticAcceptance {
  readonly #options: RegistrationOptions;
  readonly #requests: Reflector;
  readonly #namespaces: Reflector;

  constructor(options: RegistrationOptions, requests: Reflector, namespaces: Reflector) {
    this.#options = options;
    this.#requests = requests;
    this.#namespaces = namespaces;
  }

  /** @returns whether the ManagedCluster was changed */
  async accept(cluster: ManagedCluster): Promise<boolean> {
    const { users, rules } = this.#options.autoAcceptance;
    const { name, uid, resourceVersion, annotations = {} } = cluster.metadata;
    if (users.length + rules.length === 0 || !isOpenToRules(cluster)) return false;
    if (annotations[AUTO_ACCEPTED_ANNOTATION] !== undefined) return false;
    const isAccepted = cluster.spec?.hubAcceptsClient === true;
    if (!isAccepted && !(this.#isNamespaceFree(name) && this.#isAskedFor(cluster))) return false;
    const now = formatRfc3339(instantFromEpochMs(this.#options.clock.now()));
    // A cluster that a person accepted is marked as well. If a person denies it later, Berth does not override that.
    await this.#options.hub.mergePatch(
      MANAGED_CLUSTER,
      { namespace: '', name },
      {
        metadata: { uid, resourceVersion, annotations: { [AUTO_ACCEPTED_ANNOTATION]: now } },
        ...(isAccepted ? {} : { spec: { hubAcceptsClient: true } }),
      },
      { fieldManager: REGISTRATION_MANAGER, metadataOnly: true },
    );
    if (!isAccepted) this.#options.onEvent?.({ action: 'accepted-by-rule', cluster: name });
    return true;
  }

  #isNamespaceFree(name: string): boolean {
    const namespace = this.#namespaces.store.get(name);
    return namespace === undefined || namespace.metadata.labels?.[CLUSTER_NAME_LABEL] === name;
  }

  #isAskedFor(cluster: ManagedCluster): boolean {
    const { name } = cluster.metadata;
    const requests = requestsOf(this.#requests, name);
    const isKnownAgent = (user: string): boolean => knownAgents(requests, name).has(user);
    const rules = { auto: this.#options.autoAcceptance, isKnownAgent };
    return requests.some(({ csr, content }) => {
      // An approved request identifies its sender as well as an undecided one does.
      const undecided = { ...csr, status: withoutApproval(csr) };
      return judgeRequest(undecided, content, cluster, rules).kind === 'approve';
    });
  }
}

function withoutApproval({
  status,
}: CertificateRequestObject): NonNullable<CertificateRequestObject['status']> {
  return { conditions: (status?.conditions ?? []).filter(({ type }) => type !== 'Approved') };
}
