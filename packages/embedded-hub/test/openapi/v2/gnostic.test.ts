import { describe, expect, it } from 'vitest';
import { encodeGnostic } from '../../../src/openapi/v2/gnostic.ts';
import { ProtoReader } from '../../../src/proto/proto-reader.ts';

type Decoded = readonly (readonly [field: number, value: unknown])[];

/** Fields of a message in their order; `below` tells which of them are messages, and of what. */
interface Shape {
  readonly [field: number]: Shape | 'text' | 'double';
}

function decode(bytes: Uint8Array, shape: Shape): Decoded {
  const reader = new ProtoReader(bytes);
  const fields: [number, unknown][] = [];
  while (!reader.done) {
    const { field, wire } = reader.tag();
    const below = shape[field];
    if (wire === 0) fields.push([field, reader.integer()]);
    else if (wire === 1) fields.push([field, reader.double()]);
    else if (typeof below === 'object') fields.push([field, decode(reader.bytes(), below)]);
    else fields.push([field, Buffer.from(reader.bytes()).toString()]);
  }
  return fields;
}

const named = (value: Shape): Shape => ({ 1: 'text', 2: value });
const ANY: Shape = { 2: 'text' };
const SCHEMA: Shape = { 20: ANY, 21: { 1: { 22: { 1: 'text' } } }, 22: { 1: 'text' }, 31: named(ANY) };

describe('gnostic', () => {
  const schema = (value: object): unknown => {
    const bytes = encodeGnostic({ definitions: { Name: value as never } });
    const [definitions] = decode(bytes, { 9: { 1: named(SCHEMA) } });
    const [entry] = definitions?.[1] as Decoded;
    const [name, body] = entry?.[1] as Decoded;
    expect(definitions?.[0]).toBe(9);
    expect(name).toEqual([1, 'Name']);
    return body?.[1];
  };

  it.each([
    ['a reference', { $ref: '#/definitions/X' }, [[1, '#/definitions/X']]],
    [
      'a type',
      { type: 'string', format: 'byte' },
      [
        [22, [[1, 'string']]],
        [2, 'byte'],
      ],
    ],
    [
      'a number',
      { maximum: 1.5, multipleOf: 0.5 },
      [
        [7, 1.5],
        [6, 0.5],
      ],
    ],
    [
      'a length',
      { maxLength: 300, uniqueItems: true },
      [
        [11, 300],
        [16, 1],
      ],
    ],
    [
      'names',
      { required: ['a', 'b'] },
      [
        [19, 'a'],
        [19, 'b'],
      ],
    ],
    [
      'values',
      { enum: ['a', 1] },
      [
        [20, [[2, '"a"']]],
        [20, [[2, '1']]],
      ],
    ],
    ['further keys', { additionalProperties: { type: 'string' } }, [[21, [[1, [[22, [[1, 'string']]]]]]]]],
    ['any further keys', { additionalProperties: true }, [[21, [[2, 1]]]]],
    [
      'an extension',
      { 'x-kubernetes-list-type': 'set' },
      [
        [
          31,
          [
            [1, 'x-kubernetes-list-type'],
            [2, [[2, '"set"']]],
          ],
        ],
      ],
    ],
    ['a word that v2 does not have', { nullable: true }, []],
  ])('%s', (_title, given, want) => {
    expect(schema(given)).toEqual(want);
  });

  it('escapes what YAML does not take as it is', () => {
    expect(schema({ enum: ['a\u0085\u007f\ufeff'] })).toEqual([[20, [[2, '"a\\u0085\\u007f\\ufeff"']]]]);
  });

  it('writes messages of every length', () => {
    for (const length of [0, 1, 126, 127, 128, 16_383, 16_384, 200_000]) {
      const text = 'x'.repeat(length);
      expect(schema({ description: text })).toEqual([[4, text]]);
    }
  });
});
