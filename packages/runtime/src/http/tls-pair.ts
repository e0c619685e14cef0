import { createPrivateKey, X509Certificate } from 'node:crypto';
import { statSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { InputError, errorText } from '../errors.ts';
import type { Clock } from '../clock/clock.ts';
import type { Logger } from '../logger.ts';
import { SecretFile } from '../files/secret-file.ts';

const CHECK_EVERY_MS = 5_000;
const OTHERS_MAY_READ = 0o004;

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Certificate and options of a TLS server. TLS 1.2 at least. */
export interface TlsIdentity {
  readonly cert: string;
  readonly key: string;
  readonly minVersion: 'TLSv1.2';
}

/**
 * A certificate and its key from two files that another program replaces one by one. While they do
 * not match or cannot be read, the previous pair is used, and they are read again.
 */
export class TlsPair {
  readonly #files: TlsFiles;
  readonly #log: Logger;
  readonly #cert: SecretFile<string>;
  readonly #key: SecretFile<string>;
  #identity: TlsIdentity;
  #problem = '';

  /** @throws InputError when there is no valid pair at the start */
  constructor(files: TlsFiles, log: Logger) {
    this.#files = files;
    this.#log = log;
    const open = (file: string, what: string) =>
      new SecretFile({ file, what, without: 'the last valid pair is served', parse: String, log });
    this.#cert = open(files.certFile, 'TLS certificate');
    this.#key = open(files.keyFile, 'TLS key');
    this.#identity = this.#read();
    this.#warnAboutFiles();
  }

  get identity(): TlsIdentity {
    return this.#identity;
  }

  /** Reads the files repeatedly, and calls back with each new pair. The returned function stops this. */
  follow(clock: Clock, onChange: (identity: TlsIdentity) => void): () => void {
    let cancel: () => void;
    const checkFiles = (): void => {
      const changed = [this.#cert.check(), this.#key.check()].includes(true);
      if (changed || this.#problem !== '') this.#renew(onChange);
      cancel = clock.schedule(CHECK_EVERY_MS, checkFiles);
    };
    cancel = clock.schedule(CHECK_EVERY_MS, checkFiles);
    return () => cancel();
  }

  #renew(onChange: (identity: TlsIdentity) => void): void {
    const { certFile, keyFile } = this.#files;
    try {
      this.#identity = this.#read();
      this.#problem = '';
      onChange(this.#identity);
      this.#log.info('a new TLS certificate is served', { certFile });
      this.#warnAboutFiles();
    } catch (error) {
      const problem = errorText(error);
      if (problem !== this.#problem)
        this.#log.error('TLS certificate and key cannot be used, so the previous pair is served', {
          certFile,
          keyFile,
          error: problem,
        });
      this.#problem = problem;
    }
  }

  #read(): TlsIdentity {
    for (const { problem } of [this.#cert, this.#key]) if (problem !== undefined) throw problem;
    const [cert = '', key = ''] = [this.#cert.value, this.#key.value];
    try {
      // Node accepts an empty certificate, with which every handshake fails.
      if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
        throw new Error('the key belongs to another certificate');
      createSecureContext({ cert, key });
      return { cert, key, minVersion: 'TLSv1.2' };
    } catch (cause) {
      throw new InputError(`are not a matching certificate and key: ${errorText(cause)}`, {
        code: 'http.tls',
        subject: `${this.#files.certFile} and ${this.#files.keyFile}`,
        hint: 'expected PEM: the certificate with its chain, and its private key without a passphrase',
        cause,
      });
    }
  }

  #warnAboutFiles(): void {
    const { certFile, keyFile } = this.#files;
    const mode = statSync(keyFile, { throwIfNoEntry: false })?.mode ?? 0;
    if ((mode & OTHERS_MAY_READ) !== 0)
      this.#log.warn('the TLS key can be read by every user of this machine', {
        keyFile,
        hint: 'chmod 0600',
      });
    const { validTo } = new X509Certificate(this.#identity.cert);
    if (Date.parse(validTo) < Date.now())
      this.#log.warn('the TLS certificate has expired', { certFile, validTo });
  }
}
