import type { CertificateAuthority } from '../auth/certificate-authority.ts';
import { parseCertificateRequest } from '../auth/certificate-authority.ts';
import type { JsonObject } from '../json/json-value.ts';
import { isObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import type { Cluster } from '../rest/cluster.ts';
import { metadataOf, timestamp } from '../rest/cluster.ts';
import { LocalClient } from '../rest/local-client.ts';
import { KeyQueue } from './key-queue.ts';
import type { HubController } from './hub-controller.ts';

const CSRS = { group: 'certificates.k8s.io', version: 'v1', plural: 'certificatesigningrequests' };
const CSR_STORAGE = 'certificatesigningrequests.certificates.k8s.io';
const SIGNER = 'kubernetes.io/kube-apiserver-client';
const USUAL_SECONDS = 365 * 86_400;
const SHORTEST_SECONDS = 600;
/** Aggregated servers believe whoever has this name. */
const FRONT_PROXY = 'front-proxy';

/** Signs approved requests for client certificates. Approving is somebody else's decision. */
export class CertificateSigner implements HubController {
  readonly #cluster: Cluster;
  readonly #client: LocalClient;
  readonly #authority: CertificateAuthority;
  readonly #queue: KeyQueue;
  #unsubscribe: (() => void) | undefined;

  constructor(cluster: Cluster, authority: CertificateAuthority) {
    this.#cluster = cluster;
    this.#client = new LocalClient(cluster, 'certificate-signer');
    this.#authority = authority;
    this.#queue = new KeyQueue('certificates', (name) => this.#sign(name), cluster);
  }

  start(): void {
    this.#unsubscribe = this.#client.watch(CSR_STORAGE, (events) => {
      for (const { entry } of events) this.#queue.add(entry.name);
    });
    for (const { name } of this.#cluster.store.list(CSR_STORAGE)) this.#queue.add(name);
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.();
    await this.#queue.stop();
  }

  async #sign(name: string): Promise<void> {
    const ref = this.#client.ref(CSRS);
    const csr = ref === undefined ? undefined : this.#client.get(ref, { namespace: '', name });
    if (ref === undefined || csr === undefined || !isReady(csr)) return;
    const status = await this.#statusOf(csr);
    const { uid } = metadataOf(csr) as { uid: string };
    await this.#client.mergePatch(ref, { namespace: '', name }, { metadata: { uid }, status }, 'status');
  }

  async #statusOf(csr: JsonObject): Promise<JsonObject> {
    const spec = objectAt(csr, 'spec');
    const request = await parseCertificateRequest(
      Buffer.from(textAt(spec, 'request'), 'base64').toString('utf8'),
    );
    if (request === undefined) return this.#failed(csr, 'the request is not a valid PKCS#10 request');
    const { commonName, organizations } = request.subject;
    if (organizations.includes('system:masters'))
      return this.#failed(csr, 'a request for the group system:masters is never signed');
    if (commonName === FRONT_PROXY) return this.#failed(csr, `a request for ${FRONT_PROXY} is never signed`);
    const asked = spec?.['expirationSeconds'];
    const seconds = Math.max(typeof asked === 'number' ? asked : USUAL_SECONDS, SHORTEST_SECONDS);
    const pem = await this.#authority.signClientRequest(request, this.#cluster.clock.now(), seconds * 1000);
    return { certificate: Buffer.from(pem).toString('base64') };
  }

  #failed(csr: JsonObject, message: string): JsonObject {
    const now = timestamp(this.#cluster.clock);
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
  const ours = textAt(objectAt(csr, 'spec'), 'signerName') === SIGNER;
  return ours && textAt(status, 'certificate') === '' && has('Approved') && !has('Denied') && !has('Failed');
}
