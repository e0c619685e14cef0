import { describe, expect, it } from 'vitest';
import { DEFAULT_YAML_BUDGET, loadDocument } from '../../../src/adapters/yaml/load-document.ts';

function valueOf(text: string): unknown {
  const loaded = loadDocument(text, DEFAULT_YAML_BUDGET);
  if (!loaded.ok) throw new Error(loaded.message);
  return loaded.value;
}

/** Recorded from `kubectl annotate --local -o json`. */
const SCALARS: readonly [text: string, want: unknown][] = [
  ['yes', true],
  ['Yes', true],
  ['on', true],
  ['y', true],
  ['no', false],
  ['off', false],
  ['n', false],
  ['true', true],
  ['TRUE', true],
  ['tRUE', 'tRUE'],
  ['~', null],
  ['null', null],
  ['Null', null],
  ['- ', [null]],
  ['0777', 511],
  ['012', 10],
  ['0o17', 15],
  ['0x1F', 31],
  ['0X1f', 31],
  ['0b11', 3],
  ['-0b11', -3],
  ['1_000', 1000],
  ['+12', 12],
  ['-7', -7],
  ['-0', 0],
  ['1e3', 1000],
  ['08', 8],
  ['1.0', 1],
  ['1.', 1],
  ['.5', 0.5],
  ['-1.5e-3', -0.0015],
  ['1e400', '1e400'],
  ['2024-01-01', '2024-01-01'],
  ['2001-12-14t21:59:43.10-05:00', '2001-12-14t21:59:43.10-05:00'],
  ['12:30:45', '12:30:45'],
  ['1.2.3', '1.2.3'],
  ['0x', '0x'],
  ['0o8', '0o8'],
  ['.', '.'],
  ['-', [null]],
  ['0X1F', 31],
  ['0B11', 3],
  ['1__0', 10],
  ['0_7', 7],
  ['_1', '_1'],
  ['1_', 1],
  ['.5_0', 0.5],
  ['0x_1F', 31],
  ['1e3_0', 1e30],
  ['-.5', -0.5],
  ['+.5', 0.5],
  ['12e', '12e'],
  ['-0777', -511],
  ['1_000.5', 1000.5],
  ['.1_2', 0.12],
  ['1_e3', 1000],
  ['+0b1', 1],
  ['-0b_1', -1],
  ['0b2', '0b2'],
  ['-.5_0', -0.5],
  ['0x1_', 1],
  ['0_', 0],
  ['00', 0],
  ['-00', 0],
  ['1e3.5', '1e3.5'],
  ['.e1', '.e1'],
  ['-y', '-y'],
  ['NaN', 'NaN'],
  ['inf', 'inf'],
  ['018', 18],
  ['0O17', 15],
  ['1.5e300', 1.5e300],
  ['"yes"', 'yes'],
  ["'1'", '1'],
  ['!!str 1', '1'],
  ['!!int "5"', 5],
  ['!!float 3', 3],
  ['!!bool "yes"', true],
];

describe('plain scalars mean what kubectl means', () => {
  it.each(SCALARS)('%s', (text, want) => {
    expect(valueOf(text)).toEqual(want);
  });

  it.each([
    ['n: 1', { false: 1 }],
    ['on: 1', { true: 1 }],
    ['012: a', { 10: 'a' }],
    ['1.0: a', { 1: 'a' }],
  ])('as a key: %s', (text, want) => {
    expect(valueOf(text)).toEqual(want);
  });

  it('merges <<, and the own keys win', () => {
    expect(valueOf('base: &b {a: 1, c: 2}\nx:\n  <<: *b\n  a: 3\n')).toEqual({
      base: { a: 1, c: 2 },
      x: { a: 3, c: 2 },
    });
  });

  it.each([
    ['a: .inf', 'JSON has no such number', 1, 4],
    ['a: 1\nb:   .NaN  # x', 'JSON has no such number', 2, 6],
    ['a: 12345678901234567890', 'would lose digits', 1, 4],
  ])('refuses what JSON or a number cannot hold: %s', (text, message, line, column) => {
    const loaded = loadDocument(text, DEFAULT_YAML_BUDGET);
    expect(loaded).toMatchObject({ ok: false, kind: 'scalar', line, column });
    expect(loaded.ok ? '' : loaded.message).toContain(message);
  });
});
