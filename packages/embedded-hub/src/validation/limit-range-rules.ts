import type { Quantity } from '@berth/kube/model/quantity';
import { compareQuantities, formatQuantity, quantityToNumber } from '@berth/kube/model/quantity';
import { qualifiedName } from '@berth/kube/model/selector/name-rules';
import type { JsonObject } from '../json/json-value.ts';
import { getOwn, objectAt, textAt } from '../json/json-value.ts';
import type { FieldReporter, KindRules } from './values/field-reporter.ts';
import { eachQuantity, quantityAt } from './values/quantity-rules.ts';
import {
  checkContainerResourceName,
  checkResourceName,
  isOvercommitAllowed,
} from './values/resource-names.ts';

const TYPES = ['Pod', 'Container', 'PersistentVolumeClaim'];

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
