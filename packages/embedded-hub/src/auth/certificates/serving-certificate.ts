import { createPrivateKey, type X509Certificate } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from '@berth/runtime/clock/clock';
import { errorText } from '@berth/runtime/errors';
import { readFlagFile, wrongFile } from '../files/private-file.ts';
import type { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { parseCertificates } from './external-certificates.ts';

/** Where `--tls-cert-file` and `--tls-private-key-file` are. */
export interface ServingFiles {
  readonly certificate: string;
  readonly key: string;
}

export interface ServingIdentity {
  readonly certPem: string;
  readonly keyPem: string;
  /** Certificate of the authority that issued it, sent in the handshake. */
  readonly caPem: string;
}

/**
 * The certificate in the files, if given, or one issued by the hub.
 * @param hosts by which clients reach the hub, in addition to those of this machine
 */
export function openServingCertificate(
  files: ServingFiles | undefined,
  authority: CertificateAuthority,
  hosts: readonly string[],
  clock: Clock,
): FileServingCertificate | ServingCertificate {
  return files === undefined
    ? new ServingCertificate(authority, hosts, clock)
    : new FileServingCertificate(files, clock);
}

const CODE = 'hub.serving-certificate';
/** As often as kube-apiserver does. Source: apiserver pkg/server/dynamiccertificates (`FileRefreshDuration`). */
const FILES_CHECK_EVERY_MS = 60_000;

/**
 * The serving certificate of files that another program renews. While certificate and key do not
 * match, the previous pair is used.
 */
export class FileServingCertificate {
  readonly #files: ServingFiles;
  readonly #clock: Clock;
  #known: string | undefined;
  #cancel: (() => void) | undefined;

  constructor(files: ServingFiles, clock: Clock) {
    this.#files = files;
    this.#clock = clock;
  }

  /** @throws InputError when the files cannot be used */
  issue(): Promise<ServingIdentity> {
    const identity = this.#read();
    this.#known = identity.certPem;
    return Promise.resolve(identity);
  }

  startRenewal(onRenewed: (identity: ServingIdentity) => void, onError: (error: unknown) => void): void {
    this.#cancel = this.#clock.schedule(FILES_CHECK_EVERY_MS, () => {
      try {
        const identity = this.#read();
        if (identity.certPem !== this.#known) onRenewed(identity);
        this.#known = identity.certPem;
      } catch (error) {
        onError(error);
      }
      this.startRenewal(onRenewed, onError);
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #read(): ServingIdentity {
    const { certificate, key } = this.#files;
    const [certPem, keyPem] = [readFlagFile(CODE, certificate), readFlagFile(CODE, key)];
    const [leaf] = parseCertificates(certificate, certPem);
    if (leaf === undefined || !holdsKey(leaf, key, keyPem))
      throw wrongFile(CODE, key, `is not the key of the certificate in ${certificate}`);
    return { certPem: certPem.endsWith('\n') ? certPem : `${certPem}\n`, keyPem, caPem: '' };
  }
}

function holdsKey(certificate: X509Certificate, file: string, keyPem: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(keyPem));
  } catch (error) {
    throw wrongFile(CODE, file, `contains no private key that can be read: ${errorText(error)}`);
  }
}

const LIFETIME_MS = 365 * 86_400_000;
/**
 * Renewed long before it expires, and checked often enough that a clock jump cannot skip the
 * renewal.
 */
const RENEW_BEFORE_MS = 30 * 86_400_000;
const AGE_CHECK_EVERY_MS = 3_600_000;

/**
 * The server's certificate, renewed while running. It exists in memory only: each start issues a
 * new one.
 */
class ServingCertificate {
  readonly #authority: CertificateAuthority;
  readonly #hosts: readonly string[];
  readonly #clock: Clock;
  #issuedAtMs = 0;
  #cancel: (() => void) | undefined;

  constructor(authority: CertificateAuthority, hosts: readonly string[], clock: Clock) {
    this.#authority = authority;
    this.#clock = clock;
    const names = [
      'localhost',
      '127.0.0.1',
      '::1',
      hostname(),
      'kubernetes',
      'kubernetes.default',
      'kubernetes.default.svc',
      ...hosts,
    ];
    this.#hosts = [...new Set(names)].filter((name) => name !== '' && name !== '0.0.0.0' && name !== '::');
  }

  async issue(): Promise<ServingIdentity> {
    this.#issuedAtMs = this.#clock.now();
    const pair = await this.#authority.issueServing(this.#hosts, this.#issuedAtMs, LIFETIME_MS);
    return { ...pair, caPem: this.#authority.certPem };
  }

  startRenewal(onRenewed: (identity: ServingIdentity) => void, onError: (error: unknown) => void): void {
    this.#cancel = this.#clock.schedule(AGE_CHECK_EVERY_MS, () => {
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
