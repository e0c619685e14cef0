import { describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { readFeedback } from '../../../src/rules/feedback/feedback.ts';

const RULES = [{ type: 'JSONPaths' as const, jsonPaths: [{ name: 'n', path: '.n' }] }];

/** As an object arrives from an API: text of Go's encoder, read by JSON.parse. */
function read(n: string, rawJson: boolean): unknown {
  const text = `{"apiVersion":"v1","kind":"X","metadata":{"name":"x"},"n":${n}}`;
  const { values, errors } = readFeedback(JSON.parse(text) as KubeObject, RULES, { rawJson });
  return values[0]?.fieldValue ?? errors[0]?.text;
}

const float = 'the type float64 of the value for n is not found';

// Go reads a whole number into an int64 where it fits and into a float64 where it does not.
describe('numbers of live objects', () => {
  it.each([
    { n: '1', given: { type: 'Integer', integer: 1 }, raw: { type: 'Integer', integer: 1 } },
    { n: '-0', given: { type: 'Integer', integer: -0 }, raw: { type: 'Integer', integer: -0 } },
    { n: '1.5', given: float, raw: { type: 'JsonRaw', jsonRaw: '1.5' } },
    { n: '9007199254740991', given: { type: 'Integer', integer: 9007199254740991 } },
    { n: '-9223372036854775808', given: { type: 'Integer', integer: -(2 ** 63) } },
    { n: '9223372036854775808', given: float, raw: { type: 'JsonRaw', jsonRaw: '9223372036854776000' } },
    { n: '1e+21', given: float, raw: { type: 'JsonRaw', jsonRaw: '1e+21' } },
    { n: '-1e+300', given: float, raw: { type: 'JsonRaw', jsonRaw: '-1e+300' } },
  ])('$n', ({ n, given, raw = given }) => {
    expect(read(n, false)).toEqual(given);
    expect(read(n, true)).toEqual(raw);
  });
});
