import { forbidden } from '../../wire/status-errors.ts';
import type { StatusError } from '../../wire/status-error.ts';
import type { AccessAttributes, UserInfo } from '../../wire/user-info.ts';

/**
 * A 403 with the text of kube-apiserver.
 * @param name of the object as the path has it, '' for a collection
 */
export function accessRefused(user: UserInfo, attributes: AccessAttributes, name: string): StatusError {
  const { verb, group, resource, subresource = '', namespace = '' } = attributes;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  const why = `User ${JSON.stringify(user.name)} cannot ${verb} resource ${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${where}`;
  return forbidden({ group, plural: resource }, name, why);
}
