import {
  type Quantity,
  compareQuantities,
  formatQuantity,
  quantityToNumber,
} from '@berth/kube/model/quantity';
import { qualifiedName } from '@berth/kube/model/selector/name-rules';
import { type JsonObject, getOwn, listAt, objectAt, textAt, textsAt } from '../json/json-value.ts';
import type { FieldReporter, KindRules } from './values/field-reporter.ts';
import {
  checkResourceQuantity,
  eachQuantity,
  quantityAt,
  checkQuotaResourceName,
  isStandardQuota,
  checkContainerResourceName,
  checkResourceName,
  isOvercommitAllowed,
} from './values/quantity-rules.ts';

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
const appliesTo = (scope: string, resource: string): boolean =>
  !Object.hasOwn(SCOPES, scope) || SCOPES[scope]?.has(resource) === true;

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

const OPPOSITES = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];

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

const ONLY_EXISTS =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

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

/** Source: pkg/apis/core/validation (ValidateLimitRange). */
export const LIMIT_RANGE_RULES: KindRules = {
  metadataChecks: 'new',
  validate: (range, at) => {
    const types = new Set<string>();
    at.at('spec').each(objectAt(range, 'spec'), 'limits', (limit, place) => {
      const type = textAt(limit, 'type');
      checkType(type, place.at('type'));
      if (types.has(type)) place.at('type').duplicate(type);
      types.add(type);
      checkLimit(limit, type, place);
    });
  },
};

const TYPES = ['Pod', 'Container', 'PersistentVolumeClaim'];

function checkType(type: string, at: FieldReporter): void {
  const faults = qualifiedName(type);
  for (const fault of faults) at.invalid(type, fault);
  if (faults.length === 0 && !type.includes('/') && !TYPES.includes(type))
    at.invalid(type, 'must be a standard limit type or fully qualified');
}

function checkLimit(limit: JsonObject, type: string, at: FieldReporter): void {
  const names = new Set<string>();
  const checkNames = (key: string): void => {
    eachQuantity(objectAt(limit, key), at.at(key), (name, _quantity, place) => {
      if (type === 'Pod' || type === 'Container') checkContainerResourceName(name, place);
      else checkResourceName(name, place);
      names.add(name);
    });
  };
  checkNames('max');
  checkNames('min');
  for (const key of ['default', 'defaultRequest']) {
    if (type !== 'Pod') checkNames(key);
    else if (Object.keys(objectAt(limit, key) ?? {}).length > 0)
      at.at(key).forbidden("may not be specified when `type` is 'Pod'");
  }
  const limitsStorage = ['min', 'max'].some(
    (key) => getOwn(objectAt(limit, key) ?? {}, 'storage') !== undefined,
  );
  if (type === 'PersistentVolumeClaim' && !limitsStorage) {
    const detail = 'either minimum or maximum storage value is required, but neither was provided';
    at.at('limits').required(detail);
  }
  checkNames('maxLimitRequestRatio');
  for (const name of names) checkLimitsOf(limit, name, at);
}

/**
 * Pairs of limits of which the first must not exceed the second, with the value that the message
 * shows and the field that it names.
 */
const ORDERS: readonly {
  readonly low: readonly [field: string, words: string];
  readonly high: readonly [field: string, words: string];
  readonly field: string;
  readonly shown: 'low' | 'high';
}[] = [
  { low: ['min', 'min'], high: ['max', 'max'], field: 'min', shown: 'low' },
  {
    low: ['min', 'min'],
    high: ['defaultRequest', 'default request'],
    field: 'defaultRequest',
    shown: 'high',
  },
  { low: ['defaultRequest', 'default request'], high: ['max', 'max'], field: 'defaultRequest', shown: 'low' },
  {
    low: ['defaultRequest', 'default request'],
    high: ['default', 'default limit'],
    field: 'defaultRequest',
    shown: 'low',
  },
  { low: ['min', 'min'], high: ['default', 'default'], field: 'default', shown: 'low' },
  { low: ['default', 'default'], high: ['max', 'max'], field: 'default', shown: 'high' },
];

/** Checks all limits of one resource against each other. */
function checkLimitsOf(limit: JsonObject, name: string, at: FieldReporter): void {
  const value = (key: string): Quantity | undefined => quantityAt(objectAt(limit, key), name);
  for (const { low, high, field, shown } of ORDERS) {
    const [below, above] = [value(low[0]), value(high[0])];
    if (below === undefined || above === undefined || compareQuantities(below, above) <= 0) continue;
    const [lower, upper] = [formatQuantity(below), formatQuantity(above)];
    const detail = `${low[1]} value ${lower} is greater than ${high[1]} value ${upper}`;
    at.at(field)
      .entry(name)
      .invalid(shown === 'low' ? lower : upper, detail);
  }
  checkRatio(value, at.at('maxLimitRequestRatio').entry(name));
  const [limitValue, request] = [value('default'), value('defaultRequest')];
  if (isOvercommitAllowed(name) || limitValue === undefined || request === undefined) return;
  if (compareQuantities(limitValue, request) === 0) return;
  const [high, low] = [formatQuantity(limitValue), formatQuantity(request)];
  const detail = `default value ${high} must equal to defaultRequest value ${low} in ${name}`;
  at.at('defaultRequest').entry(name).invalid(low, detail);
}

function checkRatio(value: (key: string) => Quantity | undefined, at: FieldReporter): void {
  const [ratio, min, max] = [value('maxLimitRequestRatio'), value('min'), value('max')];
  if (ratio === undefined) return;
  const shown = formatQuantity(ratio);
  const number = quantityToNumber(ratio);
  if (number < 1) at.invalid(shown, `ratio ${shown} is less than 1`);
  if (min === undefined || max === undefined) return;
  const limit = quantityToNumber(max) / quantityToNumber(min);
  if (number > limit) at.invalid(shown, `ratio ${shown} is greater than max/min = ${limit.toFixed(6)}`);
}
