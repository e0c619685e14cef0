import type { Condition } from '@berth/kube/model/object-meta';
import { findCondition } from '@berth/kube/model/condition-list';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { z } from 'zod';

/* Rules of the driver `token`. Source: open-cluster-management.io/ocm `pkg/registration/register/token`, since 1.2. */

/** The share of its lifetime that a token has left when it is replaced. */
const RENEWAL_SHARE = 0.2;
const TOKEN_REFRESHED = 'TokenRefreshed';

export type TokenInfrastructure =
  | { readonly kind: 'ready'; readonly accountUid: string }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'malformed'; readonly why: string };

/** What an add-on's manager says of the account. The UID is part of the condition's message, by agreement. */
export function tokenInfrastructure(conditions: readonly Condition[] | undefined): TokenInfrastructure {
  const condition = findCondition(conditions, 'TokenInfrastructureReady');
  if (condition?.status !== 'True') return { kind: 'waiting' };
  const { message } = condition;
  const [, accountUid] = /UID: ([^)]*)\)/.exec(message) ?? [];
  if (accountUid) return { kind: 'ready', accountUid };
  const problem = !message.includes('UID: ')
    ? 'ServiceAccount UID not found in message'
    : accountUid === ''
      ? 'empty ServiceAccount UID in message'
      : 'malformed ServiceAccount UID in message';
  return { kind: 'malformed', why: `${problem}: ${message}` };
}

/** Claims of a service account's token. Times are milliseconds since the epoch. */
export interface TokenClaims {
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
  readonly accountUid: string;
}

const CLAIMS = z.object({
  exp: z.number().positive(),
  iat: z.number().positive(),
  'kubernetes.io': z
    .object({ serviceaccount: z.object({ uid: z.string().optional() }).optional() })
    .optional(),
});

/** Undefined if the text is no token with these claims. Its signature is not checked. */
export function readToken(token: string): TokenClaims | undefined {
  const [, payload = '', ...more] = token.split('.');
  if (more.length !== 1) return undefined;
  let claims: unknown;
  try {
    claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  const parsed = CLAIMS.safeParse(claims);
  if (!parsed.success) return undefined;
  const { exp, iat, 'kubernetes.io': kubernetes } = parsed.data;
  return {
    issuedAtMs: iat * 1_000,
    expiresAtMs: exp * 1_000,
    accountUid: kubernetes?.serviceaccount?.uid ?? '',
  };
}

export type TokenVerdict =
  | { readonly kind: 'keep'; readonly claims: TokenClaims; readonly renewAtMs: number }
  | { readonly kind: 'request'; readonly why: 'missing' | 'account' | 'expired' | 'renewal' };

/** Whether an add-on's agent needs another token, and why. `account`: the account was made again. */
export function judgeToken(token: string | undefined, accountUid: string, nowMs: number): TokenVerdict {
  const claims = readToken(token ?? '');
  if (claims === undefined) return { kind: 'request', why: 'missing' };
  if (claims.accountUid !== accountUid) return { kind: 'request', why: 'account' };
  const { issuedAtMs, expiresAtMs } = claims;
  if (nowMs >= expiresAtMs || expiresAtMs <= issuedAtMs) return { kind: 'request', why: 'expired' };
  const renewAtMs = expiresAtMs - RENEWAL_SHARE * (expiresAtMs - issuedAtMs);
  return nowMs >= renewAtMs ? { kind: 'request', why: 'renewal' } : { kind: 'keep', claims, renewAtMs };
}

export function tokenRefreshed({ expiresAtMs }: TokenClaims): Condition {
  const until = formatRfc3339(instantFromEpochMs(expiresAtMs));
  return {
    type: TOKEN_REFRESHED,
    status: 'True',
    reason: 'AddonTokenRefreshed',
    message: `Addon token refreshed, expires at ${until}`,
  };
}

export function tokenNotRefreshed(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  problem: string,
): Condition {
  return {
    type: TOKEN_REFRESHED,
    status: 'False',
    reason: 'TokenCreationFailed',
    message: `Failed to create token: failed to create token for ServiceAccount ${namespace}/${name}: ${problem}`,
  };
}
