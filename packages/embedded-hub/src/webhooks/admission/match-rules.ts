import type { AdmissionAttributes } from './admission-attributes.ts';

export interface AdmissionRule {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  /** `pods`, `pods/status`, `*`, `*\/scale`. */
  readonly resources: readonly string[];
  readonly scope: string;
  /** Names of objects; none: all. Rules of webhooks have none. */
  readonly names: readonly string[];
}

/** The resource, namespace and name of a request. */
export type RuleSubject = Pick<AdmissionAttributes, 'operation' | 'subresource' | 'namespace' | 'name'> & {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
};

/** Source: apiserver `pkg/admission/plugin/webhook/predicates/rules/rules.go`. */
export function matchesRule(rule: AdmissionRule, subject: RuleSubject): boolean {
  return (
    inScope(rule.scope, subject) &&
    listed(rule.operations, subject.operation) &&
    listed(rule.apiGroups, subject.group) &&
    listed(rule.apiVersions, subject.version) &&
    rule.resources.some((resource) => matchesResource(resource, subject)) &&
    (rule.names.length === 0 || rule.names.includes(subject.name))
  );
}

/** Whether the rule may match a write of the resource in any version. */
export function mayMatchResource(rule: AdmissionRule, group: string, resource: string): boolean {
  const names = rule.resources.map((pattern) => pattern.split('/')[0] as string);
  return listed(rule.apiGroups, group) && listed(names, resource);
}

function listed(items: readonly string[], wanted: string): boolean {
  return items.includes('*') || items.includes(wanted);
}

/** A Namespace object counts as cluster-scoped, although its attributes have a namespace. */
function inScope(scope: string, { group, resource, namespace }: RuleSubject): boolean {
  if (scope === '*') return true;
  const namespaced = namespace !== '' && !(group === '' && resource === 'namespaces');
  return namespaced === (scope === 'Namespaced');
}

function matchesResource(pattern: string, { resource, subresource }: RuleSubject): boolean {
  const slash = pattern.indexOf('/');
  const name = slash < 0 ? pattern : pattern.slice(0, slash);
  const sub = slash < 0 ? '' : pattern.slice(slash + 1);
  return (name === '*' || name === resource) && (sub === '*' || sub === subresource);
}
