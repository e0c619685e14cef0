import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { errorText } from '@berth/runtime/errors';
import { basicAuthorization } from '../proxy/basic-authorization.ts';
import { isKeyPair, type TlsMaterial } from '../proxy/tls-material.ts';
import type { KubeCluster, KubeUser } from './kubeconfig-entries.ts';

/**
 * Certificates and keys of a kubeconfig, read from their files with each call. Half-written files are an error: a
 * certificate is never used with the key of another one.
 * Source of the rules: kubernetes/client-go, transport/transport.go (TLSConfigFor, loadTLSFiles).
 */
export class TlsMaterialReader {
  /** The last material that was read and is valid. */
  #checked: TlsMaterial | undefined;

  /**
   * @returns the same object while the files do not change
   * @throws Error that names the file or the field
   */
  async read(cluster: KubeCluster | undefined, user: KubeUser | undefined): Promise<TlsMaterial> {
    const hasCertificate = Boolean(user?.certData ?? user?.certFile);
    // In sequence, so that the error always names the first of several missing files.
    const ca = await fileOrData('certificate-authority', cluster?.caFile, cluster?.caData);
    const cert = await fileOrData('client-certificate', user?.certFile, user?.certData);
    // A key without a certificate is neither used nor read.
    const key = hasCertificate ? await fileOrData('client-key', user?.keyFile, user?.keyData) : undefined;
    const found: TlsMaterial = {
      ...(cluster?.skipTLSVerify === true && { rejectUnauthorized: false }),
      ...(cluster?.tlsServerName && { serverName: cluster.tlsServerName }),
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
    };
    if (this.#checked !== undefined && isDeepStrictEqual(found, this.#checked)) return this.#checked;
    if (ca !== undefined) requireCertificate(ca, cluster?.caFile);
    if (cert !== undefined && key !== undefined) requirePair(cert, key, user?.certFile);
    this.#checked = found;
    return found;
  }
}

/**
 * The Authorization header for a token, a token file, or a name with a password. A token file takes precedence over
 * `token`, which is used if the file cannot be read or is empty.
 * Source of the rule: kubernetes/client-go, transport/round_trippers.go (bearerAuthRoundTripper),
 * transport/token_source.go.
 * @throws Error when there is only a token file, and it cannot be read or is empty
 */
export async function authorizationOf(user: KubeUser | undefined): Promise<string | undefined> {
  const token = await tokenOf(user);
  if (token !== undefined) return `Bearer ${token}`;
  if (!user?.username && !user?.password) return undefined;
  return basicAuthorization(user.username ?? '', user.password ?? '');
}

async function tokenOf(user: KubeUser | undefined): Promise<string | undefined> {
  const file = user?.tokenFile;
  if (file === undefined) return user?.token;
  try {
    const token = (await readFile(file, 'utf8')).trim();
    if (token === '') throw new Error(`the token file ${file} is empty`);
    return token;
  } catch (error) {
    if (user?.token) return user.token;
    throw error;
  }
}

async function fileOrData(
  field: string,
  file: string | undefined,
  data: string | undefined,
): Promise<Buffer | undefined> {
  if (data) return Buffer.from(data, 'base64');
  if (!file) return undefined;
  try {
    return await readFile(file);
  } catch (cause) {
    throw new Error(`${field}: ${errorText(cause)}`, { cause });
  }
}

/** OpenSSL ignores a text without certificates, and then no server is trusted. */
function requireCertificate(pem: Buffer, file: string | undefined): void {
  try {
    new X509Certificate(pem);
  } catch {
    throw new Error(`certificate-authority${fieldSuffix(file)} contains no PEM certificate`);
  }
}

function requirePair(cert: Buffer, key: Buffer, file: string | undefined): void {
  if (isKeyPair(cert, key)) return;
  throw new Error(`client-certificate${fieldSuffix(file)} and client-key are not PEM, or do not match`);
}

/** `-data` for inline data, otherwise the path of the file. */
function fieldSuffix(file: string | undefined): string {
  return file === undefined ? '-data' : ` ${file}`;
}
