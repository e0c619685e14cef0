import type { OutgoingHttpHeaders } from 'node:http';
import type { KubeUser } from './kubeconfig-entries.ts';

/** The user that requests impersonate. */
export interface ImpersonatedUser {
  readonly user: string;
  readonly groups: readonly string[];
  /** '' or absent: not sent. */
  readonly uid?: string | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** The user that the user of a kubeconfig impersonates: the fields `as`, `as-uid`, `as-groups` and `as-user-extra`. */
export function impersonatedBy(user: KubeUser | undefined): ImpersonatedUser | undefined {
  if (!user?.impersonateUser) return undefined;
  return {
    user: user.impersonateUser,
    groups: user.impersonateGroups ?? [],
    uid: user.impersonateUid,
    extra: user.impersonateExtra,
  };
}

/**
 * The Impersonate-* headers, with lower-case names.
 * Source: kubernetes/client-go, transport/round_trippers.go (impersonatingRoundTripper).
 */
export function impersonationHeaders(user: ImpersonatedUser | undefined): OutgoingHttpHeaders {
  if (user === undefined) return {};
  const extra = Object.entries(user.extra ?? {}).filter(([, values]) => values.length > 0);
  return {
    'impersonate-user': user.user,
    ...(user.uid && { 'impersonate-uid': user.uid }),
    ...(user.groups.length > 0 && { 'impersonate-group': [...user.groups] }),
    ...Object.fromEntries(extra.map(([key, values]) => [extraHeader(key), [...values]])),
  };
}

/**
 * Characters of a key that are not allowed in a token (RFC 7230) are escaped byte by byte, and so is `%`. Servers
 * unescape the key.
 */
function extraHeader(key: string): string {
  const escaped = [...Buffer.from(key, 'utf8')].map((byte) => {
    const character = String.fromCharCode(byte);
    return /^[A-Za-z0-9!#$&'*+.^_`|~-]$/.test(character)
      ? character
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  });
  return `impersonate-extra-${escaped.join('').toLowerCase()}`;
}
