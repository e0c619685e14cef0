import { createHash, createPublicKey, generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto';
import { errorText } from '@berth/runtime/errors';
import type * as Jose from 'jose';
import { readFlagFile, wrongFile } from '../files/private-file.ts';

/** Maximum lifetime of a requested token; tokens of legacy Secrets live longer. */
export const MAX_TOKEN_LIFETIME_SECONDS = 365 * 86_400;

/** The ServiceAccount of a token. */
export interface TokenSubject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly boundTo?: { readonly kind: string; readonly name: string; readonly uid: string } | undefined;
}

export interface VerifiedToken extends TokenSubject {
  readonly audiences: readonly string[];
  readonly tokenId: string;
  /** Whole seconds; 0 for a token without `iat`. */
  readonly issuedAtMs: number;
}

export interface TokenOptions {
  /** Also accepts tokens that are valid for longer than a year. */
  readonly longLived?: boolean;
  /** Keys of other issuers whose tokens are accepted. */
  readonly keys?: readonly ExternalTokenKey[];
  /** Issuers that tokens may name besides the cluster's own. */
  readonly issuers?: readonly string[];
}

interface Signing {
  readonly jose: typeof Jose;
  readonly privateKey: Awaited<ReturnType<typeof Jose.importPKCS8>>;
  readonly publicKey: Awaited<ReturnType<typeof Jose.importSPKI>>;
  readonly keyId: string;
}

/** A new signing key, PKCS#8 PEM. */
export function createSigningKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

const ALGORITHM = 'ES256';

/** Issues and checks the JWTs of ServiceAccounts of one cluster, with the claims that Kubernetes uses. */
export class ServiceAccountTokens {
  readonly issuer: string;
  readonly #keyPem: string;
  readonly #options: TokenOptions;
  #loaded: Promise<Signing> | undefined;

  constructor(issuer: string, keyPem: string, options: TokenOptions = {}) {
    this.issuer = issuer;
    this.#keyPem = keyPem;
    this.#options = options;
  }

  /** Loads library and keys with the first token, because many hubs and members never get one. */
  #ready(): Promise<Signing> {
    this.#loaded ??= loadSigning(this.#keyPem);
    return this.#loaded;
  }

  /** @param times seconds since the epoch */
  async issue(
    subject: TokenSubject,
    audiences: readonly string[],
    times: { readonly issuedAt: number; readonly expiresAt: number },
  ): Promise<string> {
    const { namespace, name, uid, boundTo } = subject;
    const bound =
      boundTo === undefined ? {} : { [boundTo.kind.toLowerCase()]: { name: boundTo.name, uid: boundTo.uid } };
    const { jose, ...keys } = await this.#ready();
    return new jose.SignJWT({ 'kubernetes.io': { namespace, serviceaccount: { name, uid }, ...bound } })
      .setProtectedHeader({ alg: ALGORITHM, kid: keys.keyId })
      .setIssuer(this.issuer)
      .setSubject(`system:serviceaccount:${namespace}:${name}`)
      .setAudience([...(audiences.length > 0 ? audiences : [this.issuer])])
      .setIssuedAt(times.issuedAt)
      .setNotBefore(times.issuedAt)
      .setExpirationTime(times.expiresAt)
      .setJti(randomUUID())
      .sign(keys.privateKey);
  }

  /**
   * Undefined for a token of another issuer or audience, or an expired one. Throws when the signing
   * key cannot be used.
   */
  async verify(
    token: string,
    nowMs: number,
    audiences?: readonly string[],
  ): Promise<VerifiedToken | undefined> {
    // A signing key that cannot be used is an error of the hub, not an invalid token.
    const { jose, publicKey } = await this.#ready();
    const { keys = [], issuers: others = [] } = this.#options;
    const issuers = [this.issuer, ...others];
    const wanted = {
      issuer: issuers,
      audience: [...(audiences ?? issuers)],
      currentDate: new Date(nowMs),
    };
    for (const { key, algorithms } of [{ key: publicKey, algorithms: [ALGORITHM] }, ...keys]) {
      try {
        const { payload } = await jose.jwtVerify(token, key, { ...wanted, algorithms: [...algorithms] });
        return this.#verified(payload);
      } catch {
        // Try the next key.
      }
    }
    return undefined;
  }

  #verified(payload: Jose.JWTPayload): VerifiedToken | undefined {
    const lifetimeSeconds = (payload.exp ?? Number.POSITIVE_INFINITY) - (payload.iat ?? 0);
    if (lifetimeSeconds > MAX_TOKEN_LIFETIME_SECONDS && this.#options.longLived !== true) return undefined;
    const claim = payload['kubernetes.io'] as Claim | undefined;
    if (claim?.namespace === undefined || claim.serviceaccount?.name === undefined) return undefined;
    return {
      namespace: claim.namespace,
      name: claim.serviceaccount.name,
      uid: claim.serviceaccount.uid ?? '',
      boundTo: boundObject(claim),
      audiences: [payload.aud ?? []].flat(),
      tokenId: payload.jti ?? '',
      issuedAtMs: (payload.iat ?? 0) * 1000,
    };
  }
}

async function loadSigning(keyPem: string): Promise<Signing> {
  const jose = await import('jose');
  const publicPem = createPublicKey(keyPem).export({ type: 'spki', format: 'pem' }).toString();
  return {
    jose,
    privateKey: await jose.importPKCS8(keyPem, ALGORITHM),
    publicKey: await jose.importSPKI(publicPem, ALGORITHM),
    keyId: createHash('sha256').update(publicPem).digest('base64url'),
  };
}

interface Claim {
  readonly namespace?: string;
  readonly serviceaccount?: { readonly name?: string; readonly uid?: string };
  readonly secret?: { readonly name: string; readonly uid: string };
  readonly pod?: { readonly name: string; readonly uid: string };
}

function boundObject(claim: Claim): TokenSubject['boundTo'] {
  if (claim.secret !== undefined) return { kind: 'Secret', ...claim.secret };
  return claim.pod === undefined ? undefined : { kind: 'Pod', ...claim.pod };
}

/** A key with which others sign ServiceAccount tokens, and its algorithms. */
interface ExternalTokenKey {
  readonly key: KeyObject;
  readonly algorithms: readonly string[];
}

const KEY_FILE_CODE = 'hub.service-account-keys';
const PEM_BLOCK = /-----BEGIN ([A-Z ]+)-----[\s\S]*?-----END \1-----/g;

/**
 * The keys of `--service-account-key-file`: public keys, certificates, or private keys, of which the public half counts.
 * @throws InputError when a file cannot be read, or holds no RSA or ECDSA key
 */
export function readTokenKeys(files: readonly string[]): readonly ExternalTokenKey[] {
  return files.flatMap((file) => {
    const blocks = readFlagFile(KEY_FILE_CODE, file).match(PEM_BLOCK) ?? [];
    if (blocks.length === 0) throw wrongFile(KEY_FILE_CODE, file, 'contains no key, expected PEM');
    return blocks.map((block) => keyOf(file, block));
  });
}

/** Source: kubernetes pkg/serviceaccount/jwt.go (`signerFromECDSAPrivateKey`). */
const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

function keyOf(file: string, block: string): ExternalTokenKey {
  let key: KeyObject;
  try {
    key = createPublicKey(block);
  } catch (error) {
    throw wrongFile(KEY_FILE_CODE, file, `contains a key that cannot be read: ${errorText(error)}`);
  }
  if (key.asymmetricKeyType === 'rsa') return { key, algorithms: ['RS256', 'RS384', 'RS512'] };
  const algorithm = CURVES[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (algorithm === undefined)
    throw wrongFile(KEY_FILE_CODE, file, 'contains a key that is neither RSA nor ECDSA');
  return { key, algorithms: [algorithm] };
}
