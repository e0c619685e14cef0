import { getOwn, isObject, type JsonObject, type JsonValue, listAt } from '../../json/json-value.ts';
import type { AccessAttributes } from '../../wire/user-info.ts';

/** rbac/v1 PolicyRule with every list present. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

export function readRules(role: JsonObject): readonly PolicyRule[] {
  return listAt(role, 'rules').filter(isObject).map(readRule);
}

function readRule(rule: JsonObject): PolicyRule {
  return {
    verbs: texts(getOwn(rule, 'verbs')),
    apiGroups: texts(getOwn(rule, 'apiGroups')),
    resources: texts(getOwn(rule, 'resources')),
    resourceNames: texts(getOwn(rule, 'resourceNames')),
    nonResourceURLs: texts(getOwn(rule, 'nonResourceURLs')),
  };
}

function texts(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

/** RBAC is additive: a rule allows a request or does not apply to it. */
export function ruleAllows(rule: PolicyRule, attributes: AccessAttributes): boolean {
  const { verb, group, resource, subresource = '', name = '' } = attributes;
  return (
    covers(rule.verbs, verb) &&
    covers(rule.apiGroups, group) &&
    coversResource(rule.resources, resource, subresource) &&
    (rule.resourceNames.length === 0 || (name !== '' && rule.resourceNames.includes(name)))
  );
}

export function ruleAllowsPath(rule: PolicyRule, verb: string, path: string): boolean {
  return covers(rule.verbs, verb) && rule.nonResourceURLs.some((pattern) => pathMatches(pattern, path));
}

function covers(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value);
}

function coversResource(list: readonly string[], resource: string, subresource: string): boolean {
  if (list.includes('*')) return true;
  if (subresource === '') return list.includes(resource);
  return list.includes(`${resource}/${subresource}`) || list.includes(`*/${subresource}`);
}

function pathMatches(pattern: string, path: string): boolean {
  if (pattern === '*' || pattern === path) return true;
  return pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1));
}

/** Splits a rule into rules of one verb, group, resource and name each; what escalation prevention compares. */
export function splitRule(rule: PolicyRule): readonly PolicyRule[] {
  const single = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };
  const names = rule.resourceNames.length === 0 ? [undefined] : rule.resourceNames;
  const resources = rule.apiGroups.flatMap((group) =>
    rule.resources.map((resource) => ({ group, resource })),
  );
  return rule.verbs.flatMap((verb) => [
    ...rule.nonResourceURLs.map((url) => ({ ...single, verbs: [verb], nonResourceURLs: [url] })),
    ...resources.flatMap(({ group, resource }) =>
      names.map((name) => ({
        ...single,
        verbs: [verb],
        apiGroups: [group],
        resources: [resource],
        resourceNames: name === undefined ? [] : [name],
      })),
    ),
  ]);
}

/** True when `owned` grants everything that the one-of-each rule `wanted` grants. */
export function ruleCovers(owned: PolicyRule, wanted: PolicyRule): boolean {
  const [url] = wanted.nonResourceURLs;
  if (!covers(owned.verbs, wanted.verbs[0] ?? '')) return false;
  if (url !== undefined) return owned.nonResourceURLs.some((pattern) => pathMatches(pattern, url));
  const wantedResource = wanted.resources[0] ?? '';
  const [resource = '', subresource = ''] = wantedResource.split('/');
  const [name] = wanted.resourceNames;
  return (
    covers(owned.apiGroups, wanted.apiGroups[0] ?? '') &&
    (owned.resources.includes(wantedResource) || coversResource(owned.resources, resource, subresource)) &&
    (owned.resourceNames.length === 0 || (name !== undefined && owned.resourceNames.includes(name)))
  );
}
