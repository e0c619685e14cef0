import type { Clock } from '@berth/runtime/clock/clock';
import type { CertificateAuthority } from '../auth/certificates/certificate-authority.ts';
import { FRONT_PROXY } from '../auth/certificates/client-signer.ts';
import type { PemPair } from '@berth/kube/x509/pem-pair';

const LIFETIME_MS = 30 * 86_400_000;
/** Renewed at half of its lifetime, so that clocks of extension servers may differ. */
const RENEW_AFTER_MS = LIFETIME_MS / 2;

/** The client certificate with which the hub authenticates to extension servers; renewed on use. */
export class FrontProxyIdentity {
  readonly #authority: CertificateAuthority;
  readonly #clock: Clock;
  #issued: { readonly pair: PemPair; readonly atMs: number } | undefined;

  constructor(authority: CertificateAuthority, clock: Clock) {
    this.#authority = authority;
    this.#clock = clock;
  }

  async current(): Promise<PemPair> {
    const nowMs = this.#clock.now();
    // A clock that jumps back must not delay the renewal.
    if (this.#issued === undefined || Math.abs(nowMs - this.#issued.atMs) >= RENEW_AFTER_MS) {
      const subject = { commonName: FRONT_PROXY, organizations: [] };
      this.#issued = { pair: await this.#authority.issueClient(subject, nowMs, LIFETIME_MS), atMs: nowMs };
    }
    return this.#issued.pair;
  }
}
