import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/json/json-value.ts';
import { textAt } from '../../src/json/json-value.ts';
import { decodeProtobuf } from '../../src/proto/decode-protobuf.ts';
import { messageFields } from '../../src/proto/message-types.ts';
import { BUILTIN_RESOURCES } from '../../src/scheme/builtin/builtin-resources.ts';
import { builtinSchema } from '../../src/scheme/builtin/builtin-schemas.ts';
import type { Schema } from '../../src/schema/schema.ts';
import { typedForm } from '../../src/schema/typed-form.ts';
import { fullObjects } from './full-objects.ts';

interface Recorded {
  readonly base64: string;
  /** The same Go object as JSON. */
  readonly want: JsonObject;
}

/** What the Go types of Kubernetes 1.35.4 make of `fullObjects`, recorded with scripts/record-protobuf. */
const recorded = gunzipSync(readFileSync(new URL('go-bodies.jsonl.gz', import.meta.url)))
  .toString('utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded);

const rows = BUILTIN_RESOURCES.filter(({ review }) => review !== true);
const schemaAt = (index: number): Schema => builtinSchema(rows[index % rows.length]?.schema ?? '');
const cases = recorded.map((one, index) => ({
  ...one,
  index,
  name: [
    index < rows.length ? 'full' : 'zero',
    textAt(one.want, 'apiVersion'),
    textAt(one.want, 'kind'),
  ].join(' '),
}));

describe('protobuf bodies of client-go with all fields', () => {
  it('are recorded for every kind', () => {
    const kinds = [...fullObjects('full'), ...fullObjects('zero')].map(({ apiVersion, kind }) => [
      apiVersion,
      kind,
    ]);
    expect(recorded.map(({ want }) => [want['apiVersion'], want['kind']])).toEqual(kinds);
  });

  it.each(cases)('$name is read as the JSON of the same object', ({ base64, want, index }) => {
    const object = decodeProtobuf(Buffer.from(base64, 'base64'));
    const schema = schemaAt(index);
    expect(typedForm(schema, object)).toEqual(typedForm(schema, withoutInnerKinds(want)));
  });

  it.each(cases.slice(0, rows.length))('$name is written as Go writes it', ({ want, index }) => {
    expect(typedForm(schemaAt(index), want)).toEqual(want);
  });
});

describe('messages and schemas', () => {
  it('agree on what is a pointer', () => {
    const seen = new Set<string>();
    const differing: string[] = [];
    const visit = (name: string): void => {
      if (seen.has(name)) return;
      seen.add(name);
      for (const field of messageFields(name)?.values() ?? []) {
        const schema = hasSchema(name) ? builtinSchema(name) : undefined;
        if (schema?.properties?.has(field.name) === true) {
          const pointer = schema.goFields?.get(field.name)?.pointer === true;
          if (pointer !== field.pointer) differing.push(`${name}.${field.name}`);
        }
        if (messageFields(field.type) !== undefined) visit(field.type);
      }
    };
    for (const { schema } of rows) visit(schema);
    expect({ differing, enough: seen.size > 250 }).toEqual({ differing: [], enough: true });
  });
});

/** Protobuf has no apiVersion and kind in what is not the whole object. */
function withoutInnerKinds(want: JsonObject): JsonObject {
  const text = JSON.stringify(want, (key, value: JsonValue) =>
    key === 'volumeClaimTemplates'
      ? (value as JsonObject[]).map(({ apiVersion: _apiVersion, kind: _kind, ...rest }) => rest)
      : value,
  );
  return JSON.parse(text) as JsonObject;
}

function hasSchema(name: string): boolean {
  try {
    return builtinSchema(name) !== undefined;
  } catch {
    return false;
  }
}
