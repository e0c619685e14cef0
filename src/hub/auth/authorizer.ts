import type { JsonObject } from '../json/json-value.ts';
import { getOwn, isObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import type { ObjectStore } from '../store/object-store.ts';
import type { AccessQuestion, UserInfo } from '../write/write-request.ts';
import type { PolicyRule } from './rbac-rules.ts';
import { readRules, ruleAllows, ruleAllowsPath } from './rbac-rules.ts';

export const RBAC_GROUP = 'rbac.authorization.k8s.io';
export const MASTERS_GROUP = 'system:masters';

/** One binding, resolved: who, where ('' everywhere), what. */
interface Grant {
  readonly namespace: string;
  readonly subjects: readonly JsonObject[];
  readonly rules: readonly PolicyRule[];
}

const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
];

/**
 * RBAC from the stored roles and bindings. They are read afresh after any of them changed: bindings are few, and a
 * cached grant that outlives its binding would be a hole.
 */
export class Authorizer {
  readonly #store: ObjectStore;
  #grants: readonly Grant[] | undefined;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** To be called after every write of an RBAC object. */
  forget(): void {
    this.#grants = undefined;
  }

  allows(user: UserInfo, question: AccessQuestion): boolean {
    if (isMaster(user)) return true;
    return this.#some(user, question.namespace ?? '', (rule) => ruleAllows(rule, question));
  }

  allowsPath(user: UserInfo, verb: string, path: string): boolean {
    if (isMaster(user)) return true;
    return this.#some(user, '', (rule) => ruleAllowsPath(rule, verb, path));
  }

  /** All rules that hold for the user in the namespace ('': cluster-wide ones only). */
  rulesFor(user: UserInfo, namespace: string): readonly PolicyRule[] {
    const own = isMaster(user) ? EVERYTHING : [];
    return [...own, ...this.#grantsFor(user, namespace).flatMap((grant) => grant.rules)];
  }

  /** The rules of the role that a binding names; undefined when it does not exist. */
  rulesOfRole(roleRef: JsonObject | undefined, namespace: string): readonly PolicyRule[] | undefined {
    const name = textAt(roleRef, 'name');
    const cluster = textAt(roleRef, 'kind') === 'ClusterRole';
    const entry = this.#store.get({
      storage: cluster ? `clusterroles.${RBAC_GROUP}` : `roles.${RBAC_GROUP}`,
      namespace: cluster ? '' : namespace,
      name,
    });
    if (entry === undefined) return undefined;
    return cluster ? this.clusterRoleRules(entry.object) : readRules(entry.object);
  }

  /** An aggregated role has the rules of every ClusterRole that its selectors match. */
  clusterRoleRules(role: JsonObject): readonly PolicyRule[] {
    const selectors = listAt(objectAt(role, 'aggregationRule'), 'clusterRoleSelectors').filter(isObject);
    if (selectors.length === 0) return readRules(role);
    return this.#store
      .list(`clusterroles.${RBAC_GROUP}`)
      .filter(({ object }) => object !== role && selectors.some((selector) => labelsMatch(selector, object)))
      .flatMap(({ object }) => readRules(object));
  }

  #some(user: UserInfo, namespace: string, test: (rule: PolicyRule) => boolean): boolean {
    return this.#grantsFor(user, namespace).some((grant) => grant.rules.some(test));
  }

  #grantsFor(user: UserInfo, namespace: string): readonly Grant[] {
    this.#grants ??= this.#readGrants();
    return this.#grants.filter(
      (grant) =>
        (grant.namespace === '' || grant.namespace === namespace) &&
        grant.subjects.some((subject) => isSubject(subject, user)),
    );
  }

  #readGrants(): readonly Grant[] {
    const bindings = [
      ...this.#store.list(`clusterrolebindings.${RBAC_GROUP}`),
      ...this.#store.list(`rolebindings.${RBAC_GROUP}`),
    ];
    return bindings.map((entry) => ({
      namespace: entry.namespace,
      subjects: listAt(entry.object, 'subjects').filter(isObject),
      rules: this.rulesOfRole(objectAt(entry.object, 'roleRef'), entry.namespace) ?? [],
    }));
  }
}

export function isMaster(user: UserInfo): boolean {
  return user.groups.includes(MASTERS_GROUP);
}

function isSubject(subject: JsonObject, user: UserInfo): boolean {
  const name = textAt(subject, 'name');
  switch (textAt(subject, 'kind')) {
    case 'User':
      return name === user.name;
    case 'Group':
      return user.groups.includes(name);
    case 'ServiceAccount':
      return user.name === `system:serviceaccount:${textAt(subject, 'namespace')}:${name}`;
    default:
      return false;
  }
}

function labelsMatch(selector: JsonObject, object: JsonObject): boolean {
  const wanted = Object.entries(objectAt(selector, 'matchLabels') ?? {});
  const labels = objectAt(objectAt(object, 'metadata'), 'labels') ?? {};
  return wanted.length > 0 && wanted.every(([key, value]) => getOwn(labels, key) === value);
}
