import { describe, expect, it } from 'vitest';
import { mergePatch } from '../../src/json/merge-patch.ts';

/** The first fifteen are the examples of RFC 7386, appendix A. */
describe('a JSON merge patch', () => {
  it.each([
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"b"}', '["c"]', '["c"]'],
    ['{"a":"foo"}', 'null', 'null'],
    ['{"a":"foo"}', '"bar"', '"bar"'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
    ['{"a":1}', '{"__proto__":{"b":2}}', '{"a":1,"__proto__":{"b":2}}'],
  ])('turns %s with %s into %s', (target, patch, want) => {
    const input = JSON.parse(target) as unknown;
    expect(JSON.stringify(mergePatch(input, JSON.parse(patch)))).toBe(want);
    expect(JSON.stringify(input)).toBe(target);
  });

  it('leaves alone what is undefined in the patch', () => {
    expect(mergePatch({ a: 1 }, { a: undefined })).toEqual({ a: 1 });
  });
});
