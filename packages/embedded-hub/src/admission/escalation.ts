import { isObject, type JsonObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import { forbidden, notFound } from '../wire/status-errors.ts';
import type { AdmissionCheck } from '../write/write-request.ts';
import type { UserInfo } from '../wire/user-info.ts';
import { type Authorizer, isMaster, RBAC_GROUP } from '../auth/rbac/authorizer.ts';
import { type PolicyRule, readRules, ruleCovers, splitRule } from '../auth/rbac/rbac-rules.ts';

/**
 * Privilege escalation prevention: the author of a role must have all of its rules (or the right to
 * `escalate`), and the author of a binding all rules of its role (or the right to `bind`).
 */
export function escalationCheck(authorizer: Authorizer): AdmissionCheck {
  return (write) => {
    const { definition } = write.ref;
    if (definition.group !== RBAC_GROUP || write.operation === 'DELETE' || isMaster(write.user)) return [];
    const { object, old, user } = write;
    const namespace = textAt(objectAt(object, 'metadata'), 'namespace');
    const name = textAt(objectAt(object, 'metadata'), 'name');
    const attributes = { group: RBAC_GROUP, namespace, name };
    const isRole = definition.plural === 'roles' || definition.plural === 'clusterroles';
    if (isRole) {
      if (
        old !== undefined &&
        JSON.stringify(old['rules']) === JSON.stringify(object['rules']) &&
        sameAggregation(old, object)
      )
        return [];
      if (write.can({ verb: 'escalate', resource: definition.plural, ...attributes })) return [];
      requireCovered(authorizer, {
        user,
        namespace,
        wanted: rolesRules(authorizer, object),
        definition,
        name,
      });
      return [];
    }
    const roleRef = objectAt(object, 'roleRef');
    const resource = textAt(roleRef, 'kind') === 'ClusterRole' ? 'clusterroles' : 'roles';
    if (write.can({ verb: 'bind', resource, ...attributes, name: textAt(roleRef, 'name') })) return [];
    const wanted = authorizer.rulesOfRole(roleRef, namespace);
    if (wanted === undefined)
      throw notFound({ group: RBAC_GROUP, plural: resource }, textAt(roleRef, 'name'));
    requireCovered(authorizer, { user, namespace, wanted, definition, name });
    return [];
  };
}

function sameAggregation(old: JsonObject, object: JsonObject): boolean {
  return JSON.stringify(old['aggregationRule']) === JSON.stringify(object['aggregationRule']);
}

/** An aggregation rule can select any role later, so it needs all rights. */
function rolesRules(authorizer: Authorizer, role: JsonObject): readonly PolicyRule[] {
  const aggregates =
    listAt(objectAt(role, 'aggregationRule'), 'clusterRoleSelectors').filter(isObject).length > 0;
  if (!aggregates) return readRules(role);
  const all = { verbs: ['*'], resourceNames: [] };
  return [
    ...authorizer.clusterRoleRules(role),
    { ...all, apiGroups: ['*'], resources: ['*'], nonResourceURLs: [] },
    { ...all, apiGroups: [], resources: [], nonResourceURLs: ['*'] },
  ];
}

function requireCovered(
  authorizer: Authorizer,
  what: {
    readonly user: UserInfo;
    readonly namespace: string;
    readonly wanted: readonly PolicyRule[];
    readonly definition: { readonly group: string; readonly plural: string };
    readonly name: string;
  },
): void {
  const { user, namespace, wanted, definition, name } = what;
  const owned = authorizer.rulesFor(user, namespace);
  const missing = wanted.flatMap(splitRule).filter((rule) => !owned.some((own) => ruleCovers(own, rule)));
  if (missing.length === 0) return;
  const groups = user.groups.map((group) => JSON.stringify(group)).join(' ');
  throw forbidden(
    definition,
    name,
    `user ${JSON.stringify(user.name)} (groups=[${groups}]) is attempting to grant RBAC permissions not currently held:\n${missing.map(formatRule).join('\n')}`,
  );
}

function formatRule(rule: PolicyRule): string {
  const list = (values: readonly string[]): string =>
    `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
  if (rule.nonResourceURLs.length > 0)
    return `{NonResourceURLs:${list(rule.nonResourceURLs)}, Verbs:${list(rule.verbs)}}`;
  const names = rule.resourceNames.length > 0 ? `, ResourceNames:${list(rule.resourceNames)}` : '';
  return `{APIGroups:${list(rule.apiGroups)}, Resources:${list(rule.resources)}${names}, Verbs:${list(rule.verbs)}}`;
}
