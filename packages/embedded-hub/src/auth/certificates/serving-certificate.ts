import { hostname } from 'node:os';
import type { Clock } from '@berth/runtime/clock/clock';
import type { CertificateAuthority } from './certificate-authority.ts';

export interface ServingIdentity {
  readonly certPem: string;
  readonly keyPem: string;
  /** Certificate of the authority that issued it, sent in the handshake. */
  readonly caPem: string;
}

const LIFETIME_MS = 365 * 86_400_000;
/**
 * Renewed long before it expires, and checked often enough that a clock jump cannot skip the
 * renewal.
 */
const RENEW_BEFORE_MS = 30 * 86_400_000;
const CHECK_EVERY_MS = 3_600_000;

/**
 * The server's certificate, renewed while running. It exists in memory only: each start issues a
 * new one.
 */
export class ServingCertificate {
  readonly #authority: CertificateAuthority;
  readonly #hosts: readonly string[];
  readonly #clock: Clock;
  #issuedAtMs = 0;
  #cancel: (() => void) | undefined;

  constructor(authority: CertificateAuthority, listenHost: string, clock: Clock) {
    this.#authority = authority;
    this.#clock = clock;
    const wildcard = listenHost === '0.0.0.0' || listenHost === '::';
    const names = [
      'localhost',
      '127.0.0.1',
      '::1',
      hostname(),
      'kubernetes',
      'kubernetes.default',
      'kubernetes.default.svc',
    ];
    this.#hosts = [...new Set(wildcard ? names : [...names, listenHost])].filter((name) => name !== '');
  }

  async issue(): Promise<ServingIdentity> {
    this.#issuedAtMs = this.#clock.now();
    const pair = await this.#authority.issueServing(this.#hosts, this.#issuedAtMs, LIFETIME_MS);
    return { ...pair, caPem: this.#authority.certPem };
  }

  startRenewal(onRenewed: (identity: ServingIdentity) => void, onError: (error: unknown) => void): void {
    this.#cancel = this.#clock.schedule(CHECK_EVERY_MS, () => {
      const ageMs = Math.abs(this.#clock.now() - this.#issuedAtMs);
      const renewed =
        ageMs > LIFETIME_MS - RENEW_BEFORE_MS ? this.issue().then(onRenewed) : Promise.resolve();
      renewed.catch(onError).finally(() => {
        if (this.#cancel !== undefined) this.startRenewal(onRenewed, onError);
      });
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
