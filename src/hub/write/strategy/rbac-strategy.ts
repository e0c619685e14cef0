import { invalidValue } from '../../admit/field-problems.ts';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { deepEqual, getOwn, isObject, listAt, objectAt, textAt } from '../../json/json-value.ts';
import type { Strategy } from './strategy.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** RoleBinding and ClusterRoleBinding: groups are filled in; what a binding grants cannot be changed later. */
export const BINDING_STRATEGY: Strategy = {
  fillIn: (object) => {
    const result: JsonObject = { ...object };
    const roleRef = objectAt(object, 'roleRef');
    if (roleRef !== undefined && textAt(roleRef, 'apiGroup') === '')
      result['roleRef'] = { ...roleRef, apiGroup: RBAC };
    if (Array.isArray(object['subjects'])) result['subjects'] = listAt(object, 'subjects').map(withGroup);
    return result;
  },
  validate: (object, old) => {
    if (old === undefined || deepEqual(getOwn(object, 'roleRef'), getOwn(old, 'roleRef'))) return [];
    return [invalidValue('roleRef', getOwn(object, 'roleRef'), 'cannot change roleRef')];
  },
};

function withGroup(subject: JsonValue): JsonValue {
  if (!isObject(subject) || textAt(subject, 'apiGroup') !== '') return subject;
  const kind = textAt(subject, 'kind');
  return kind === 'User' || kind === 'Group' ? { ...subject, apiGroup: RBAC } : subject;
}
