import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExactIntegers, parseExactJson } from '../../src/json/exact-json.ts';
import { JsonFloat } from '../../src/json/json-float.ts';
import { canonicalJson, jsonText } from '../../src/json/json-equal.ts';

describe('numbers', () => {
  it.each([
    { text: '0', integers: 0, exact: 0 },
    { text: '-0', integers: -0, exact: 0 },
    { text: '9007199254740991', integers: 9007199254740991, exact: 9007199254740991 },
    { text: '9007199254740992', integers: 9007199254740992n, exact: 9007199254740992n },
    { text: '-9007199254740993', integers: -9007199254740993n, exact: -9007199254740993n },
    { text: '9223372036854775807', integers: 9223372036854775807n, exact: 9223372036854775807n },
    { text: '-9223372036854775808', integers: -9223372036854775808n, exact: -9223372036854775808n },
    // Go reads these as floats.
    { text: '9223372036854775808', integers: 2 ** 63, exact: new JsonFloat(2 ** 63) },
    { text: '1.5', integers: 1.5, exact: new JsonFloat(1.5) },
    { text: '1e3', integers: 1000, exact: new JsonFloat(1000) },
    {
      text: '12345678901234567.0',
      integers: 12345678901234568,
      exact: new JsonFloat(12345678901234567),
    },
    { text: '0.12345678901234567', integers: 0.12345678901234567, exact: new JsonFloat(0.12345678901234567) },
  ])('$text', ({ text, integers, exact }) => {
    expect(parseExactIntegers(text)).toEqual(integers);
    expect(parseExactJson(text)).toEqual(exact);
    expect(parseExactIntegers(`{"a": [ ${text},12345678901234567]}`)).toEqual({
      a: [integers, 12345678901234567n],
    });
  });
});

describe('exact integers', () => {
  it.each([
    '{"image":"x@sha256:,1234567890123456789","n":"1234567890123456789"}',
    '{"a":"\\" ,1234567890123456789","b":[]}',
    '["\\u005c",{"1234567890123456789":null}]',
  ])('leave digits in strings alone: %s', (text) => {
    expect(parseExactIntegers(text)).toEqual(JSON.parse(text));
  });

  it('have a key __proto__ as any other', () => {
    const text = '{"__proto__":{"x":12345678901234567}}';
    expect(jsonText(parseExactIntegers(text))).toBe(text);
  });

  it.each(['', '{', '[12345678901234567', '[12345678901234567,]', '{"a":012345678901234567}', 'nul'])(
    'refuse %j as JSON.parse does',
    (text) => {
      expect(() => parseExactIntegers(text)).toThrow(SyntaxError);
    },
  );

  it('rather round than fail on what is nested deeper than the stack', () => {
    const depth = 100_000;
    const text = `${'['.repeat(depth)}12345678901234567${']'.repeat(depth)}`;
    let value: unknown = parseExactIntegers(text);
    while (Array.isArray(value)) value = value[0] as unknown;
    expect(Number(value)).toBe(12345678901234568);
  });

  const leaf = fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: 'binary' }),
    fc.boolean(),
    fc.constant(null),
  );
  const { document } = fc.letrec((tie) => ({
    document: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie('document'), { maxLength: 4 }),
      fc.dictionary(fc.string(), tie('document'), { maxKeys: 4 }),
    ),
  }));

  it('are written as they were read', () => {
    fc.assert(
      fc.property(document, (value) => {
        // The order of keys is not the same with a bigint and without.
        const text = canonicalJson(value);
        expect(canonicalJson(parseExactIntegers(text))).toBe(text);
        expect(canonicalJson(parseExactIntegers(jsonText(value)))).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });
});
