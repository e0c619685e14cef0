import {
  type AdmissionCompilation,
  type AdmissionNames,
  compileAdmission,
  type CompiledVariable,
} from '@berth/kube-cel/admission-cel';
import { type AdmissionInput, AdmissionRun, CONDITION_BUDGET } from '@berth/kube-cel/admission-run';
import type { CompiledSelector } from '@berth/kube/model/selector/label-selector-compile';
import { compileLabelSelector, matchesLabels } from '@berth/kube/model/selector/label-selector-compile';
import type { LabelMap } from '@berth/kube/model/selector/label-selector-requirement';
import { type JsonObject, isObject, listAt, objectAt, textAt, textsAt } from '../../json/json-value.ts';
import type { ResourceRef } from '../../schema/resource-definition.ts';
import type { Scheme } from '../../scheme/scheme.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { notFound } from '../../wire/status-errors.ts';
import type { AdmissionAttributes } from './admission-attributes.ts';

/** Which writes a webhook, a policy or a binding matches. */
export interface MatchConstraints {
  /** Undefined: all. */
  readonly rules: readonly AdmissionRule[] | undefined;
  readonly excludeRules: readonly AdmissionRule[];
  /** `matchPolicy: Equivalent`: a rule also matches other versions of its resources. */
  readonly equivalent: boolean;
  /** Undefined: all. The same for `objectSelector`. */
  readonly namespaceSelector: CompiledSelector | undefined;
  readonly objectSelector: CompiledSelector | undefined;
}

/** @param keys the names of the lists of rules and of excluded rules */
export function readMatchConstraints(
  owner: JsonObject,
  [rules, excluded]: readonly [string, string?],
): MatchConstraints {
  return {
    rules: rulesFrom(owner, rules),
    excludeRules: excluded === undefined ? [] : rulesFrom(owner, excluded),
    equivalent: textAt(owner, 'matchPolicy') !== 'Exact',
    namespaceSelector: selectorFrom(objectAt(owner, 'namespaceSelector')),
    objectSelector: selectorFrom(objectAt(owner, 'objectSelector')),
  };
}

function rulesFrom(owner: JsonObject, key: string): readonly AdmissionRule[] {
  return listAt(owner, key).filter(isObject).map(ruleFrom);
}

function ruleFrom(rule: JsonObject): AdmissionRule {
  return {
    operations: textsAt(rule, 'operations'),
    apiGroups: textsAt(rule, 'apiGroups'),
    apiVersions: textsAt(rule, 'apiVersions'),
    resources: textsAt(rule, 'resources'),
    scope: textAt(rule, 'scope') || '*',
    names: textsAt(rule, 'resourceNames'),
  };
}

/**
 * Undefined if everything matches. The selector is valid, since it was validated when it was
 * written.
 */
function selectorFrom(json: JsonObject | undefined): CompiledSelector | undefined {
  if (json === undefined || Object.keys(json).length === 0) return undefined;
  const compiled = compileLabelSelector(json);
  return compiled.ok ? compiled.selector : undefined;
}

type MatchSources = { readonly store: ObjectStore; readonly scheme: Scheme };

/**
 * The version that the rule matches; undefined if the write does not match. Sources: apiserver
 * `pkg/admission/plugin/webhook/generic/webhook.go` and
 * `pkg/admission/plugin/policy/matching/matching.go`.
 * @throws StatusError 404 when its namespace does not exist
 */
export function matchedRef(
  constraints: MatchConstraints,
  attributes: AdmissionAttributes,
  { store, scheme }: MatchSources,
): ResourceRef | undefined {
  const { rules, excludeRules, equivalent } = constraints;
  if (!matchesObject(constraints, attributes)) return undefined;
  const others = equivalent ? (): readonly ResourceRef[] => equivalentsOf(attributes.ref, scheme) : none;
  if (matchingRef(excludeRules, attributes, others) !== undefined) return undefined;
  const ref = rules === undefined ? attributes.ref : matchingRef(rules, attributes, others);
  return ref !== undefined && matchesNamespace(constraints, attributes, store) ? ref : undefined;
}

const none = (): readonly ResourceRef[] => [];

/**
 * Old and new object, converted to the version of `ref`.
 * @throws ConversionNeeded
 */
export function inMatchedVersion(
  { ref: requested, subresource, object, old }: AdmissionAttributes,
  ref: ResourceRef,
  { toVersion }: { readonly toVersion: (object: JsonObject, ref: ResourceRef) => JsonObject },
): { readonly ref: ResourceRef; readonly object: JsonObject | null; readonly oldObject: JsonObject | null } {
  const same = ref.version === requested.version || subresource === 'scale';
  const converted = (one: JsonObject | undefined): JsonObject | null =>
    one === undefined ? null : same ? one : toVersion(one, ref);
  return { ref, object: converted(object), oldObject: converted(old) };
}

function labelsOf(object: JsonObject | undefined): LabelMap {
  return (objectAt(objectAt(object, 'metadata'), 'labels') ?? {}) as LabelMap;
}

function matchesObject({ objectSelector }: MatchConstraints, { object, old }: AdmissionAttributes): boolean {
  if (objectSelector === undefined) return true;
  return [object, old].some((one) => one !== undefined && matchesLabels(objectSelector, labelsOf(one)));
}

function matchesNamespace(
  { namespaceSelector }: MatchConstraints,
  { ref, namespace, object, operation, subresource }: AdmissionAttributes,
  store: ObjectStore,
): boolean {
  if (namespaceSelector === undefined || namespace === '') return true;
  const itself = ref.definition.storageKey === 'namespaces' && subresource === '' && operation !== 'DELETE';
  if (itself) return matchesLabels(namespaceSelector, labelsOf(object));
  return matchesLabels(namespaceSelector, labelsOf(requireNamespace(store, namespace)));
}

/** @throws StatusError 404 */
export function requireNamespace(store: ObjectStore, name: string): JsonObject {
  const stored = store.get({ storage: 'namespaces', namespace: '', name });
  if (stored === undefined) throw notFound({ group: '', plural: 'namespaces' }, name);
  return stored.object;
}

/**
 * The version that a rule matches: the one of the request, otherwise the first other version of the
 * same objects.
 */
function matchingRef(
  rules: readonly AdmissionRule[],
  { ref, operation, subresource, namespace, name }: AdmissionAttributes,
  others: () => readonly ResourceRef[],
): ResourceRef | undefined {
  if (rules.length === 0) return undefined;
  const ruleMatches = (one: ResourceRef, rule: AdmissionRule): boolean =>
    matchesRule(rule, {
      operation,
      subresource,
      namespace,
      name,
      group: one.definition.group,
      version: one.version.name,
      resource: one.definition.plural,
    });
  if (rules.some((rule) => ruleMatches(ref, rule))) return ref;
  const equivalents = others();
  for (const rule of rules) {
    const other = equivalents.find((one) => ruleMatches(one, rule));
    if (other !== undefined) return other;
  }
  return undefined;
}

/** Other versions, and other resources that serve the same objects. */
function equivalentsOf({ definition, version }: ResourceRef, scheme: Scheme): readonly ResourceRef[] {
  return scheme
    .definitions()
    .filter(({ storageKey }) => storageKey === definition.storageKey)
    .flatMap((one) => one.versions.map((other) => ({ definition: one, version: other })))
    .filter((one) => one.version.served && one.version !== version);
}

interface AdmissionRule {
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
type RuleSubject = Pick<AdmissionAttributes, 'operation' | 'subresource' | 'namespace' | 'name'> & {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
};

/** Source: apiserver `pkg/admission/plugin/webhook/predicates/rules/rules.go`. */
function matchesRule(rule: AdmissionRule, subject: RuleSubject): boolean {
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

/** One of `matchConditions`. */
export interface MatchCondition {
  readonly expression: string;
  readonly compilation: AdmissionCompilation;
}

export function readMatchConditions(owner: JsonObject, names: AdmissionNames): readonly MatchCondition[] {
  return listAt(owner, 'matchConditions')
    .filter(isObject)
    .map((condition) => {
      const expression = textAt(condition, 'expression');
      return { expression, compilation: compileAdmission(expression, names, 'bool') };
    });
}

/**
 * A false condition decides, even if another one fails; otherwise a failing condition is an error.
 * `cost`: the CEL cost. Source: apiserver
 * `pkg/admission/plugin/webhook/matchconditions/matcher.go`.
 */
export function evaluateConditions(
  conditions: readonly MatchCondition[],
  input: AdmissionInput,
  variables: readonly CompiledVariable[] = [],
): { readonly result: boolean | { readonly error: string }; readonly cost: number } {
  const run = new AdmissionRun(input, CONDITION_BUDGET, variables);
  const outcomes = [];
  for (const { expression, compilation } of conditions) {
    const outcome = run.evaluate(expression, compilation);
    if (outcome.kind === 'budget') return { result: { error: outcome.message }, cost: run.cost };
    outcomes.push(outcome);
  }
  const { cost } = run;
  if (outcomes.some((one) => one.kind === 'value' && one.value === false)) return { result: false, cost };
  const errors = [...new Set(outcomes.flatMap((one) => (one.kind === 'value' ? [] : [one.message])))];
  if (errors.length === 0) return { result: true, cost };
  return { result: { error: errors.length === 1 ? (errors[0] as string) : `[${errors.join(', ')}]` }, cost };
}
