import type { CertificateAuthority } from '../auth/certificates/certificate-authority.ts';
import { CLIENT_SIGNER, judgeClientRequest } from '../auth/certificates/client-signer.ts';
import type { JsonObject } from '../json/json-value.ts';
import { isObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import type { Cluster } from '../request/cluster.ts';
import { metadataOf, timestamp } from '../request/cluster.ts';
import { ObjectController } from './object-controller.ts';

const CSRS = { group: 'certificates.k8s.io', version: 'v1', plural: 'certificatesigningrequests' };
const CSR_STORAGE = 'certificatesigningrequests.certificates.k8s.io';

/** Signs approved requests for client certificates. It does not approve requests. */
export class CertificateSigner extends ObjectController {
  readonly #authority: CertificateAuthority;

  constructor(cluster: Cluster, authority: CertificateAuthority) {
    super(cluster, { name: 'certificates', user: 'certificate-signer', storage: CSR_STORAGE });
    this.#authority = authority;
  }

  protected async reconcile(name: string): Promise<void> {
    const ref = this.client.ref(CSRS);
    const csr = ref === undefined ? undefined : this.client.get(ref, { namespace: '', name });
    if (ref === undefined || csr === undefined || !isReady(csr)) return;
    const status = await this.#statusOf(csr);
    // The resourceVersion makes sure that a request that was denied meanwhile gets no certificate.
    const { uid, resourceVersion } = metadataOf(csr) as { uid: string; resourceVersion: string };
    const metadata = { uid, resourceVersion };
    await this.client.mergePatch(ref, { namespace: '', name }, { metadata, status }, 'status');
  }

  async #statusOf(csr: JsonObject): Promise<JsonObject> {
    const verdict = judgeClientRequest(objectAt(csr, 'spec'));
    if (verdict.kind === 'refuse') return this.#failed(csr, verdict.why);
    const pem = await this.#authority.signClientKey(verdict, this.cluster.clock.now());
    return { certificate: Buffer.from(pem).toString('base64') };
  }

  #failed(csr: JsonObject, message: string): JsonObject {
    const now = timestamp(this.cluster.clock);
    const condition = {
      type: 'Failed',
      status: 'True',
      reason: 'SignerValidationFailure',
      message,
      lastUpdateTime: now,
      lastTransitionTime: now,
    };
    return { conditions: [...listAt(objectAt(csr, 'status'), 'conditions'), condition] };
  }
}

function isReady(csr: JsonObject): boolean {
  const status = objectAt(csr, 'status');
  const has = (type: string): boolean =>
    listAt(status, 'conditions').some((condition) => isObject(condition) && condition['type'] === type);
  const ours = textAt(objectAt(csr, 'spec'), 'signerName') === CLIENT_SIGNER;
  return ours && textAt(status, 'certificate') === '' && has('Approved') && !has('Denied') && !has('Failed');
}
