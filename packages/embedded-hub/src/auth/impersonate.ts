import { type HubRequest, headerOf } from '../wire/api-response.ts';
import { badRequest, forbidden } from '../wire/status-errors.ts';
import { type UserInfo, serviceAccountGroups } from '../wire/user-info.ts';
import type { Authorizer } from './rbac/authorizer.ts';

const EXTRA_PREFIX = 'impersonate-extra-';
const AUTHENTICATION_GROUP = 'authentication.k8s.io';

/**
 * The impersonated user, if the request has Impersonate headers and the caller may use each of
 * them.
 * @throws StatusError 403, or 400 for groups without a user
 */
export function impersonate(request: HubRequest, caller: UserInfo, authorizer: Authorizer): UserInfo {
  if (!hasImpersonateHeaders(request)) return caller;
  const name = headerOf(request, 'impersonate-user');
  const groups = splitGroups(request);
  const uid = headerOf(request, 'impersonate-uid');
  const extra = Object.keys(request.headers).filter((header) => header.startsWith(EXTRA_PREFIX));
  if (name === undefined || name === '') {
    if (groups.length > 0 || uid !== undefined || extra.length > 0)
      throw badRequest('requested impersonation of groups, uid or extra without impersonating a user');
    return caller;
  }
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name);
  const requirePermission = (
    resource: string,
    what: string,
    where: { group?: string; namespace?: string } = {},
  ): void => {
    const { group = '', namespace } = where;
    if (authorizer.allows(caller, { verb: 'impersonate', group, resource, namespace, name: what })) return;
    throw forbidden(
      { group, plural: resource },
      what,
      `User ${JSON.stringify(caller.name)} cannot impersonate resource ${JSON.stringify(resource)} in API group ${JSON.stringify(group)}${namespace === undefined ? ' at the cluster scope' : ` in the namespace ${JSON.stringify(namespace)}`}`,
    );
  };
  if (account === null) requirePermission('users', name);
  else requirePermission('serviceaccounts', account[2] ?? '', { namespace: account[1] ?? '' });
  for (const group of groups) requirePermission('groups', group);
  if (uid !== undefined) requirePermission('uids', uid, { group: AUTHENTICATION_GROUP });
  for (const header of extra)
    requirePermission(`userextras/${extraKey(header)}`, headerOf(request, header) ?? '', {
      group: AUTHENTICATION_GROUP,
    });
  const accountGroups = account === null ? [] : serviceAccountGroups(account[1] ?? '');
  const all = [...new Set([...(groups.length > 0 ? groups : accountGroups), 'system:authenticated'])];
  return {
    name,
    ...(uid !== undefined && { uid }),
    groups: all,
    ...(extra.length > 0 && { extra: extraOf(request, extra) }),
  };
}

/** A fast check, since every request is checked and almost none has these headers. */
function hasImpersonateHeaders(request: HubRequest): boolean {
  for (const header in request.headers) if (header.startsWith('impersonate-')) return true;
  return false;
}

/** Node joins repeated headers with a comma and a blank; the raw list keeps group names with commas whole. */
function splitGroups(request: HubRequest): string[] {
  const raw = request.rawHeaders;
  const groups: string[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2)
    if (raw[index]?.toLowerCase() === 'impersonate-group') groups.push(raw[index + 1] ?? '');
  return groups;
}

function extraOf(request: HubRequest, headers: readonly string[]): Record<string, string[]> {
  return Object.fromEntries(headers.map((header) => [extraKey(header), [headerOf(request, header) ?? '']]));
}

/**
 * Decodes a percent-encoded key; an invalid encoding is used unchanged. The same key is authorized
 * and used.
 */
function extraKey(header: string): string {
  const text = header.slice(EXTRA_PREFIX.length);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
