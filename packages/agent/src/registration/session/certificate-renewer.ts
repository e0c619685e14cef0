import { errorText } from '@berth/runtime/errors';
import type { RotatingKubeConfig } from '@berth/kube/config/rotating-kube-config';
import type { Condition } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { certificateNotRotated, certificateRotated } from '@berth/ocm/registration/cluster-conditions';
import type { AgentIdentity } from '@berth/ocm/registration/names';
import type { HubEntry } from '../../rules/registration/hub-entry.ts';
import {
  agentSubject,
  goTime,
  type HeldCertificate,
  planCertificate,
  renewalShare,
} from '../../rules/registration/plan-certificate.ts';
import { Backoff } from '@berth/runtime/loop/backoff';
import { sleep, onAbort } from '@berth/runtime/loop/sleep';
import type { CredentialStore } from '../credentials/credential-store.ts';
import { readCertificate } from '../credentials/read-credentials.ts';
import { credentialFiles } from '../joining/join-hub.ts';
import { requestCertificate } from '../joining/request-certificate.ts';
import type { RegistrationSettings } from '../options/registration-settings.ts';

export interface CertificateRenewerOptions {
  /** A client with the certificate that has to be renewed. */
  readonly api: KubeApi;
  readonly config: RotatingKubeConfig;
  readonly held: HeldCertificate;
  readonly entry: HubEntry;
  readonly identity: AgentIdentity;
  readonly store: CredentialStore;
  readonly settings: RegistrationSettings;
  /** Called when the condition about the certificate changed. */
  readonly onConditionChange: () => void;
}

/** Timers do not count the time while a machine sleeps, so the clock is checked at this interval. */
const CHECK_INTERVAL_MS = 300_000;

/** Renews the certificate of an agent in time, and passes the new one to the open connections. */
export class CertificateRenewer {
  readonly #options: CertificateRenewerOptions;
  #held: HeldCertificate;
  #condition: Condition | undefined;

  constructor(options: CertificateRenewerOptions) {
    this.#options = options;
    this.#held = options.held;
  }

  /** The condition for the status of the ManagedCluster. Undefined: nothing happened since the agent started. */
  get condition(): Condition | undefined {
    return this.#condition;
  }

  /** Runs until the signal aborts, or the certificate has expired. */
  async run(signal: AbortSignal): Promise<'expired' | 'stopped'> {
    const { identity, settings } = this.#options;
    const { clock, random } = settings;
    const subject = agentSubject(identity);
    let share = renewalShare(random);
    while (!signal.aborted) {
      const plan = planCertificate(this.#held, { subject, nowMs: clock.now(), share });
      if (plan.kind === 'keep')
        await sleep(clock, Math.min(CHECK_INTERVAL_MS, Math.max(0, plan.renewAtMs - clock.now())), signal);
      else if (plan.why !== 'renewal') return 'expired';
      else if (await this.#renew(signal)) share = renewalShare(random);
    }
    return 'stopped';
  }

  async #renew(signal: AbortSignal): Promise<boolean> {
    const { api, entry, identity, store, settings, config } = this.#options;
    const { clock, log, random } = settings;
    const stop = new AbortController();
    onAbort(signal, () => stop.abort());
    // The certificate may expire while the request waits for approval. Then only the bootstrap kubeconfig helps.
    const cancel = clock.schedule(Math.max(0, this.#held.notAfterMs - clock.now()), () => stop.abort());
    const onProblem = (problem: string): void => {
      this.#condition = certificateNotRotated(problem);
      this.#options.onConditionChange();
    };
    try {
      const pair = await requestCertificate({ api, identity, store, settings, onProblem }, stop.signal);
      const held = pair && readCertificate(pair.certPem, pair.keyPem);
      if (pair === undefined || held === undefined) return false;
      await this.#store(() => store.write(credentialFiles({ entry, identity, ...pair })), stop.signal);
      config.rotate(pair);
      this.#held = held;
      this.#condition = certificateRotated(goTime(held.notBeforeMs), goTime(held.notAfterMs));
      log.info('certificate renewed', {
        cluster: identity.cluster,
        until: new Date(held.notAfterMs).toISOString(),
      });
      this.#options.onConditionChange();
      return true;
    } catch (error) {
      log.warn('certificate cannot be renewed yet', { cluster: identity.cluster, problem: errorText(error) });
      await sleep(clock, 1_000 + 4_000 * random(), stop.signal);
      return false;
    } finally {
      cancel();
      stop.abort();
    }
  }

  /** The store may be unavailable for a while. The certificate exists and is not requested again. */
  async #store(write: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#options.settings;
    const backoff = new Backoff({ initialMs: 500, maxMs: 30_000 }, random);
    for (;;)
      try {
        return await write();
      } catch (error) {
        if (signal.aborted) throw error;
        log.warn('credentials cannot be stored yet', {
          place: this.#options.store.place,
          problem: errorText(error),
        });
        await sleep(clock, backoff.nextMs(), signal);
      }
  }
}
