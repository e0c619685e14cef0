/** The share of its lifetime that a token has left when it is replaced. */
const RENEWAL_SHARE = 0.2;

/** Claims of a service account's token. Times are milliseconds since the epoch. */
export interface TokenClaims {
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
  readonly accountUid: string;
}

interface Claims {
  readonly exp?: unknown;
  readonly iat?: unknown;
  readonly 'kubernetes.io'?: { readonly serviceaccount?: { readonly uid?: unknown } | null } | null;
}

/**
 * Undefined if the text is no token with these claims. Its signature is not checked.
 * Source: kubernetes `pkg/serviceaccount/claims.go`.
 */
export function readToken(token: string): TokenClaims | undefined {
  const [, payload = '', ...more] = token.split('.');
  if (more.length !== 1) return undefined;
  try {
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Claims;
    const { exp, iat, 'kubernetes.io': kubernetes } = claims;
    if (typeof exp !== 'number' || typeof iat !== 'number' || !(exp > 0) || !(iat > 0)) return undefined;
    const uid = kubernetes?.serviceaccount?.uid;
    return {
      issuedAtMs: iat * 1_000,
      expiresAtMs: exp * 1_000,
      accountUid: typeof uid === 'string' ? uid : '',
    };
  } catch {
    return undefined;
  }
}

export type TokenVerdict =
  | { readonly kind: 'keep'; readonly claims: TokenClaims; readonly renewAtMs: number }
  | { readonly kind: 'request'; readonly why: 'missing' | 'account' | 'expired' | 'renewal' };

/** Whether another token of a service account is needed, and why. `account`: the account was made again. */
export function judgeToken(token: string | undefined, accountUid: string, nowMs: number): TokenVerdict {
  const claims = readToken(token ?? '');
  if (claims === undefined) return { kind: 'request', why: 'missing' };
  if (claims.accountUid !== accountUid) return { kind: 'request', why: 'account' };
  const { issuedAtMs, expiresAtMs } = claims;
  if (nowMs >= expiresAtMs || expiresAtMs <= issuedAtMs) return { kind: 'request', why: 'expired' };
  const renewAtMs = expiresAtMs - RENEWAL_SHARE * (expiresAtMs - issuedAtMs);
  return nowMs >= renewAtMs ? { kind: 'request', why: 'renewal' } : { kind: 'keep', claims, renewAtMs };
}
