import { approveRequest } from '@berth/kube/controller/approve-request';
import { CERTIFICATE_REQUEST, MANAGED_CLUSTER, MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import type { CertificateRequestObject } from '@berth/kube/model/signing-request';
import { readRequest } from '@berth/kube/x509/certificate-request';
import type { ManagedClusterAddOn } from '@berth/ocm/kind/addon';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import {
  ADDON_APPROVED,
  type AddOnVerdict,
  type AllowedRequest,
  judgeAddOnRequest,
  type RequestedAddOn,
  requestedAddOn,
} from '../rules/registration/judge-addon-request.ts';
import { ADDON_MANAGER, AddOnController, type AddOnOptions } from './addon-controller.ts';
import type { ClusterAddOn, RegistrationSource } from './addon-source.ts';

/**
 * Approves the certificate requests of the add-ons of a source, and signs those for their own signers. Keys are the names of
 * requests. It never denies one.
 */
export class AddOnCertificates extends AddOnController {
  readonly name = 'certificates';
  readonly #source: RegistrationSource;
  readonly #requests = this.read(CERTIFICATE_REQUEST);
  readonly #clusters = this.read(MANAGED_CLUSTER);
  readonly #addons = this.read(MANAGED_CLUSTER_ADDON);
  /** Names of requests that are not decided, by cluster. */
  readonly #waiting = new Map<string, Set<string>>();

  constructor(options: AddOnOptions, source: RegistrationSource) {
    super(options);
    this.#source = source;
    this.reads.push(...source.reads);
  }

  follow(queue: WorkQueue): void {
    for (const { metadata } of this.#requests.store.list()) queue.add(metadata.name);
    this.#requests.store.onChange(({ key, after }) => {
      if (after !== undefined) queue.add(key);
      else for (const names of this.#waiting.values()) names.delete(key);
    });
    const addWaiting = (cluster: string): void =>
      this.#waiting.get(cluster)?.forEach((name) => queue.add(name));
    this.#clusters.store.onChange(({ key }) => addWaiting(key));
    this.#addons.store.onChange(({ key }) => addWaiting(key.split('/')[0] ?? ''));
    this.#source.follow((key) => addWaiting(key.split('/')[0] ?? ''));
  }

  async reconcile(name: string, signal: AbortSignal): Promise<ReconcileOutcome> {
    const csr = this.#requests.store.get(name) as CertificateRequestObject | undefined;
    const of = csr && requestedAddOn(csr);
    if (csr === undefined || of === undefined) return DONE;
    const addon = this.#addons.store.get(`${of.cluster}/${of.addon}`) as ManagedClusterAddOn | undefined;
    const cluster = this.#clusters.store.get(of.cluster) as ManagedCluster | undefined;
    const subject = addon && cluster && { addon, cluster };
    const registrations = subject && (await this.#source.declared(subject, signal));
    const verdict = judgeAddOnRequest(csr, readRequest(csr), { cluster, addon, registrations });
    const allowed = subject && (await this.#allowed(verdict, subject, signal));
    const waiting = this.#waiting.get(of.cluster) ?? new Set();
    if (allowed !== undefined || verdict.kind === 'leave') waiting.delete(name);
    else {
      this.#waiting.set(of.cluster, waiting.add(name));
      const why = 'why' in verdict ? verdict.why : 'its manager does not approve it';
      this.options.log.debug('certificate request of an add-on waits', { request: name, why });
    }
    if (allowed?.kind === 'approve') await this.#approve(csr, of);
    if (allowed?.kind === 'sign' && subject !== undefined)
      await this.#write(csr, of, await this.#source.sign(subject, allowed, signal));
    return DONE;
  }

  /** What may be done about a request; undefined: nothing. A manager with a rule of its own is asked about each that it could approve. */
  async #allowed(
    verdict: AddOnVerdict,
    subject: ClusterAddOn,
    signal: AbortSignal,
  ): Promise<AllowedRequest | undefined> {
    if (verdict.kind === 'leave' || verdict.kind === 'wait') return undefined;
    const [request, why] = verdict.kind === 'doubt' ? [verdict.otherwise, verdict.why] : [verdict, undefined];
    const isAllowed =
      this.#source.approve === undefined
        ? why === undefined
        : await this.#source.approve(subject, { ...request, why }, signal);
    return isAllowed ? request : undefined;
  }

  async #approve(csr: CertificateRequestObject, of: RequestedAddOn): Promise<void> {
    const { hub, clock, onEvent } = this.options;
    await approveRequest(hub, csr, ADDON_APPROVED, { nowMs: clock.now(), fieldManager: ADDON_MANAGER });
    onEvent?.({ action: 'certificate-approved', ...of, request: csr.metadata.name });
  }

  /** @param pem undefined: it gets no certificate */
  async #write(
    { metadata }: CertificateRequestObject,
    of: RequestedAddOn,
    pem: string | undefined,
  ): Promise<void> {
    if (pem === undefined) return;
    const { hub, onEvent } = this.options;
    const { name, uid, resourceVersion } = metadata;
    // A request that was denied meanwhile gets no certificate, because its version is another.
    await hub.mergePatch(
      CERTIFICATE_REQUEST,
      { namespace: '', name },
      { metadata: { uid, resourceVersion }, status: { certificate: Buffer.from(pem).toString('base64') } },
      { subresource: 'status', fieldManager: ADDON_MANAGER, metadataOnly: true },
    );
    onEvent?.({ action: 'certificate-signed', ...of, request: name });
  }
}
