import type { JsonObject } from '../json/json-value.ts';
import { getOwn, listAt, objectAt, textAt, textsAt } from '../json/json-value.ts';
import type { FieldReporter, KindRules } from './values/field-reporter.ts';
import { checkResourceQuantity, eachQuantity } from './values/quantity-rules.ts';
import { checkQuotaResourceName, isStandardQuota } from './values/resource-names.ts';

const COMPUTE = ['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'];
const OF_PODS = new Set(['pods', ...COMPUTE]);
const OF_CLAIMS = new Set(['persistentvolumeclaims', 'requests.storage']);

/** Which resources a scope applies to. */
const SCOPES: Readonly<Record<string, ReadonlySet<string>>> = {
  Terminating: OF_PODS,
  NotTerminating: OF_PODS,
  NotBestEffort: OF_PODS,
  PriorityClass: OF_PODS,
  CrossNamespacePodAffinity: OF_PODS,
  BestEffort: new Set(['pods']),
  VolumeAttributesClass: OF_CLAIMS,
};
const OPPOSITES = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];
const ONLY_EXISTS =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

const appliesTo = (scope: string, resource: string): boolean =>
  !Object.hasOwn(SCOPES, scope) || SCOPES[scope]?.has(resource) === true;

/** Source: pkg/apis/core/validation (ValidateResourceQuota). */
export const QUOTA_RULES: KindRules = {
  validate: (quota, at, old) => {
    const spec = objectAt(quota, 'spec') ?? {};
    const place = at.at('spec');
    eachQuantity(objectAt(spec, 'hard'), place.at('hard'), (name, quantity, entry) => {
      checkQuotaResourceName(name, entry);
      checkResourceQuantity(name, quantity, entry);
    });
    checkScopes(spec, place.at('scopes'));
    if (objectAt(spec, 'scopeSelector') !== undefined) checkScopeSelector(spec, place.at('scopeSelector'));
    if (old === undefined) return;
    const scopes = (one: JsonObject): readonly string[] => [...new Set(textsAt(one, 'scopes'))].sort();
    const [before, now] = [scopes(objectAt(old, 'spec') ?? {}), scopes(spec)];
    if (before.join() !== now.join())
      place.at('scopes').invalid(getOwn(spec, 'scopes'), 'field is immutable');
  },
};

function checkScopes(spec: JsonObject, at: FieldReporter): void {
  const scopes = textsAt(spec, 'scopes');
  const hard = Object.keys(objectAt(spec, 'hard') ?? {}).filter(isStandardQuota);
  for (const scope of scopes) {
    if (!Object.hasOwn(SCOPES, scope)) at.invalid([...scopes], 'unsupported scope');
    if (hard.some((name) => !appliesTo(scope, name)))
      at.invalid([...scopes], 'unsupported scope applied to resource');
  }
  checkOpposites(scopes, at);
}

function checkOpposites(scopes: readonly string[], at: FieldReporter): void {
  for (const pair of OPPOSITES)
    if (pair.every((scope) => scopes.includes(scope))) at.invalid([...scopes], 'conflicting scopes');
}

function checkScopeSelector(spec: JsonObject, at: FieldReporter): void {
  const selector = objectAt(spec, 'scopeSelector') ?? {};
  const hard = Object.keys(objectAt(spec, 'hard') ?? {}).filter(isStandardQuota);
  const place = at.at('matchExpressions');
  const scopes: string[] = [];
  for (const one of listAt(selector, 'matchExpressions')) {
    const requirement = one as JsonObject;
    const scope = textAt(requirement, 'scopeName');
    scopes.push(scope);
    if (!Object.hasOwn(SCOPES, scope)) place.at('scopeName').invalid(scope, 'unsupported scope');
    for (const name of hard)
      if (!appliesTo(scope, name)) place.invalid(selector, 'unsupported scope applied to resource');
    checkOperator(requirement, scope, place);
  }
  checkOpposites(scopes, place);
}

const WITH_VALUES = new Set(['PriorityClass', 'VolumeAttributesClass']);

function checkOperator(requirement: JsonObject, scope: string, at: FieldReporter): void {
  const [operator, values] = [textAt(requirement, 'operator'), listAt(requirement, 'values')];
  if (Object.hasOwn(SCOPES, scope) && !WITH_VALUES.has(scope) && operator !== 'Exists')
    at.at('operator').invalid(operator, ONLY_EXISTS);
  const detail = "when `operator` is 'In' or 'NotIn' for scope selector";
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) at.at('values').required(`must be at least one value ${detail}`);
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    const none = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
    if (values.length > 0) at.at('values').invalid([...values], none);
  } else at.at('operator').invalid(operator, 'not a valid selector operator');
}
