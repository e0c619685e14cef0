import {
  ADDON_TEMPLATE,
  CERTIFICATE_REQUEST,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  SECRET,
} from '@berth/kube/model/kinds';
import { secretTexts } from '@berth/kube/secret-texts';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import type { AddOnTemplate, TemplateSigner } from '@berth/ocm/kind/addon';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { errorText, TransientError } from '@berth/runtime/errors';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import {
  ADDON_APPROVED,
  judgeAddOnRequest,
  type RequestedAddOn,
  requestedAddOn,
  type SignedContent,
} from '../rules/registration/judge-addon-request.ts';
import { desiredTemplate, type StoredAddOn } from '../rules/registration/template-registrations.ts';
import type { CertificateRequestObject } from '@berth/kube/model/signing-request';
import { approveRequest } from '@berth/kube/controller/approve-request';
import { readRequest } from '@berth/kube/x509/certificate-request';
import { ADDON_MANAGER, AddOnController } from './addon-controller.ts';

/** Where OCM's add-on manager runs, and looks for the authorities of templates that name no namespace. */
const HUB_NAMESPACE = 'open-cluster-management-hub';
/** As upstream. The cluster's agent asks again before. */
const LIFETIME_MS = 24 * 3_600_000;

/**
 * Approves the certificate requests of add-ons of templates, and signs those for a signer of the template with the authority in
 * its Secret. Keys are the names of requests. It never denies one.
 */
export class AddOnCertificates extends AddOnController {
  readonly name = 'certificates';
  readonly #requests = this.read(CERTIFICATE_REQUEST);
  readonly #clusters = this.read(MANAGED_CLUSTER);
  readonly #addons = this.read(MANAGED_CLUSTER_ADDON);
  readonly #templates = this.read(ADDON_TEMPLATE);
  /** Names of requests that are not decided, by cluster. */
  readonly #waiting = new Map<string, Set<string>>();

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
    this.#templates.store.onChange(() => [...this.#waiting.keys()].forEach(addWaiting));
  }

  async reconcile(name: string): Promise<ReconcileOutcome> {
    const csr = this.#requests.store.get(name) as CertificateRequestObject | undefined;
    const of = csr && requestedAddOn(csr);
    if (csr === undefined || of === undefined) return DONE;
    const addon = this.#addons.store.get(`${of.cluster}/${of.addon}`) as StoredAddOn | undefined;
    const template = this.#templates.store.get((addon && desiredTemplate(addon)) ?? '');
    const cluster = this.#clusters.store.get(of.cluster) as ManagedCluster | undefined;
    const facts = { cluster, addon, template: template as AddOnTemplate | undefined };
    const verdict = judgeAddOnRequest(csr, readRequest(csr), facts);
    const waiting = this.#waiting.get(of.cluster) ?? new Set();
    if (verdict.kind === 'wait') this.#waiting.set(of.cluster, waiting.add(name));
    else waiting.delete(name);
    switch (verdict.kind) {
      case 'leave':
        return DONE;
      case 'wait':
        this.options.log.debug('certificate request of an add-on waits', { request: name, why: verdict.why });
        return DONE;
      case 'approve':
        await this.#approve(csr, of);
        return DONE;
      case 'sign':
        await this.#sign(csr, of, verdict);
        return DONE;
    }
  }

  async #approve(csr: CertificateRequestObject, of: RequestedAddOn): Promise<void> {
    const { hub, clock, onEvent } = this.options;
    await approveRequest(hub, csr, ADDON_APPROVED, { nowMs: clock.now(), fieldManager: ADDON_MANAGER });
    onEvent?.({ action: 'certificate-approved', ...of, request: csr.metadata.name });
  }

  async #sign(
    { metadata }: CertificateRequestObject,
    of: RequestedAddOn,
    { signer, content }: { readonly signer: TemplateSigner; readonly content: SignedContent },
  ): Promise<void> {
    const { hub, onEvent } = this.options;
    const pem = await this.#certificate(signer, content);
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

  /** @throws TransientError while the Secret has no authority that is valid: somebody makes or renews it */
  async #certificate({ signingCA }: TemplateSigner, content: SignedContent): Promise<string> {
    const key = { namespace: signingCA.namespace || HUB_NAMESPACE, name: signingCA.name };
    const unusable = (why: string): TransientError =>
      new TransientError(`cannot sign for an add-on: ${why}`, {
        ...{ code: 'addon.signing-ca', subject: `Secret ${key.namespace}/${key.name}` },
        hint: 'tls.crt and tls.key are the certificate and the key of the authority that the AddOnTemplate names as signingCA',
      });
    const secret = await this.options.hub.get(SECRET, key);
    if (secret === undefined) throw unusable('there is no such Secret');
    const { 'tls.crt': certPem = '', 'tls.key': keyPem = '' } = secretTexts(secret);
    const authority = await CertificateAuthority.load({ certPem, keyPem }).catch((error: unknown) => {
      throw unusable(errorText(error));
    });
    const nowMs = this.options.clock.now();
    const expiresAtMs = await authority.expiresAtMs();
    if (expiresAtMs <= nowMs)
      throw unusable(`its authority expired at ${new Date(expiresAtMs).toISOString()}`);
    const { commonName, organizations, organizationalUnits, publicKeyDer, dnsNames: hosts = [] } = content;
    const subject = { commonName, organizations };
    return authority.signPeerKey(
      { subject, organizationalUnits, publicKeyDer, hosts, lifetimeMs: LIFETIME_MS },
      nowMs,
    );
  }
}
