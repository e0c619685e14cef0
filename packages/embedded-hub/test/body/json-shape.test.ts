import { describe, expect, it } from 'vitest';
import { duplicateFields } from '../../src/body/json-shape.ts';
import { jsonShape } from '../../src/body/json-shape.ts';

describe('jsonShape', () => {
  it.each([
    ['1', { values: 1, keys: 0, depth: 0 }],
    ['[1,2,[]]', { values: 5, keys: 0, depth: 2 }],
    ['{"a":{"b":"x,[{:\\"}"}}', { values: 3, keys: 2, depth: 2 }],
    ['"\\\\"', { values: 1, keys: 0, depth: 0 }],
    ['{"a":"unfinished', { values: 2, keys: 1, depth: 1 }],
    [']]]', { values: 1, keys: 0, depth: 0 }],
  ])('of %s', (text, want) => {
    expect(jsonShape(text)).toEqual(want);
  });
});

describe('duplicateFields', () => {
  it.each([
    ['{"a":1,"a":2,"a":3}', ['a']],
    ['{"a":{"x":1,"x":1},"a":{"x":1,"x":1}}', ['a.x', 'a']],
    ['[{"a":1},{"a":1,"\\u0061":2}]', ['[1].a']],
    ['{"a":"{\\"a\\":1,\\"a\\":1}"}', []],
  ])('of %s', (text, want) => {
    expect(duplicateFields(text, JSON.parse(text))).toEqual(want);
  });

  it('reports a hundred at most, each of bounded length', () => {
    const key = 'k'.repeat(3_000);
    const many = Array.from({ length: 500 }, (_, index) => `"${String(index)}${key}":1`);
    const text = `{"${key}":{${[...many, ...many].join(',')}}}`;
    const found = duplicateFields(text, JSON.parse(text));
    expect(found).toHaveLength(100);
    for (const place of found) expect(place.length).toBeLessThan(1_200);
  });
});
