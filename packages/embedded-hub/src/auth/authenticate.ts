import { type HubRequest, headerOf } from '../wire/api-response.ts';
import { textAt, objectAt } from '../json/json-value.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { type UserInfo, serviceAccountGroups } from '../wire/user-info.ts';
import type { ClientCertificates } from './certificates/client-certificates.ts';
import type { Revocations } from './tokens/revocations.ts';
import type { ServiceAccountTokens, TokenSubject } from './tokens/service-account-tokens.ts';
import type { TokenAuthFile } from './tokens/token-auth-file.ts';
import type { TokenFile } from './tokens/token-file.ts';

const AUTHENTICATED = 'system:authenticated';

/** The credentials that one cluster accepts. */
export interface Credentials {
  readonly tokens: TokenFile;
  /** Of `--token-auth-file`. */
  readonly externalTokens?: TokenAuthFile | undefined;
  readonly revocations: Revocations;
  readonly serviceAccounts: ServiceAccountTokens;
  readonly certificates: ClientCertificates;
  readonly store: ObjectStore;
  readonly nowMs: () => number;
}

/**
 * Client certificate first, then bearer token. `anonymous`: no credentials; `invalid`: credentials
 * that this hub does not accept, which is 401 even if anonymous access is allowed.
 */
export async function authenticate(
  request: HubRequest,
  credentials: Credentials,
): Promise<UserInfo | 'anonymous' | 'invalid'> {
  const connection = socketOf(request);
  const certified =
    connection === undefined ? undefined : credentials.certificates.userOf(connection, credentials.nowMs());
  if (certified !== undefined) {
    const { user, issuedAtMs } = certified;
    return credentials.revocations.refuses(user.name, issuedAtMs) ? 'invalid' : withAuthenticated(user);
  }
  const header = headerOf(request, 'authorization');
  if (header === undefined) return 'anonymous';
  const cached = connection === undefined ? undefined : authenticatedTokens.get(connection);
  if (cached?.header === header && cached.revision === credentials.tokens.revision) return cached.user;
  const token = /^Bearer\s+(\S+)$/i.exec(header.trim())?.[1];
  if (token === undefined) return 'invalid';
  const found = staticUser(token, credentials);
  if (found === undefined) return (await tokenUser(token, credentials)) ?? 'invalid';
  if (connection !== undefined)
    authenticatedTokens.set(connection, { header, revision: credentials.tokens.revision, user: found });
  return found;
}

interface AuthenticatedToken {
  readonly header: string;
  /**
   * Revision of the token file. After a token was added or revoked, every connection is
   * authenticated again.
   */
  readonly revision: number;
  readonly user: UserInfo;
}

/**
 * The last static token of each connection, so that its next request need not be hashed and
 * compared again. A token is compared only with the one of the same connection, so timing reveals
 * nothing.
 */
const authenticatedTokens = new WeakMap<object, AuthenticatedToken>();

function staticUser(token: string, { tokens, externalTokens }: Credentials): UserInfo | undefined {
  const found = tokens.find(token) ?? externalTokens?.find(token);
  return found === undefined ? undefined : withAuthenticated(found);
}

function socketOf(request: HubRequest): object | undefined {
  return 'stream' in request ? request.stream.session?.socket : request.socket;
}

/** The user of a bearer token: a static one or one of a service account. */
export async function tokenUser(
  token: string,
  credentials: Credentials,
  audiences?: readonly string[],
): Promise<UserInfo | undefined> {
  const found = staticUser(token, credentials);
  if (found !== undefined) return found;
  const verified = await credentials.serviceAccounts.verify(token, credentials.nowMs(), audiences);
  if (verified === undefined || !stillExists(verified, credentials.store)) return undefined;
  const user = serviceAccountUser(verified, verified.tokenId);
  return credentials.revocations.refuses(user.name, verified.issuedAtMs) ? undefined : user;
}

export function serviceAccountUser(subject: TokenSubject, tokenId?: string): UserInfo {
  const { namespace, name, uid } = subject;
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    uid,
    groups: [...serviceAccountGroups(namespace), AUTHENTICATED],
    ...(tokenId && { extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${tokenId}`] } }),
  };
}

/** A token is invalid once its ServiceAccount, or the object that it is bound to, is deleted. */
function stillExists(subject: TokenSubject, store: ObjectStore): boolean {
  const { namespace, name, uid, boundTo } = subject;
  const account = store.get({ storage: 'serviceaccounts', namespace, name });
  if (account === undefined || uidOf(account.object) !== uid) return false;
  if (boundTo === undefined) return true;
  const storage = boundTo.kind === 'Pod' ? 'pods' : 'secrets';
  const bound = store.get({ storage, namespace, name: boundTo.name });
  return bound !== undefined && uidOf(bound.object) === boundTo.uid;
}

function uidOf(object: Parameters<typeof objectAt>[0]): string {
  return textAt(objectAt(object, 'metadata'), 'uid');
}

function withAuthenticated(user: UserInfo): UserInfo {
  return user.groups.includes(AUTHENTICATED) ? user : { ...user, groups: [...user.groups, AUTHENTICATED] };
}
