import { type HttpListener, listenHttp } from '@berth/runtime/http/http-listener';
import { ConflictError, errorText } from '@berth/runtime/errors';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Logger } from '@berth/runtime/logger';
import type { ReviewVerdict } from '../../core/registration/webhooks/review-message.ts';
import { hostOf, type WebhookAddress } from '../../core/registration/webhooks/webhook-configurations.ts';
import { sleep } from '@berth/runtime/loop/sleep';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { ensureConfigurations } from './ensure-configurations.ts';
import { reviewHandler } from './review-handler.ts';
import { WebhookCertificates, type WebhookIdentity } from './webhook-certificates.ts';

/** At most this long after a certificate was renewed or a configuration was changed, Berth notices it. */
const CHECK_INTERVAL_MS = 10_000;
/** Attempts at one pass, when other processes write at the same time. */
const MAX_ATTEMPTS = 5;

export interface AdmissionWebhooksOptions {
  readonly hub: KubeApi;
  /** The address to listen on. */
  readonly host: string;
  readonly port: number;
  /** How the hub reaches the webhooks. */
  readonly address: WebhookAddress;
  /** Namespace of the Secret with the certificate. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** Whether this process is the one replica that may write. All replicas answer. */
  readonly mayWrite: () => boolean;
  readonly onResponse?: ((verdict: ReviewVerdict['kind']) => void) | undefined;
}

export interface RunningAdmission {
  /** What fails at the moment, as text for users. Berth retries all of it. */
  warnings(): readonly string[];
  close(): Promise<void>;
}

/**
 * Serves OCM's rules about clusters, sets and bindings as admission webhooks, and registers them on the hub. They are
 * registered only after this process listens.
 */
export function startAdmissionWebhooks(options: AdmissionWebhooksOptions): RunningAdmission {
  const { clock, random, log } = options;
  const supervisor = new Supervisor({ clock, random, log });
  const webhooks = new AdmissionWebhooks(options);
  supervisor.start('admission webhooks', async (signal) => {
    while (!signal.aborted) {
      await webhooks.check();
      await sleep(clock, CHECK_INTERVAL_MS, signal);
    }
  });
  return {
    warnings: () => webhooks.warnings(),
    close: async () => {
      await supervisor.close();
      await webhooks.close();
    },
  };
}

class AdmissionWebhooks {
  readonly #options: AdmissionWebhooksOptions;
  readonly #certificates: WebhookCertificates;
  #listener: HttpListener | undefined;
  #served: WebhookIdentity | undefined;
  #problem = '';

  constructor(options: AdmissionWebhooksOptions) {
    this.#options = options;
    this.#certificates = new WebhookCertificates({ ...options, host: hostOf(options.address) });
  }

  warnings(): readonly string[] {
    return this.#problem === '' ? [] : [`admission webhooks: ${this.#problem}; Berth will try again`];
  }

  /** Checks certificate, server and configurations once. A failure is kept as a warning. */
  async check(): Promise<void> {
    try {
      for (let attempt = 1; !(await this.#pass(attempt < MAX_ATTEMPTS)); attempt++);
    } catch (error) {
      this.#setProblem(errorText(error));
    }
  }

  async close(): Promise<void> {
    await this.#listener?.close();
  }

  /** @returns false if another process wrote first, so this one has to read again */
  async #pass(mayRepeat: boolean): Promise<boolean> {
    const { hub, address, mayWrite, log } = this.#options;
    try {
      const identity = await this.#certificates.ensure();
      if (identity === undefined) {
        this.#setProblem('there is no usable certificate yet; the leader creates it');
        return true;
      }
      await this.#serve(identity);
      const written = mayWrite() ? await ensureConfigurations(hub, address, identity.trusted) : [];
      if (written.length > 0) log.info('admission webhook configurations were written', { written });
      this.#problem = '';
      return true;
    } catch (error) {
      if (error instanceof ConflictError && mayRepeat) return false;
      throw error;
    }
  }

  #setProblem(problem: string): void {
    if (problem !== this.#problem) this.#options.log.warn('admission webhooks', { problem });
    this.#problem = problem;
  }

  async #serve(identity: WebhookIdentity): Promise<void> {
    const { host, port, hub, clock, log, onResponse } = this.#options;
    const { cert, key } = identity;
    const tls = { cert, key, minVersion: 'TLSv1.2' } as const;
    if (this.#listener !== undefined) {
      if (this.#served?.cert !== cert) this.#listener.renew(tls);
    } else {
      const handle = reviewHandler({
        ...{ hub, clock },
        onResponse: ({ resource, user, verdict }) => {
          onResponse?.(verdict.kind);
          if (verdict.kind === 'refused')
            log.info('a write was refused', { resource, user, why: verdict.refusal });
          if (verdict.kind === 'unknown')
            log.warn('a write was refused', { resource, user, why: verdict.message });
        },
      });
      this.#listener = await listenHttp({ host, port, tls }, handle);
      log.info('admission webhooks are served', { url: this.#listener.url });
    }
    this.#served = identity;
  }
}
