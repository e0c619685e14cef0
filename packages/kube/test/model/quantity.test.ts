import { describe, expect, it } from 'vitest';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  negateQuantity,
  parseQuantity,
  quantityToInteger,
  quantityToNumber,
} from '../../src/model/quantity.ts';
import type { Quantity } from '../../src/model/quantity.ts';

function quantity(text: string | number): Quantity {
  const parsed = parseQuantity(text);
  if (parsed === undefined) throw new Error(`not a quantity: ${text}`);
  return parsed;
}

describe('quantities', () => {
  it.each([
    ['0', 0, '0'],
    ['1500m', 1.5, '1500m'],
    ['3.5', 3.5, '3500m'],
    ['0.5Gi', 536_870_912, '512Mi'],
    ['1e9', 1e9, '1e9'],
    ['1E3', 1000, '1e3'],
    ['1E', 1e18, '1E'],
    ['2k', 2000, '2k'],
    ['49265496Ki', 50_447_867_904, '49265496Ki'],
    ['1024Ki', 1_048_576, '1Mi'],
    ['1000Ki', 1_024_000, '1000Ki'],
    ['100', 100, '100'],
    ['1000', 1000, '1k'],
    ['1234567', 1_234_567, '1234567'],
    ['0.1n', 1e-9, '1n'],
    ['-0.1n', -1e-9, '-1n'],
    ['.5', 0.5, '500m'],
    ['5.', 5, '5'],
    ['+7', 7, '7'],
    ['-1Ki', -1024, '-1Ki'],
    ['0.001Ki', 1.024, '1024m'],
    ['0.0001Ki', 0.1024, '102400u'],
    ['10E', 1e19, '10E'],
    ['16Ei', 9_223_372_036_854_775_807, '9223372036854775807'],
    ['1.0001Ki', 1024.1024, '1025'],
    ['0.9999Ki', 1023.8976, '1023897600u'],
    ['1e-3', 0.001, '1e-3'],
    [4, 4, '4'],
    [0.25, 0.25, '250m'],
    [1e21, 1e21, '1e21'],
  ] as [string | number, number, string][])('%s is %d, canonically %s', (text, value, canonical) => {
    expect(quantityToNumber(quantity(text))).toBe(value);
    expect(formatQuantity(quantity(text))).toBe(canonical);
  });

  it.each([
    '',
    'm',
    '.',
    '1x',
    '1 k',
    '0x10',
    '1KI',
    '1ki',
    '1K',
    '--1',
    '1e',
    '1e999999999',
    'NaN',
    '1.2.3',
    '9'.repeat(2000),
  ])('refuses %s', (text) => {
    expect(parseQuantity(text)).toBeUndefined();
  });

  it('compares exactly across formats', () => {
    expect(compareQuantities(quantity('1'), quantity('1000m'))).toBe(0);
    expect(compareQuantities(quantity('1Ki'), quantity('1k'))).toBe(1);
    expect(compareQuantities(quantity('9007199254740993'), quantity('9007199254740992'))).toBe(1);
    expect(compareQuantities(quantity('-1n'), quantity('0'))).toBe(-1);
  });

  it('adds and negates exactly', () => {
    expect(formatQuantity(addQuantities(quantity('1Gi'), quantity('512Mi')))).toBe('1536Mi');
    expect(formatQuantity(addQuantities(quantity('100m'), quantity('2')))).toBe('2100m');
    expect(formatQuantity(negateQuantity(quantity('1k')))).toBe('-1k');
  });

  it('gives whole numbers within int64 only', () => {
    expect(quantityToInteger(quantity('2k'))).toBe(2000n);
    expect(quantityToInteger(quantity('1500m'))).toBeUndefined();
    expect(quantityToInteger(quantity('10E'))).toBeUndefined();
  });
});
