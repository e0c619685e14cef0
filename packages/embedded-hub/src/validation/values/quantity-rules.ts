import type { Quantity } from '@berth/kube/model/quantity';
import {
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityToInteger,
} from '@berth/kube/model/quantity';
import type { JsonObject } from '../../json/json-value.ts';
import { getOwn } from '../../json/json-value.ts';
import type { FieldReporter } from './field-reporter.ts';
import { isIntegerResource } from './resource-names.ts';

export const ZERO: Quantity = { mantissa: 0n, exponent: 0, format: 'DecimalSI' };

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
