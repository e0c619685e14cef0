import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { isObject, listAt, objectAt, textAt } from '../../json/json-value.ts';
import type { Strategy } from './strategy.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** RoleBinding and ClusterRoleBinding: groups are filled in. */
export const BINDING_STRATEGY: Strategy = {
  fillIn: (object) => {
    const result: JsonObject = { ...object };
    const roleRef = objectAt(object, 'roleRef');
    if (roleRef !== undefined && textAt(roleRef, 'apiGroup') === '')
      result['roleRef'] = { ...roleRef, apiGroup: RBAC };
    if (Array.isArray(object['subjects'])) result['subjects'] = listAt(object, 'subjects').map(withGroup);
    return result;
  },
};

function withGroup(subject: JsonValue): JsonValue {
  if (!isObject(subject) || textAt(subject, 'apiGroup') !== '') return subject;
  const kind = textAt(subject, 'kind');
  return kind === 'User' || kind === 'Group' ? { ...subject, apiGroup: RBAC } : subject;
}
