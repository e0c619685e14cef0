import {
  apiVersionOf,
  CERTIFICATE_REQUEST,
  MANAGED_CLUSTER,
  SUBJECT_ACCESS_REVIEW,
} from '@berth/kube/model/kinds';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { RequesterIdentity } from '../../core/registration/acceptance/auto-acceptance.ts';
import {
  APPROVED_CONDITION,
  type CertificateRequestObject,
  judgeRequest,
  RENEW_RIGHT,
} from '../../core/registration/approval/judge-request.ts';
import { knownAgents } from '../../core/registration/approval/known-agents.ts';
import { isAlive } from '../../core/registration/health/is-joined.ts';
import { CLUSTER_NAME_LABEL, REGISTRATION_MANAGER } from '@berth/ocm/registration/names';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import { CachedController } from './cached-controller.ts';
import { approveRequest } from './approve-request.ts';
import { readRequest, requestsOf } from './read-request.ts';

/** A right that was missing may exist by then: it appears shortly after the ManagedCluster shows the acceptance. */
const RECHECK_MS = 30_000;

/** Approves the certificate requests of agents that need no decision of a person. It never denies one. */
export class CertificateApprover extends CachedController {
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
        if (!(await this.#mayRenew(verdict.requester))) return { kind: 'requeue', afterMs: RECHECK_MS };
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
