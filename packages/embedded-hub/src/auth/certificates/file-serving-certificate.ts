import type { X509Certificate } from 'node:crypto';
import { createPrivateKey } from 'node:crypto';
import { errorText } from '@berth/runtime/errors';
import type { Clock } from '@berth/runtime/clock/clock';
import type { CertificateAuthority } from './certificate-authority.ts';
import { parseCertificates } from './client-ca-file.ts';
import type { ServingIdentity } from './serving-certificate.ts';
import { ServingCertificate } from './serving-certificate.ts';
import { readFlagFile, wrongFile } from '../files/flag-file.ts';

const CODE = 'hub.serving-certificate';

/** Where `--tls-cert-file` and `--tls-private-key-file` are. */
export interface ServingFiles {
  readonly certificate: string;
  readonly key: string;
}

/** As often as kube-apiserver does. Source: apiserver pkg/server/dynamiccertificates (`FileRefreshDuration`). */
const CHECK_EVERY_MS = 60_000;

/** The certificate in the files, if given, or one issued by the hub. */
export function openServingCertificate(
  files: ServingFiles | undefined,
  authority: CertificateAuthority,
  listenHost: string,
  clock: Clock,
): FileServingCertificate | ServingCertificate {
  return files === undefined
    ? new ServingCertificate(authority, listenHost, clock)
    : new FileServingCertificate(files, clock);
}

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
    this.#cancel = this.#clock.schedule(CHECK_EVERY_MS, () => {
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
    throw wrongFile(CODE, file, `holds no private key that can be read: ${errorText(error)}`);
  }
}
