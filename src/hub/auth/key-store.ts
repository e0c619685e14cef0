import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PemPair } from './certificate-authority.ts';
import { CertificateAuthority, createAuthority } from './certificate-authority.ts';
import { writePrivateFile } from './private-file.ts';
import { createSigningKey } from './service-account-tokens.ts';

/** The keys of one data directory, below `pki/`: made at the first start, kept for good, readable by the owner alone. */
export class KeyStore {
  readonly authority: CertificateAuthority;
  /** Signs ServiceAccount tokens. */
  readonly tokenKeyPem: string;

  private constructor(authority: CertificateAuthority, tokenKeyPem: string) {
    this.authority = authority;
    this.tokenKeyPem = tokenKeyPem;
  }

  static async open(dataDir: string, nowMs: number): Promise<KeyStore> {
    const directory = join(dataDir, 'pki');
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const pair = await loadAuthority(directory, nowMs);
    const tokenKeyPath = join(directory, 'service-account.key');
    if (!existsSync(tokenKeyPath)) writePrivateFile(tokenKeyPath, createSigningKey());
    return new KeyStore(await CertificateAuthority.load(pair), readFileSync(tokenKeyPath, 'utf8'));
  }
}

/** The key is written before the certificate: a certificate on the disk always has its key. */
async function loadAuthority(directory: string, nowMs: number): Promise<PemPair> {
  const certPath = join(directory, 'ca.crt');
  const keyPath = join(directory, 'ca.key');
  if (existsSync(certPath))
    return { certPem: readFileSync(certPath, 'utf8'), keyPem: readFileSync(keyPath, 'utf8') };
  const pair = await createAuthority('berth-hub-ca', nowMs);
  writePrivateFile(keyPath, pair.keyPem);
  writePrivateFile(certPath, pair.certPem);
  return pair;
}
