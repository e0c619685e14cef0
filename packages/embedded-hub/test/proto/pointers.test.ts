import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/json-value.ts';
import { decodeMessage } from '../../src/proto/decode-message.ts';
import type { Part } from './proto-writer.ts';
import { bytes, concat, message, text } from './proto-writer.ts';

describe('an empty text in protobuf', () => {
  it.each<{ name: string; type: string; parts: readonly Part[]; want: JsonObject }>([
    {
      name: 'stays as the default in the schema of a definition',
      type: 'extensions:apiextensions.v1.JSONSchemaProps',
      parts: [text(5, 'string'), text(4, ''), message(8, bytes(1, '""'))],
      want: { type: 'string', default: '' },
    },
    {
      name: 'stays as the class of a claim, and goes as the name of its volume',
      type: 'core.v1.PersistentVolumeClaimSpec',
      parts: [text(3, ''), text(5, '')],
      want: { storageClassName: '' },
    },
    {
      name: 'stays as the name of a port of an EndpointSlice',
      type: 'discovery.v1.EndpointPort',
      parts: [text(1, '')],
      want: { name: '' },
    },
    {
      name: 'goes as the name of a port of Endpoints',
      type: 'core.v1.EndpointPort',
      parts: [text(1, '')],
      want: {},
    },
  ])('$name', ({ type, parts, want }) => {
    expect(decodeMessage(type, concat(...parts))).toEqual(want);
  });
});
