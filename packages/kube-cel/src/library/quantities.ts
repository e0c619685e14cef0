import type { Quantity } from '@berth/kube/model/quantity';
import {
  addQuantities,
  compareQuantities,
  negateQuantity,
  parseQuantity,
  quantityToInteger,
  quantityToNumber,
} from '@berth/kube/model/quantity';
import { traverseCost } from '../value/cel-cost.ts';
import { CelDouble, CelFailure, CelOpaque, type CelResult } from '../value/cel-value.ts';
import { type CelOverload, overload } from '../value/overload.ts';

/** The Kubernetes quantity library. */
export class CelQuantity extends CelOpaque {
  readonly typeName = 'kubernetes.Quantity';
  readonly quantity: Quantity;

  constructor(quantity: Quantity) {
    super();
    this.quantity = quantity;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelQuantity && compareQuantities(this.quantity, other.quantity) === 0;
  }
}

function quantityOf(text: string): CelResult {
  const quantity = readQuantity(text);
  return quantity === undefined
    ? new CelFailure(`quantity: ${JSON.stringify(text)} is not a Kubernetes quantity`)
    : new CelQuantity(quantity);
}

/** Unlike `parseQuantity`, it does not accept surrounding spaces. */
function readQuantity(text: string): Quantity | undefined {
  return /\s/.test(text) ? undefined : parseQuantity(text);
}

const ofInt = (value: bigint): Quantity => ({ mantissa: value, exponent: 0, format: 'DecimalSI' });

const compare = (a: CelQuantity, b: CelQuantity): number =>
  Math.sign(compareQuantities(a.quantity, b.quantity));

function asInteger({ quantity }: CelQuantity): CelResult {
  return quantityToInteger(quantity) ?? new CelFailure('cannot convert value to integer');
}

const sum = (a: CelQuantity, b: Quantity): CelQuantity => new CelQuantity(addQuantities(a.quantity, b));

export const QUANTITIES: readonly CelOverload[] = [
  overload('quantity(string): kubernetes.Quantity', quantityOf, traverseCost),
  overload('isQuantity(string): bool', (text: string) => readQuantity(text) !== undefined, traverseCost),
  overload('kubernetes.Quantity.sign(): int', (a: CelQuantity) =>
    a.quantity.mantissa === 0n ? 0n : a.quantity.mantissa < 0n ? -1n : 1n,
  ),
  overload(
    'kubernetes.Quantity.isInteger(): bool',
    (a: CelQuantity) => quantityToInteger(a.quantity) !== undefined,
  ),
  overload('kubernetes.Quantity.asInteger(): int', asInteger),
  overload(
    'kubernetes.Quantity.asApproximateFloat(): double',
    (a: CelQuantity) => new CelDouble(quantityToNumber(a.quantity)),
  ),
  overload('kubernetes.Quantity.compareTo(kubernetes.Quantity): int', (a: CelQuantity, b: CelQuantity) =>
    BigInt(compare(a, b)),
  ),
  overload(
    'kubernetes.Quantity.isLessThan(kubernetes.Quantity): bool',
    (a: CelQuantity, b: CelQuantity) => compare(a, b) < 0,
  ),
  overload(
    'kubernetes.Quantity.isGreaterThan(kubernetes.Quantity): bool',
    (a: CelQuantity, b: CelQuantity) => compare(a, b) > 0,
  ),
  overload(
    'kubernetes.Quantity.add(kubernetes.Quantity): kubernetes.Quantity',
    (a: CelQuantity, b: CelQuantity) => sum(a, b.quantity),
  ),
  overload('kubernetes.Quantity.add(int): kubernetes.Quantity', (a: CelQuantity, b: bigint) =>
    sum(a, ofInt(b)),
  ),
  overload(
    'kubernetes.Quantity.sub(kubernetes.Quantity): kubernetes.Quantity',
    (a: CelQuantity, b: CelQuantity) => sum(a, negateQuantity(b.quantity)),
  ),
  overload('kubernetes.Quantity.sub(int): kubernetes.Quantity', (a: CelQuantity, b: bigint) =>
    sum(a, negateQuantity(ofInt(b))),
  ),
];
