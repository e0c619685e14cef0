import type { AdmissionAttributes } from './admission-attributes.ts';
import type { AdmissionRule } from './webhook-configurations.ts';

/** A resource by its names, and where the request is. */
export type RuleSubject = Pick<AdmissionAttributes, 'operation' | 'subresource' | 'namespace'> & {
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
    rule.resources.some((resource) => matchesResource(resource, subject))
  );
}

function listed(items: readonly string[], wanted: string): boolean {
  return items.includes('*') || items.includes(wanted);
}

/** A Namespace object has a namespace, its own, and counts as cluster-scoped. */
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
