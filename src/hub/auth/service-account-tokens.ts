import { createHash, createPublicKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import { importPKCS8, importSPKI, jwtVerify, SignJWT } from 'jose';

const ALGORITHM = 'ES256';

/** Whom a ServiceAccount token speaks for. */
export interface TokenSubject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly boundTo?: { readonly kind: string; readonly name: string; readonly uid: string } | undefined;
}

export interface VerifiedToken extends TokenSubject {
  readonly audiences: readonly string[];
  readonly tokenId: string;
}

interface Keys {
  readonly privateKey: Awaited<ReturnType<typeof importPKCS8>>;
  readonly publicKey: Awaited<ReturnType<typeof importSPKI>>;
  readonly keyId: string;
}

/** A new signing key, PKCS#8 PEM. */
export function createSigningKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Issues and checks the JWTs of ServiceAccounts of one cluster, with the claims that Kubernetes uses. */
export class ServiceAccountTokens {
  readonly issuer: string;
  readonly #keys: Keys;

  private constructor(issuer: string, keys: Keys) {
    this.issuer = issuer;
    this.#keys = keys;
  }

  static async load(issuer: string, keyPem: string): Promise<ServiceAccountTokens> {
    const publicPem = createPublicKey(keyPem).export({ type: 'spki', format: 'pem' }).toString();
    return new ServiceAccountTokens(issuer, {
      privateKey: await importPKCS8(keyPem, ALGORITHM),
      publicKey: await importSPKI(publicPem, ALGORITHM),
      keyId: createHash('sha256').update(publicPem).digest('base64url'),
    });
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
    return new SignJWT({ 'kubernetes.io': { namespace, serviceaccount: { name, uid }, ...bound } })
      .setProtectedHeader({ alg: ALGORITHM, kid: this.#keys.keyId })
      .setIssuer(this.issuer)
      .setSubject(`system:serviceaccount:${namespace}:${name}`)
      .setAudience([...(audiences.length > 0 ? audiences : [this.issuer])])
      .setIssuedAt(times.issuedAt)
      .setNotBefore(times.issuedAt)
      .setExpirationTime(times.expiresAt)
      .setJti(randomUUID())
      .sign(this.#keys.privateKey);
  }

  /** Undefined when the token is not ours, expired, or for somebody else. */
  async verify(
    token: string,
    nowMs: number,
    audiences?: readonly string[],
  ): Promise<VerifiedToken | undefined> {
    try {
      const { payload } = await jwtVerify(token, this.#keys.publicKey, {
        algorithms: [ALGORITHM],
        issuer: this.issuer,
        audience: [...(audiences ?? [this.issuer])],
        currentDate: new Date(nowMs),
      });
      const claim = payload['kubernetes.io'] as Claim | undefined;
      if (claim?.namespace === undefined || claim.serviceaccount?.name === undefined) return undefined;
      return {
        namespace: claim.namespace,
        name: claim.serviceaccount.name,
        uid: claim.serviceaccount.uid ?? '',
        boundTo: boundObject(claim),
        audiences: [payload.aud ?? []].flat(),
        tokenId: payload.jti ?? '',
      };
    } catch {
      return undefined;
    }
  }
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
