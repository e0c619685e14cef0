import { SERVE_RIGHTS } from '../../core/rbac/rights-command.ts';
import {
  MANAGED_CLUSTER,
  apiVersionOf,
  CERTIFICATE_REQUEST,
  SUBJECT_ACCESS_REVIEW,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { ManagedCluster, Taint } from '@berth/ocm/kind/managed-cluster';
import { REGISTRATION_MANAGER, CLUSTER_NAME_LABEL } from '@berth/ocm/registration/names';
import { type ReconcileOutcome, DONE } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import type { CertificateRequestObject, RequesterIdentity } from '@berth/kube/model/signing-request';
import { sharedRoles } from '../../core/registration/acceptance/cluster-objects.ts';
import { sameRights } from '@berth/kube/model/object-writes';
import {
  APPROVED_CONDITION,
  judgeRequest,
  RENEW_RIGHT,
} from '../../core/registration/approval/judge-request.ts';
import { knownAgents } from '../../core/registration/approval/recognize-request.ts';
import type { RegistrationDuty } from '../../core/registration/duties.ts';
import { planTaints, stampHealthTaints } from '../../core/registration/health/health-taints.ts';
import type { OverdueLease } from '../../core/registration/health/judge-lease.ts';
import { isAlive } from '../../core/registration/health/is-live.ts';
import { CachedController, type HubController } from '@berth/kube/controller/cached-controller';
import { runControllers, type RunningControllers } from '@berth/kube/controller/run-controllers';
import { AcceptanceController, requestsOf } from './acceptance-controller.ts';
import { approveRequest } from '@berth/kube/controller/approve-request';
import { ClusterCleaner } from './cluster-cleaner.ts';
import { ClusterSetController } from './cluster-set-controller.ts';
import { LeaseController } from './lease-controller.ts';
import { readRequest } from '@berth/kube/x509/certificate-request';
import type { RegistrationOptions } from './registration-options.ts';

const CONTROLLERS: Readonly<
  Record<RegistrationDuty, (options: RegistrationOptions) => readonly HubController[]>
> = {
  acceptance: (options) => [new SharedRoleController(options), new AcceptanceController(options)],
  approval: (options) => [new CertificateApprover(options)],
  health: (options) => [new LeaseController(options)],
  taints: (options) => [new TaintController(options)],
  sets: (options) => [new ClusterSetController(options)],
  cleanup: (options) => [new ClusterCleaner(options)],
};

export interface RunningRegistration extends RunningControllers {
  /** Clusters that will get the taint of unreachable ones unless their agents answer. Empty where others write it. */
  overdue(): readonly OverdueLease[];
}

/** Runs the given registration controllers on the hub. */
export function startRegistration(
  options: RegistrationOptions,
  duties: readonly RegistrationDuty[],
): RunningRegistration {
  const controllers = duties.flatMap((duty) => CONTROLLERS[duty](options));
  const health = controllers.filter((controller) => controller instanceof LeaseController);
  return {
    ...runControllers({ ...options, rightsCommand: SERVE_RIGHTS }, controllers, 'registration'),
    overdue: () => (duties.includes('taints') ? health.flatMap((controller) => controller.overdue()) : []),
  };
}

/** The only key of the queue: both roles are handled together. */
const ALL = 'all';
/** The two roles do not carry the label of a cluster, so they are not watched. */
const ROLES_RECHECK_MS = 60_000;

/** The ClusterRoles that all clusters share. They exist as long as there is a ManagedCluster. */
class SharedRoleController extends CachedController<RegistrationOptions> {
  readonly name = 'shared roles';
  readonly #clusters = this.read(MANAGED_CLUSTER);

  follow(queue: WorkQueue): void {
    queue.add(ALL);
    this.#clusters.store.onChange(({ before, after }) => {
      if (before === undefined || after === undefined) queue.add(ALL);
    });
  }

  async reconcile(): Promise<ReconcileOutcome> {
    const { hub } = this.options;
    // Before the roles are deleted, the hub itself is asked, because every agent needs them.
    const isNeeded = this.#clusters.store.size > 0 || (await hub.list(MANAGED_CLUSTER)).items.length > 0;
    for (const { kind, object } of sharedRoles()) {
      const key = { namespace: '', name: object.metadata.name };
      const there = await hub.get(kind, key);
      const options = { fieldManager: REGISTRATION_MANAGER, metadataOnly: true };
      if (!isNeeded) {
        if (there !== undefined) await hub.delete(kind, key, { uid: there.metadata.uid });
      } else if (there === undefined) await hub.create(kind, object, options);
      else if (!sameRights(there, object)) {
        const { uid, resourceVersion } = there.metadata;
        const patch = { metadata: { uid, resourceVersion }, rules: object['rules'] };
        await hub.mergePatch(kind, key, patch, options);
      }
    }
    return { kind: 'requeue', afterMs: ROLES_RECHECK_MS };
  }
}

/** A right that was missing may exist by then: it appears shortly after the ManagedCluster shows the acceptance. */
const RIGHT_RECHECK_MS = 30_000;

/** Approves the certificate requests of agents that need no decision of a person. It never denies one. */
class CertificateApprover extends CachedController<RegistrationOptions> {
  readonly name = 'approval';
  readonly #requests = this.read(CERTIFICATE_REQUEST);
  readonly #clusters = this.read(MANAGED_CLUSTER);

  follow(queue: WorkQueue): void {
    for (const { metadata } of this.#requests.store.list()) queue.add(metadata.name);
    this.#requests.store.onChange(({ key, after }) => {
      if (after !== undefined) queue.add(key);
    });
    // A rule reads the cluster, which may be created after the request. It approves a second agent when the first has died.
    this.#clusters.store.onChange(({ key, before, after }) => {
      if (before !== undefined && after !== undefined && !affectsRequests(before, after)) return;
      for (const { metadata } of this.#requests.store.list())
        if (metadata.labels?.[CLUSTER_NAME_LABEL] === key) queue.add(metadata.name);
    });
  }

  async reconcile(name: string): Promise<ReconcileOutcome> {
    const csr = this.#requests.store.get(name) as CertificateRequestObject | undefined;
    if (csr === undefined) return DONE;
    const label = csr.metadata.labels?.[CLUSTER_NAME_LABEL] ?? '';
    const cluster = this.#clusters.store.get(label) as ManagedCluster | undefined;
    const { autoAcceptance: auto, log } = this.options;
    const isKnownAgent = (user: string): boolean =>
      knownAgents(requestsOf(this.#requests, label), label).has(user);
    const verdict = judgeRequest(csr, readRequest(csr), cluster, { auto, isKnownAgent });
    switch (verdict.kind) {
      case 'leave':
        log.debug('certificate request is not approved', { request: name, why: verdict.why });
        return DONE;
      case 'wait':
        if (verdict.why === undefined)
          log.debug('certificate request waits for a person', { request: name, cluster: label });
        else
          log.warn('certificate request of a second agent waits for a person', {
            request: name,
            cluster: label,
            agent: verdict.identity.agent,
            why: verdict.why,
          });
        return DONE;
      case 'approve':
        await this.#approve(csr, label, 'rule');
        return DONE;
      case 'renewal':
        if (!(await this.#mayRenew(verdict.requester))) return { kind: 'requeue', afterMs: RIGHT_RECHECK_MS };
        await this.#approve(csr, label, 'renewal');
        return DONE;
    }
  }

  async #mayRenew({ username, groups, uid, extra }: RequesterIdentity): Promise<boolean> {
    const review = await this.options.hub.create(SUBJECT_ACCESS_REVIEW, {
      apiVersion: apiVersionOf(SUBJECT_ACCESS_REVIEW),
      kind: SUBJECT_ACCESS_REVIEW.kind,
      metadata: {} as KubeObject['metadata'],
      spec: { user: username, groups, uid, extra, resourceAttributes: RENEW_RIGHT },
    });
    const status = (review['status'] ?? {}) as { readonly allowed?: boolean; readonly denied?: boolean };
    return status.allowed === true && status.denied !== true;
  }

  async #approve(csr: CertificateRequestObject, cluster: string, by: 'renewal' | 'rule'): Promise<void> {
    const { hub, clock } = this.options;
    await approveRequest(hub, csr, APPROVED_CONDITION, {
      nowMs: clock.now(),
      fieldManager: REGISTRATION_MANAGER,
    });
    this.options.onEvent?.({ action: 'certificate-approved', cluster, request: csr.metadata.name, by });
  }
}

function affectsRequests(before: KubeObject, after: KubeObject): boolean {
  const wasAlive = isAlive(before as ManagedCluster);
  return (
    before.metadata.generation !== after.metadata.generation || wasAlive !== isAlive(after as ManagedCluster)
  );
}

/** Taints clusters by their health, so that placements move away from clusters that do not answer. */
class TaintController extends CachedController<RegistrationOptions> {
  readonly name = 'taints';
  readonly #clusters = this.read(MANAGED_CLUSTER);

  follow(queue: WorkQueue): void {
    for (const { metadata } of this.#clusters.store.list()) queue.add(metadata.name);
    this.#clusters.store.onChange(({ key, after }) => {
      if (after !== undefined) queue.add(key);
    });
  }

  async reconcile(name: string): Promise<ReconcileOutcome> {
    const cluster = this.#clusters.store.get(name) as ManagedCluster | undefined;
    if (cluster === undefined) return DONE;
    const wanted = planTaints(cluster);
    const written = wanted === undefined ? cluster : await this.#write(cluster, wanted);
    // Set here because the hub may have no admission webhook that does it. Without a time, a toleration would never end.
    const now = formatRfc3339(instantFromEpochMs(this.options.clock.now()));
    const stamped = stampHealthTaints(written, now);
    if (stamped !== undefined) await this.#write(written, stamped);
    return DONE;
  }

  async #write({ metadata }: ManagedCluster, taints: readonly Taint[]): Promise<ManagedCluster> {
    const { name, uid, resourceVersion } = metadata;
    const spec = { taints: taints.length === 0 ? null : taints };
    return (await this.options.hub.mergePatch(
      MANAGED_CLUSTER,
      { namespace: '', name },
      { metadata: { uid, resourceVersion }, spec },
      { fieldManager: REGISTRATION_MANAGER },
    )) as unknown as ManagedCluster;
  }
}
