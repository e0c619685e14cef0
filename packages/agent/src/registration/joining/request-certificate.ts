import { Reflector } from '@berth/kube/cache/reflector';
import type { ClientPair } from '@berth/kube/config/rotating-kube-config';
import { CERTIFICATE_REQUEST } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { CLIENT_SIGNER, type AgentIdentity } from '@berth/ocm/registration/names';
import { Backoff } from '@berth/runtime/loop/backoff';
import { sleep, onAbort, WakeUp } from '@berth/runtime/loop/sleep';
import { z } from 'zod';
import { agentSubject } from '../../rules/registration/plan-certificate.ts';
import type { CredentialStore, CredentialFiles } from '../credentials/credential-store.ts';
import { readCertificate } from '../credentials/read-credentials.ts';
import type { RegistrationSettings } from '../options/registration-settings.ts';
import {
  advanceRequest,
  type OpenRequest,
  type OwnRequest,
  renewRequest,
  type RequestParts,
  type RequestProgress,
  requestsOf,
} from './advance-request.ts';

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
export const AFTER_REFUSAL = { initialMs: 10_000, maxMs: 600_000 };
/** The pause after the hub did not answer, or answered with an error. */
const AFTER_FAILURE = { initialMs: 1_000, maxMs: 30_000 };
/** The text of OCM, in a condition that users look for. */
const CROWDED = 'Stop creating csr since there are too many csr created already on hub';

/** Why there is no certificate yet; undefined if the next step follows at once. */
export function requestProblem(progress: RequestProgress): string | undefined {
  switch (progress.kind) {
    case 'crowded':
      return CROWDED;
    case 'wait':
      return 'the certificate request waits for its approval';
    case 'refused':
      return `the certificate request was refused: ${progress.why}`;
    default:
      return undefined;
  }
}

/**
 * Requests the client certificate of a cluster from the hub, and waits without a time limit until it is issued.
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
  const labelSelector = requestsOf(identity.cluster);
  const reflector = new Reflector({ api, kind: CERTIFICATE_REQUEST, labelSelector, clock, random, log });
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
  readonly #parts: RequestParts;
  readonly #refusals: Backoff;
  readonly #failures: Backoff;
  #lastProblem = '';

  constructor(options: CertificateOptions, requests: Reflector) {
    const { api, identity, settings } = options;
    this.#options = options;
    this.#parts = {
      ...{ api, requests, settings },
      wanted: { cluster: identity.cluster, signerName: CLIENT_SIGNER, subject: agentSubject(identity) },
      open: new OwnOpenRequest(options),
    };
    this.#refusals = new Backoff(AFTER_REFUSAL, settings.random);
    this.#failures = new Backoff(AFTER_FAILURE, settings.random);
  }

  async issued(signal: AbortSignal): Promise<ClientPair | undefined> {
    const { clock, log } = this.#options.settings;
    const wake = new WakeUp();
    this.#parts.requests.store.onChange(() => wake.call());
    while (!signal.aborted) {
      let waitMs: number | undefined;
      try {
        const progress = await advanceRequest(this.#parts, signal);
        if (signal.aborted) break;
        if (progress.kind === 'issued') return progress.pair;
        this.#report(progress);
        if (progress.kind === 'refused') {
          await sleep(clock, this.#refusals.nextMs(), signal);
          if (!signal.aborted) await renewRequest(this.#parts);
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

  #report(progress: RequestProgress): void {
    const problem = requestProblem(progress);
    if (problem === undefined || problem === this.#lastProblem) return;
    this.#lastProblem = problem;
    const { identity, settings, onProblem } = this.#options;
    const fields = 'name' in progress ? { request: progress.name } : {};
    settings.log.info(problem, { cluster: identity.cluster, ...fields });
    onProblem?.(problem);
  }
}

/** The open request of a cluster, beside its credentials. */
class OwnOpenRequest implements OpenRequest {
  readonly #options: CertificateOptions;
  #known: OwnRequest | undefined;

  constructor(options: CertificateOptions) {
    this.#options = options;
  }

  async read(): Promise<OwnRequest | undefined> {
    return (this.#known ??= storedRequest(await this.#options.store.read(), this.#options));
  }

  async write(request: OwnRequest): Promise<void> {
    const { api, identity, store } = this.#options;
    await store.write({
      'cluster-name': identity.cluster,
      'agent-name': identity.agent,
      'certificate-request.json': JSON.stringify({ server: api.server, ...identity, ...request }),
    });
    this.#known = request;
  }
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
  { api, identity }: Pick<CertificateOptions, 'api' | 'identity'>,
): OwnRequest | undefined {
  const parsed = STORED_REQUEST.safeParse(parseJsonOrUndefined(files['certificate-request.json']));
  if (!parsed.success) return undefined;
  const { keyPem, requestPem, ...storedFor } = parsed.data;
  if (
    storedFor.server !== api.server ||
    storedFor.cluster !== identity.cluster ||
    storedFor.agent !== identity.agent
  )
    return undefined;
  // A key is used for only one certificate. If the certificate of this key is stored already, a new key is needed.
  return readCertificate(files['tls.crt'], keyPem) === undefined ? { keyPem, requestPem } : undefined;
}

export function parseJsonOrUndefined(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
