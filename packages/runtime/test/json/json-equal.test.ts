import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, jsonEqual } from '../../src/json/json-equal.ts';

describe('canonicalJson', () => {
  it.each([
    {
      name: 'sorts keys at every depth',
      given: { b: { d: 1, c: [{ z: 1, a: 2 }] }, a: 0 },
      want: '{"a":0,"b":{"c":[{"a":2,"z":1}],"d":1}}',
    },
    { name: 'keeps the order of lists', given: [3, 1, 2], want: '[3,1,2]' },
    { name: 'leaves undefined out of objects', given: { a: undefined, b: 1 }, want: '{"b":1}' },
    { name: 'writes null for undefined in lists', given: [undefined, '', null], want: '[null,"",null]' },
    {
      name: 'takes names like any other',
      given: JSON.parse('{"__proto__":1,"a\\"b":2}') as unknown,
      want: '{"__proto__":1,"a\\"b":2}',
    },
    {
      name: 'takes a key with the name of a method like any other',
      given: { data: { toJSON: 'x', then: { toJSON: null } } },
      want: '{"data":{"then":{"toJSON":null},"toJSON":"x"}}',
    },
    {
      name: 'writes what says itself how it is written',
      given: { at: new Date(0), it: { toJSON: () => ({ b: 1, a: 2 }) } },
      want: '{"at":"1970-01-01T00:00:00.000Z","it":{"a":2,"b":1}}',
    },
    { name: 'writes numbers as JSON does', given: [1e21, -0, 1.5, Number.NaN], want: '[1e+21,0,1.5,null]' },
    { name: 'has empty ones', given: { a: [], b: {} }, want: '{"a":[],"b":{}}' },
  ])('$name', ({ given, want }) => expect(canonicalJson(given)).toBe(want));

  it('means the same as the value, and is equal exactly for equal values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const back = JSON.parse(canonicalJson(a)) as unknown;
        expect(back).toEqual(JSON.parse(JSON.stringify(a)));
        expect(canonicalJson(back)).toBe(canonicalJson(a));
        expect(canonicalJson(a) === canonicalJson(b)).toBe(
          jsonEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b))),
        );
      }),
    );
  });

  it('puts names in the order in which JavaScript keeps them once they are sorted', () => {
    const names = fc.oneof(
      fc.string(),
      fc.nat(200).map(String),
      fc.constantFrom('01', '4294967295', '4294967294'),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(names, fc.nat())), (entries) => {
        const sorted = Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
        expect(canonicalJson(Object.fromEntries(entries))).toBe(JSON.stringify(sorted));
      }),
    );
  });
});

describe('jsonEqual', () => {
  it.each<{ name: string; a: unknown; b: unknown; want: boolean }>([
    { name: 'a key that is undefined on one side', a: { x: 1, y: undefined }, b: { x: 1 }, want: true },
    { name: 'other keys that are undefined', a: { x: undefined }, b: { y: undefined }, want: true },
    {
      name: 'as many keys, one of them undefined',
      a: { x: undefined, y: 1 },
      b: { y: 1, z: 2 },
      want: false,
    },
    { name: 'another key of the same value', a: { x: 1 }, b: { y: 1 }, want: false },
    { name: 'a key that Object has as well', a: { x: 1, toString: undefined }, b: { x: 1 }, want: true },
    { name: 'the value that such a key inherits', a: { y: 1 }, b: { toString: 1 }, want: false },
    { name: 'keys in another order', a: { x: 1, y: [2] }, b: { y: [2], x: 1 }, want: true },
    { name: 'a list and an object', a: [1], b: { 0: 1 }, want: false },
    { name: 'a longer list', a: [1], b: [1, 2], want: false },
    { name: 'nothing and an object', a: null, b: {}, want: false },
  ])('$name', ({ a, b, want }) => {
    expect(jsonEqual(a, b)).toBe(want);
    expect(jsonEqual(b, a)).toBe(want);
  });

  it('accounts for each list and object before it is read, and ends when that throws', () => {
    const spent: string[] = [];
    const spend = (count: number, isList: boolean) => {
      spent.push(`${isList ? 'list' : 'object'} of ${count}`);
      if (count === 3) throw new Error('too much');
    };
    const value = () => ({ a: [{ b: 1 }, 2], c: { d: 1, e: 2, f: 3 }, g: [] });
    expect(() => jsonEqual({ wrap: value() }, { wrap: value() }, spend)).toThrow('too much');
    expect(spent).toEqual(['object of 1', 'object of 3']);
  });
});
