import { accessRefused } from '../auth/rbac/access-refused.ts';
import type { Authorizer } from '../auth/rbac/authorizer.ts';
import { parseFieldSelector, selectedName } from '../request/field-selector.ts';
import { forbidden } from '../wire/status-errors.ts';
import type { UserInfo } from '../wire/user-info.ts';
import type { RequestInfo, ResourceRequest } from '../wire/request-info.ts';

/** @throws StatusError 403 with the text of kube-apiserver */
export function requireAccess(
  authorizer: Authorizer,
  user: UserInfo,
  info: RequestInfo,
  query: URLSearchParams,
): void {
  if (info.kind === 'path') {
    if (authorizer.allowsPath(user, info.verb, info.path)) return;
    const why = `User ${JSON.stringify(user.name)} cannot ${info.verb} path ${JSON.stringify(info.path)}`;
    throw forbidden({ group: '', plural: '' }, '', why);
  }
  const { verb, group, resource, subresource, namespace } = info;
  const attributes = { verb, group, resource, subresource, namespace, name: requestedName(info, query) };
  if (!authorizer.allows(user, attributes)) throw accessRefused(user, attributes, info.name);
}

/** A list or watch of one object by field selector counts as a request for that name. */
function requestedName(info: ResourceRequest, query: URLSearchParams): string {
  if (info.name !== '' || !['list', 'watch', 'deletecollection'].includes(info.verb)) return info.name;
  try {
    return selectedName(parseFieldSelector(query.get('fieldSelector') ?? ''));
  } catch {
    // An invalid selector is refused later, with a message about the selector.
    return '';
  }
}
