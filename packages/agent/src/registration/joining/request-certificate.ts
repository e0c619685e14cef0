import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { Reflector } from '@berth/kube/cache/reflector';
import type { ClientPair } from '@berth/kube/config/rotating-kube-config';
import { CERTIFICATE_REQUEST } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import { DER_TAG, writeDer } from '@berth/kube/x509/der';
import {
  CLIENT_SIGNER,
  CLUSTER_NAME_LABEL,
  type AgentIdentity,
  agentGroups,
  agentUser,
} from '@berth/ocm/registration/names';
import { Backoff } from '@berth/runtime/loop/backoff';
import { sleep, onAbort, WakeUp } from '@berth/runtime/loop/sleep';
import { z } from 'zod';
import { nextRequestStep, type RequestStep } from '../../rules/registration/next-request-step.ts';
import { isOf } from '../../rules/registration/plan-certificate.ts';
import type { CredentialStore, CredentialFiles } from '../credentials/credential-store.ts';
import { readCertificate } from '../credentials/read-credentials.ts';
import type { RegistrationSettings } from '../options/registration-settings.ts';

export interface CertificateOptions {
  /** The client of the hub. */
  readonly api: KubeApi;
  readonly identity: AgentIdentity;
  readonly store: CredentialStore;
  readonly settings: RegistrationSettings;
  /** Called with each new reason why there is no certificate yet, for users. */
  readonly onProblem?: (problem: string) => void;
}

/** The pause after a person refused a request. */
const AFTER_REFUSAL = { initialMs: 10_000, maxMs: 600_000 };
/** The pause after the hub did not answer, or answered with an error. */
const AFTER_FAILURE = { initialMs: 1_000, maxMs: 30_000 };
/** The text of OCM, in a condition that users look for. */
const CROWDED = 'Stop creating csr since there are too many csr created already on hub';

/**
 * Requests a client certificate from the hub, and waits without a time limit until it is issued.
 * Source: open-cluster-management.io/ocm `pkg/registration/register/csr/csr.go`.
 * @returns undefined when the signal aborts. The certificate is not stored yet.
 */
export async function requestCertificate(
  options: CertificateOptions,
  signal: AbortSignal,
): Promise<ClientPair | undefined> {
  const { api, identity, settings } = options;
  const { clock, random, log } = settings;
  const stop = new AbortController();
  onAbort(signal, () => stop.abort());
  const reflector = new Reflector({
    api,
    kind: CERTIFICATE_REQUEST,
    labelSelector: `${CLUSTER_NAME_LABEL}=${identity.cluster}`,
    clock,
    random,
    log,
  });
  const running = reflector.run(stop.signal);
  try {
    await reflector.whenSynced(stop.signal);
    return await new CertificateWait(options, reflector).issued(stop.signal);
  } finally {
    stop.abort();
    await running;
  }
}

class CertificateWait {
  readonly #options: CertificateOptions;
  readonly #reflector: Reflector;
  readonly #refusals: Backoff;
  readonly #failures: Backoff;
  #lastProblem = '';

  constructor(options: CertificateOptions, reflector: Reflector) {
    this.#options = options;
    this.#reflector = reflector;
    this.#refusals = new Backoff(AFTER_REFUSAL, options.settings.random);
    this.#failures = new Backoff(AFTER_FAILURE, options.settings.random);
  }

  async issued(signal: AbortSignal): Promise<ClientPair | undefined> {
    const { clock, log } = this.#options.settings;
    const wake = new WakeUp();
    this.#reflector.store.onChange(() => wake.call());
    let own: OwnRequest | undefined;
    while (!signal.aborted) {
      let waitMs: number | undefined;
      try {
        own ??= await findOrCreateRequest(this.#requestOptions);
        const step = this.#step(own);
        if (step.kind === 'issued') {
          const pair = this.#pairOf(own, step.certificate);
          if (pair !== undefined) return pair;
        }
        if (step.kind === 'create') await this.#create(own, signal);
        if (step.kind === 'crowded') this.#report(CROWDED, { count: step.count });
        if (step.kind === 'wait')
          this.#report('the certificate request waits for its approval', { request: step.name });
        if (step.kind === 'refused' || step.kind === 'issued') {
          const why = step.kind === 'refused' ? step.why : 'its certificate is not the requested one';
          this.#report(`the certificate request was refused: ${why}`, { request: step.name });
          await sleep(clock, this.#refusals.nextMs(), signal);
          if (!signal.aborted) own = await newRequest(this.#requestOptions);
          continue;
        }
        this.#failures.reset();
      } catch (error) {
        if (signal.aborted) break;
        waitMs = this.#failures.nextMs();
        log.warn('certificate cannot be requested yet', { cluster: this.#options.identity.cluster, error });
      }
      // After a create, the store contains the created request.
      const pause = waitMs === undefined ? undefined : clock.schedule(waitMs, () => wake.call());
      await wake.wait(signal);
      pause?.();
    }
    return undefined;
  }

  get #requestOptions() {
    const { api, identity, store } = this.#options;
    return { server: api.server, identity, store };
  }

  #step(own: OwnRequest): RequestStep {
    return nextRequestStep(this.#reflector.store.list(), base64(own.requestPem));
  }

  #pairOf({ keyPem }: OwnRequest, certificate: string): ClientPair | undefined {
    const certPem = Buffer.from(certificate, 'base64').toString('utf8');
    const held = readCertificate(certPem, keyPem);
    return held !== undefined && isOf(this.#options.identity, held) ? { certPem, keyPem } : undefined;
  }

  async #create({ requestPem }: OwnRequest, signal: AbortSignal): Promise<void> {
    const { api, identity, settings } = this.#options;
    // Listed again: an earlier attempt may have created the request although its response was lost.
    await this.#reflector.relist(signal);
    if (signal.aborted) return;
    if (nextRequestStep(this.#reflector.store.list(), base64(requestPem)).kind !== 'create') return;
    const { expirationSeconds } = settings;
    const metadata = {
      generateName: `${identity.cluster}-`,
      labels: { [CLUSTER_NAME_LABEL]: identity.cluster },
    };
    const object: KubeObject = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: metadata as unknown as ObjectMeta,
      spec: {
        request: base64(requestPem),
        signerName: CLIENT_SIGNER,
        usages: ['digital signature', 'key encipherment', 'client auth'],
        ...(expirationSeconds !== undefined && { expirationSeconds }),
      },
    };
    const created = await api.create(CERTIFICATE_REQUEST, object);
    this.#reflector.putWritten(created);
    settings.log.info('certificate requested', { cluster: identity.cluster, request: created.metadata.name });
  }

  #report(problem: string, fields: object): void {
    if (problem === this.#lastProblem) return;
    this.#lastProblem = problem;
    const { identity, settings, onProblem } = this.#options;
    settings.log.info(problem, { cluster: identity.cluster, ...fields });
    onProblem?.(problem);
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** A key that never leaves this machine, and the certificate request that was created with it. Both are PEM. */
interface OwnRequest {
  readonly keyPem: string;
  readonly requestPem: string;
}

/** Creates a new P-256 key, and a PKCS#10 request (RFC 2986) for the certificate of an agent. */
function makeRequest(identity: AgentIdentity): OwnRequest {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keyPem = privateKey.export({ type: 'sec1', format: 'pem' }) as string;
  return { keyPem, requestPem: requestFor(identity, keyPem) };
}

const OID = {
  commonName: Buffer.from('550403', 'hex'),
  organization: Buffer.from('55040a', 'hex'),
  ecdsaWithSha256: Buffer.from('2a8648ce3d040302', 'hex'),
};

function requestFor(identity: AgentIdentity, keyPem: string): string {
  const key = createPrivateKey(keyPem);
  const info = writeDer(
    DER_TAG.sequence,
    writeDer(DER_TAG.integer, Buffer.from([0])),
    nameOf(identity),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    writeDer(DER_TAG.context0),
  );
  const signature = sign('sha256', info, key);
  const der = writeDer(
    DER_TAG.sequence,
    info,
    writeDer(DER_TAG.sequence, writeDer(DER_TAG.objectId, OID.ecdsaWithSha256)),
    // The first byte is the number of unused bits.
    writeDer(DER_TAG.bitString, Buffer.from([0]), signature),
  );
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE REQUEST-----', ...lines, '-----END CERTIFICATE REQUEST-----', ''].join(
    '\n',
  );
}

function nameOf(identity: AgentIdentity): Buffer {
  const groups = agentGroups(identity.cluster).map((group) => attribute(OID.organization, group));
  return writeDer(DER_TAG.sequence, ...groups, attribute(OID.commonName, agentUser(identity)));
}

function attribute(id: Buffer, text: string): Buffer {
  const value = writeDer(DER_TAG.utf8String, Buffer.from(text));
  return writeDer(DER_TAG.set, writeDer(DER_TAG.sequence, writeDer(DER_TAG.objectId, id), value));
}

interface OpenRequestOptions {
  readonly server: string;
  readonly identity: AgentIdentity;
  readonly store: CredentialStore;
}

/**
 * The open request at this hub, or a new one. Its key is stored before the hub receives it, so that an agent that
 * crashes at any moment continues with the same request.
 */
async function findOrCreateRequest(options: OpenRequestOptions): Promise<OwnRequest> {
  return storedRequest(await options.store.read(), options) ?? newRequest(options);
}

/** Creates and stores a new request, for example after a refused one. */
async function newRequest({ server, identity, store }: OpenRequestOptions): Promise<OwnRequest> {
  const request = makeRequest(identity);
  await store.write({
    'cluster-name': identity.cluster,
    'agent-name': identity.agent,
    'certificate-request.json': JSON.stringify({ server, ...identity, ...request }),
  });
  return request;
}

const STORED_REQUEST = z.object({
  server: z.string(),
  cluster: z.string(),
  agent: z.string(),
  keyPem: z.string(),
  requestPem: z.string(),
});

function storedRequest(
  files: CredentialFiles,
  { server, identity }: OpenRequestOptions,
): OwnRequest | undefined {
  const parsed = STORED_REQUEST.safeParse(parseJsonOrUndefined(files['certificate-request.json']));
  if (!parsed.success) return undefined;
  const { keyPem, requestPem, ...storedFor } = parsed.data;
  if (
    storedFor.server !== server ||
    storedFor.cluster !== identity.cluster ||
    storedFor.agent !== identity.agent
  )
    return undefined;
  // A key is used for only one certificate. If the certificate of this key is stored already, a new key is needed.
  return readCertificate(files['tls.crt'], keyPem) === undefined ? { keyPem, requestPem } : undefined;
}

function parseJsonOrUndefined(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
