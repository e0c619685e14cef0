import { describe, expect, it } from 'vitest';
import { quotedValue } from '../../src/schema/text/quoted-value.ts';
import { cutText, StatusError } from '../../src/wire/status-error.ts';
import { invalid } from '../../src/wire/status-errors.ts';

describe('cutText', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'abc...(1 more characters)'],
    ['ab\u{1f600}cd', 3, 'ab...(4 more characters)'],
    ['', 0, ''],
  ])('%s to %i', (text, length, want) => {
    expect(cutText(text, length)).toBe(want);
  });
});

describe('quotedValue', () => {
  it.each([
    ['a "text"', '"a \\"text\\""'],
    [{ a: [1, null, { b: true }], c: 'd' }, '{"a":[1,null,{"b":true}],"c":"d"}'],
    [[], '[]'],
    [1.5, '1.5'],
    [null, 'null'],
  ])('prints a short value whole', (value, want) => {
    expect(quotedValue(value)).toBe(want);
  });

  it.each([
    ['x'.repeat(5_000)],
    [Array.from({ length: 100_000 }, (_, index) => index)],
    [{ a: { b: Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [String(index), index])) } }],
    [{ ['k'.repeat(5_000)]: 1 }],
  ])('prints the beginning of a long one', (value) => {
    const text = quotedValue(value);
    expect(text.length).toBeLessThan(1_100);
    expect(text).toMatch(/more characters\)"?$/);
    expect(JSON.stringify(value).startsWith(text.slice(0, 500))).toBe(true);
  });
});

describe('the answer of a StatusError', () => {
  it('is what was said where that is short', () => {
    const problem = { field: 'spec.x', reason: 'FieldValueInvalid', message: 'Invalid value: 1: no' };
    expect(invalid({ group: 'g', kind: 'K' }, 'n', [problem]).toStatus()).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'K.g "n" is invalid: spec.x: Invalid value: 1: no',
      reason: 'Invalid',
      details: { name: 'n', group: 'g', kind: 'K', causes: [problem] },
      code: 422,
    });
  });

  it('is bounded in its message, in every cause and in their number', () => {
    const causes = Array.from({ length: 5_000 }, () => ({
      reason: 'R',
      message: 'm'.repeat(100_000),
      field: 'f'.repeat(9_000),
    }));
    const error = new StatusError(422, 'Invalid', 'm'.repeat(1_000_000), {
      name: 'n'.repeat(90_000),
      causes,
    });
    const text = JSON.stringify(error.toStatus());
    expect(text.length).toBeLessThan(64 * 1024 + 32 * 1024);
    expect(text).toMatch(/more characters\)/);
    expect(text).toMatch(/more causes\)/);
  });
});
