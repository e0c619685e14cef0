import type { Quantity } from '@berth/kube/model/quantity';
import {
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityToInteger,
} from '@berth/kube/model/quantity';
import { qualifiedName } from '@berth/kube/model/selector/name-rules';
import { type JsonObject, getOwn, type JsonValue } from '../../json/json-value.ts';
import type { FieldReporter } from './field-reporter.ts';

export const ZERO: Quantity = { mantissa: 0n, exponent: 0, format: 'DecimalSI' };

const PERCENT = /^[0-9]+%$/;
const PERCENT_TEXT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];
const CONTAINER = new Set(COMPUTE);
const COUNTS = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];
const INTEGERS = new Set(COUNTS);
const QUOTA = new Set([
  ...COMPUTE,
  ...COMPUTE.map((name) => `requests.${name}`),
  ...COMPUTE.map((name) => `limits.${name}`),
  'requests.storage',
  ...COUNTS,
]);
/**
 * `storage` is not valid in a quota, and a limit of ephemeral storage is not a standard object
 * resource.
 */
const STANDARD = new Set([...[...QUOTA].filter((name) => name !== 'limits.ephemeral-storage'), 'storage']);

const NATIVE_PREFIX = 'kubernetes.io/';

/** The quantity under `key`; undefined when there is none. */
export function quantityAt(object: JsonObject | undefined, key: string): Quantity | undefined {
  const value = object === undefined ? undefined : getOwn(object, key);
  return typeof value === 'string' || typeof value === 'number' ? parseQuantity(value) : undefined;
}

/** Visits each quantity of a resource list. */
export function eachQuantity(
  list: JsonObject | undefined,
  at: FieldReporter,
  check: (name: string, quantity: Quantity, place: FieldReporter) => void,
): void {
  for (const name of Object.keys(list ?? {})) {
    const quantity = quantityAt(list, name);
    if (quantity !== undefined) check(name, quantity, at.entry(name));
  }
}

export function checkPositiveQuantity(quantity: Quantity, at: FieldReporter): void {
  if (compareQuantities(quantity, ZERO) <= 0)
    at.invalid(formatQuantity(quantity), 'must be greater than zero');
}

export function checkNonNegativeQuantity(quantity: Quantity, at: FieldReporter): void {
  if (compareQuantities(quantity, ZERO) < 0)
    at.invalid(formatQuantity(quantity), 'must be greater than or equal to 0');
}

/** Source: pkg/apis/core/validation (ValidateResourceQuantityValue). */
export function checkResourceQuantity(name: string, quantity: Quantity, at: FieldReporter): void {
  checkNonNegativeQuantity(quantity, at);
  if (isIntegerResource(name) && quantityToInteger(quantity) === undefined)
    at.invalid(formatQuantity(quantity), 'must be an integer');
}

/* Resource names of quotas and limits. Source: pkg/apis/core/helper. */

export const isHugePage = (name: string): boolean => name.startsWith('hugepages-');
const isQuotaHugePage = (name: string): boolean => isHugePage(name) || name.startsWith('requests.hugepages-');
const isNative = (name: string): boolean => !name.includes('/') || name.includes(NATIVE_PREFIX);

function isExtended(name: string): boolean {
  if (isNative(name) || name.startsWith('requests.')) return false;
  return qualifiedName(`requests.${name}`).length === 0;
}

/** Whether a request may be smaller than its limit. */
export const isOvercommitAllowed = (name: string): boolean => isNative(name) && !isHugePage(name);
const isIntegerResource = (name: string): boolean => INTEGERS.has(name) || isExtended(name);
export const isStandardQuota = (name: string): boolean => QUOTA.has(name) || isQuotaHugePage(name);

/** Source: pkg/apis/core/validation (ValidateResourceName). */
export function checkResourceName(name: string, at: FieldReporter): void {
  const known = at.problems.length;
  at.validName(name, qualifiedName);
  if (at.problems.length > known) return;
  if (name.includes('/') || STANDARD.has(name) || isQuotaHugePage(name)) return;
  at.invalid(name, 'must be a standard resource type or fully qualified');
}

export function checkContainerResourceName(name: string, at: FieldReporter): void {
  checkResourceName(name, at);
  if (!name.includes('/')) {
    if (!CONTAINER.has(name) && !isHugePage(name))
      at.invalid(name, 'must be a standard resource for containers');
  } else if (!isNative(name) && !isExtended(name))
    at.invalid(name, "doesn't follow extended resource name standard");
}

export function checkQuotaResourceName(name: string, at: FieldReporter): void {
  checkResourceName(name, at);
  if (!name.includes('/') && !isStandardQuota(name))
    at.invalid(name, 'must be a standard resource for quota');
}

/**
 * A non-negative integer or a percentage. Source: pkg/apis/apps/validation
 * (ValidatePositiveIntOrPercent).
 */
export function checkCountOrPercent(value: JsonValue | undefined, at: FieldReporter): void {
  if (typeof value === 'string' && !PERCENT.test(value)) at.invalid(value, PERCENT_TEXT);
  else if (typeof value === 'number') at.nonNegative(value);
}

/** A percentage of at most 100; a number may be larger. */
export function checkAtMostHundredPercent(value: JsonValue | undefined, at: FieldReporter): void {
  if (isPercent(value) && Number(value.slice(0, -1)) > 100)
    at.invalid(value, 'must not be greater than 100%');
}

/** The number of a count or of a percentage. */
export function countOrPercent(value: JsonValue | undefined): number {
  if (isPercent(value)) return Number(value.slice(0, -1));
  return typeof value === 'number' ? value : 0;
}

function isPercent(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && PERCENT.test(value);
}
