import { getOwn, isObject, type JsonObject, listAt, objectAt, textAt } from '../../json/json-value.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import type { StatusError } from '../../wire/status-error.ts';
import { forbidden } from '../../wire/status-errors.ts';
import type { AccessAttributes, UserInfo } from '../../wire/user-info.ts';
import { type PolicyRule, readRules, ruleAllows, ruleAllowsPath } from './rbac-rules.ts';

export const RBAC_GROUP = 'rbac.authorization.k8s.io';
export const MASTERS_GROUP = 'system:masters';

/** A resolved binding: its namespace ('': all) and its rules. */
interface Grant {
  readonly namespace: string;
  readonly rules: readonly PolicyRule[];
}

const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
];

/**
 * RBAC from the stored roles and bindings, indexed by subject: with thousands of agents that have a
 * few bindings each, a request checks only those of its user. Every change of a role or binding
 * invalidates the index; a grant that outlives its binding would be a security hole.
 */
export class Authorizer {
  readonly #store: ObjectStore;
  #grants: ReadonlyMap<string, readonly Grant[]> | undefined;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** To be called after every write of an RBAC object. */
  invalidate(): void {
    this.#grants = undefined;
  }

  allows(user: UserInfo, attributes: AccessAttributes): boolean {
    if (isMaster(user)) return true;
    return this.#some(user, attributes.namespace ?? '', (rule) => ruleAllows(rule, attributes));
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
    return cluster ? this.clusterRoleRules(entry.object) : storedRules(entry.object);
  }

  /** An aggregated role has the rules of every ClusterRole that its selectors match. */
  clusterRoleRules(role: JsonObject): readonly PolicyRule[] {
    const selectors = listAt(objectAt(role, 'aggregationRule'), 'clusterRoleSelectors').filter(isObject);
    if (selectors.length === 0) return storedRules(role);
    return this.#store
      .list(`clusterroles.${RBAC_GROUP}`)
      .filter(({ object }) => object !== role && selectors.some((selector) => labelsMatch(selector, object)))
      .flatMap(({ object }) => storedRules(object));
  }

  #some(user: UserInfo, namespace: string, test: (rule: PolicyRule) => boolean): boolean {
    return this.#grantsFor(user, namespace).some((grant) => grant.rules.some(test));
  }

  #grantsFor(user: UserInfo, namespace: string): readonly Grant[] {
    this.#grants ??= this.#readGrants();
    const subjects = [`User ${user.name}`, ...user.groups.map((group) => `Group ${group}`)];
    return subjects
      .flatMap((subject) => this.#grants?.get(subject) ?? [])
      .filter((grant) => grant.namespace === '' || grant.namespace === namespace);
  }

  #readGrants(): ReadonlyMap<string, readonly Grant[]> {
    const grants = new Map<string, Grant[]>();
    const bindings = [
      ...this.#store.list(`clusterrolebindings.${RBAC_GROUP}`),
      ...this.#store.list(`rolebindings.${RBAC_GROUP}`),
    ];
    for (const { namespace, object } of bindings) {
      const rules = this.rulesOfRole(objectAt(object, 'roleRef'), namespace) ?? [];
      for (const subject of storedSubjects(object)) {
        const known = grants.get(subject);
        if (known === undefined) grants.set(subject, [{ namespace, rules }]);
        else known.push({ namespace, rules });
      }
    }
    return grants;
  }
}

export function isMaster(user: UserInfo): boolean {
  return user.groups.includes(MASTERS_GROUP);
}

/** Cached by stored object, which never changes. */
const rulesOfStored = new WeakMap<JsonObject, readonly PolicyRule[]>();

function storedRules(role: JsonObject): readonly PolicyRule[] {
  const known = rulesOfStored.get(role) ?? readRules(role);
  rulesOfStored.set(role, known);
  return known;
}

const subjectsOfStored = new WeakMap<JsonObject, readonly string[]>();

function storedSubjects(binding: JsonObject): readonly string[] {
  const known = subjectsOfStored.get(binding) ?? readSubjects(binding);
  subjectsOfStored.set(binding, known);
  return known;
}

/** `User NAME` and `Group NAME`; a ServiceAccount is the user of that name. */
function readSubjects(binding: JsonObject): readonly string[] {
  return listAt(binding, 'subjects')
    .filter(isObject)
    .flatMap((subject) => {
      const name = textAt(subject, 'name');
      switch (textAt(subject, 'kind')) {
        case 'User':
          return [`User ${name}`];
        case 'Group':
          return [`Group ${name}`];
        case 'ServiceAccount':
          return [`User system:serviceaccount:${textAt(subject, 'namespace')}:${name}`];
        default:
          return [];
      }
    });
}

function labelsMatch(selector: JsonObject, object: JsonObject): boolean {
  const wanted = Object.entries(objectAt(selector, 'matchLabels') ?? {});
  const labels = objectAt(objectAt(object, 'metadata'), 'labels') ?? {};
  return wanted.length > 0 && wanted.every(([key, value]) => getOwn(labels, key) === value);
}

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
