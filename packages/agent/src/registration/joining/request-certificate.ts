import { Reflector } from '@berth/kube/cache/reflector';
import type { ClientPair } from '@berth/kube/config/rotating-kube-config';
import { CERTIFICATE_REQUEST } from '@berth/kube/model/kinds';
import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { AgentIdentity } from '@berth/ocm/registration/agent-identity';
import { nextRequestStep, type RequestStep } from '../../rules/registration/next-request-step.ts';
import { isOf } from '../../rules/registration/plan-certificate.ts';
import { CLIENT_SIGNER, CLUSTER_NAME_LABEL } from '@berth/ocm/registration/names';
import { Backoff } from '@berth/runtime/loop/backoff';
import { onAbort } from '@berth/runtime/loop/on-abort';
import { sleep } from '@berth/runtime/loop/sleep';
import { WakeUp } from '@berth/runtime/loop/wake-up';
import type { OwnRequest } from '../certificate/make-request.ts';
import { readCertificate } from '../certificate/read-certificate.ts';
import type { CredentialStore } from '../credentials/credential-store.ts';
import type { RegistrationSettings } from '../options/registration-settings.ts';
import { newRequest, findOrCreateRequest } from './find-or-create-request.ts';

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
