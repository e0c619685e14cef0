import type { Reflector } from '@berth/kube/cache/reflector';
import {
  CERTIFICATE_REQUEST,
  CLUSTER_ROLE,
  CLUSTER_ROLE_BINDING,
  MANAGED_CLUSTER,
  MANIFEST_WORK,
  NAMESPACE,
  ROLE_BINDING,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { acceptanceFailed, CLUSTER_CONDITIONS } from '@berth/ocm/registration/cluster-conditions';
import {
  API_RESOURCE_FINALIZER,
  CLUSTER_NAME_LABEL,
  REGISTRATION_MANAGER,
  AUTO_ACCEPTED_ANNOTATION,
} from '@berth/ocm/registration/names';
import { errorText, InputError } from '@berth/runtime/errors';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import { isOpenToRules } from '../../core/registration/acceptance/auto-acceptance.ts';
import type { DesiredObject } from '@berth/kube/model/object-writes';
import { type AcceptancePlan, planAcceptance } from '../../core/registration/acceptance/plan-acceptance.ts';
import type { CertificateRequestObject } from '@berth/kube/model/signing-request';
import { judgeRequest } from '../../core/registration/approval/judge-request.ts';
import { knownAgents, type ReadRequest } from '../../core/registration/approval/recognize-request.ts';
import { CachedController } from '@berth/kube/controller/cached-controller';
import { writeObject } from '@berth/kube/controller/write-object';
import { DeletionHolds, hasAnyOf } from './cluster-cleaner.ts';
import { readRequest } from '@berth/kube/x509/certificate-request';
import { type RegistrationOptions, reportEvent, writeConditions } from './registration-options.ts';

/** Works are not watched here. A binding that waits until the last work is deleted is checked at this interval. */
const WAIT_MS = 5_000;
const OWN_KINDS = [CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE_BINDING];

/** Creates on the hub what an accepted cluster needs, and removes what a denied or deleted cluster had. */
export class AcceptanceController extends CachedController<RegistrationOptions> {
  readonly name = 'acceptance';
  readonly #clusters = this.read(MANAGED_CLUSTER);
  readonly #namespaces = this.read(NAMESPACE);
  readonly #own: ReadonlyMap<string, Reflector> = new Map(
    OWN_KINDS.map((kind) => [kind.kind, this.read(kind)]),
  );
  readonly #requests = this.read(CERTIFICATE_REQUEST);
  readonly #holds = new DeletionHolds(this.options);
  readonly #automatic = new AutomaticAcceptance(this.options, this.#requests, this.#namespaces);

  follow(queue: WorkQueue): void {
    const add = (object: KubeObject | undefined): void => {
      const cluster = object?.metadata.labels?.[CLUSTER_NAME_LABEL] ?? '';
      if (cluster !== '') queue.add(cluster);
    };
    for (const { store } of [this.#namespaces, ...this.#own.values(), this.#requests]) {
      store.list().forEach(add);
      store.onChange(({ before, after }) => add(after ?? before));
    }
    for (const { metadata } of this.#clusters.store.list()) queue.add(metadata.name);
    this.#clusters.store.onChange(({ key }) => queue.add(key));
  }

  async reconcile(name: string): Promise<ReconcileOutcome> {
    const cluster = await this.#read(name);
    if (cluster !== undefined && (await this.#automatic.accept(cluster))) return DONE;
    if (await this.#keepsRights(cluster)) return { kind: 'requeue', afterMs: WAIT_MS };
    const plan = planAcceptance({
      name,
      cluster,
      find: (wanted) => this.#find(wanted),
      hasWorks: this.#mayRemove(cluster) && (await hasAnyOf(this.options.hub, MANIFEST_WORK, name)),
    });
    await this.#perform(plan, cluster);
    return plan.isWaiting ? { kind: 'requeue', afterMs: WAIT_MS } : DONE;
  }

  /** Reads the cluster from the hub if the cache has none, because its objects are deleted if it does not exist. */
  async #read(name: string): Promise<ManagedCluster | undefined> {
    const cached = this.#clusters.store.get(name);
    const object = cached ?? (await this.options.hub.get(MANAGED_CLUSTER, { namespace: '', name }));
    return object as ManagedCluster | undefined;
  }

  #find({ kind, object }: DesiredObject): KubeObject | undefined {
    const reflector = kind === NAMESPACE ? this.#namespaces : this.#own.get(kind.kind);
    return reflector?.store.get(namespacedName(object.metadata));
  }

  /** While the deletion of an accepted cluster waits, its agent must be able to report and to renew its certificate. */
  async #keepsRights(cluster: ManagedCluster | undefined): Promise<boolean> {
    if (cluster?.metadata.deletionTimestamp === undefined || cluster.spec?.hubAcceptsClient !== true)
      return false;
    return (await this.#holds.of(cluster.metadata.name)).length > 0;
  }

  #mayRemove(cluster: ManagedCluster | undefined): boolean {
    return (
      cluster === undefined ||
      cluster.metadata.deletionTimestamp !== undefined ||
      cluster.spec?.hubAcceptsClient !== true
    );
  }

  async #perform(plan: AcceptancePlan, given: ManagedCluster | undefined): Promise<void> {
    const cluster = plan.finalizer === 'add' ? await this.#setFinalizer(given, true) : given;
    const failures: InputError[] = [];
    for (const write of plan.writes) {
      try {
        await writeObject(this.options.hub, write, REGISTRATION_MANAGER);
      } catch (error) {
        // The others are tried, too; an error other than a refusal repeats the complete pass.
        if (!(error instanceof InputError)) throw error;
        failures.push(error);
      }
    }
    const isRefused = failures.length > 0;
    const condition = isRefused ? acceptanceFailed(failures.map(errorText).join('\n')) : plan.condition;
    if (condition !== undefined && cluster !== undefined) {
      const object = cluster as unknown as KubeObject;
      const isChanged = await writeConditions(this.options, MANAGED_CLUSTER, object, [condition]);
      if (isChanged && !isRefused) await this.#reportDecision(object, condition);
    }
    const [first] = failures;
    if (first !== undefined) throw first;
    if (plan.finalizer === 'remove') await this.#setFinalizer(cluster, false);
  }

  async #setFinalizer(cluster: ManagedCluster | undefined, isWanted: boolean): Promise<ManagedCluster> {
    const { name = '', uid, resourceVersion, finalizers = [] } = cluster?.metadata ?? {};
    const others = finalizers.filter((one) => one !== API_RESOURCE_FINALIZER);
    const next = isWanted ? [...finalizers, API_RESOURCE_FINALIZER] : others;
    return (await this.options.hub.mergePatch(
      MANAGED_CLUSTER,
      { namespace: '', name },
      { metadata: { uid, resourceVersion, finalizers: next } },
      { fieldManager: REGISTRATION_MANAGER },
    )) as unknown as ManagedCluster;
  }

  async #reportDecision(cluster: KubeObject, condition: { readonly reason: string }): Promise<void> {
    const { name } = cluster.metadata;
    const isAccepted = condition.reason === CLUSTER_CONDITIONS.accepted.reason;
    if (!isAccepted && condition.reason !== CLUSTER_CONDITIONS.denied.reason) return;
    this.options.onEvent?.({ action: isAccepted ? 'accepted' : 'denied', cluster: name });
    await reportEvent(this.options, cluster, {
      type: 'Normal',
      reason: isAccepted ? 'ManagedClusterAccepted' : 'ManagedClusterDenied',
      action: isAccepted ? 'Accept' : 'Deny',
      note: `managed cluster ${name} is ${isAccepted ? 'accepted' : 'denied'} by hub cluster admin`,
    });
  }
}

/**
 * Accepts a cluster once if a rule accepts the identity that requests its certificate. If a namespace with the name of
 * the cluster exists that does not belong to the cluster, a person must decide. Otherwise a cluster could choose the
 * name of any namespace of the hub.
 */
class AutomaticAcceptance {
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
    // A cluster that a person accepted is annotated as well. If a person denies it later, Berth does not override that.
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

/** The certificate requests with the label of a cluster. @param requests of the hub */
export function requestsOf(requests: Reflector, cluster: string): readonly ReadRequest[] {
  return (requests.store.list() as unknown as readonly CertificateRequestObject[])
    .filter(({ metadata }) => metadata.labels?.[CLUSTER_NAME_LABEL] === cluster)
    .map((csr) => ({ csr, content: readRequest(csr) }));
}
