import { X509Certificate } from 'node:crypto';
import { InputError } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import { SecretFile } from '@berth/runtime/files/secret-file';

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/**
 * Every certificate of a PEM file; other blocks are left out, as Go does.
 * @throws InputError when there is none, or a broken one
 */
export function parseCertificates(file: string, text: string): readonly X509Certificate[] {
  const fileError = (problem: string, cause?: unknown): InputError =>
    new InputError(problem, { code: 'hub.certificate-file', subject: file, cause });
  const blocks = text.match(PEM_CERTIFICATE) ?? [];
  if (blocks.length === 0) throw fileError('holds no certificate, expected PEM with one or more');
  return blocks.map((block) => {
    try {
      return new X509Certificate(block);
    } catch (error) {
      throw fileError('holds a certificate that cannot be read', error);
    }
  });
}

/**
 * The authorities of `--client-ca-file`. The file is read again when it changes. While it cannot be
 * read, certificates of these authorities are rejected.
 */
export class ClientCaFile {
  readonly #file: SecretFile<readonly X509Certificate[]>;

  /** @throws InputError when the file cannot be used */
  constructor(path: string, log: Logger) {
    this.#file = new SecretFile({
      file: path,
      what: 'authorities of clients',
      without: 'no certificate that they issued is valid',
      parse: (text) => parseCertificates(path, text),
      log,
    });
    if (this.#file.problem !== undefined) throw this.#file.problem;
  }

  /** Returns a new list after each change of the file. */
  authorities(nowMs: number): readonly X509Certificate[] {
    return this.#file.current(nowMs) ?? NONE;
  }
}

const NONE: readonly X509Certificate[] = [];
