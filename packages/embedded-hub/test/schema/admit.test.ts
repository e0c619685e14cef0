import { describe, expect, it } from 'vitest';
import { applyDefaults } from '../../src/schema/default-values.ts';
import {
  dns1035Label,
  dnsLabel,
  dnsSubdomain,
  labelValue,
  pathSegment,
  qualifiedName,
} from '@berth/kube/model/selector/name-rules';
import { compilePattern } from '../../src/schema/text/pattern.ts';
import { prune } from '../../src/schema/prune.ts';
import { validateRules } from '../../src/schema/cel/validate-rules.ts';
import { validateEmbedded } from '../../src/schema/embedded-resources.ts';
import { validateValue } from '../../src/schema/validate-value.ts';
import { isDateTime, matchesStringFormat } from '../../src/schema/text/value-format.ts';
import type { JsonObject, JsonValue } from '../../src/json/json-value.ts';
import { compileSchema } from '../../src/scheme/compile-schema.ts';
import type { FieldProblem } from '../../src/wire/status-errors.ts';

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});

describe('prune', () => {
  it.each<{ name: string; schema: JsonObject; value: JsonValue; want: JsonValue; unknown: string[] }>([
    {
      name: 'unknown fields at every depth',
      schema: object({
        a: object({ b: { type: 'string' } }),
        l: { type: 'array', items: object({ x: { type: 'string' } }) },
      }),
      value: { a: { b: '1', c: 2 }, l: [{ x: '1' }, { y: 1 }], z: 1 },
      want: { a: { b: '1' }, l: [{ x: '1' }, {}] },
      unknown: ['a.c', 'l[1].y', 'z'],
    },
    {
      name: 'nothing below preserve-unknown',
      schema: object({ a: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }),
      value: { a: { b: { c: 1 } } },
      want: { a: { b: { c: 1 } } },
      unknown: [],
    },
    {
      name: 'known parts of a preserved object still',
      schema: object({ a: object({ k: object({}) }, { 'x-kubernetes-preserve-unknown-fields': true }) }),
      value: { a: { free: { x: 1 }, k: { gone: 1 } } },
      want: { a: { free: { x: 1 }, k: {} } },
      unknown: ['a.k.gone'],
    },
    {
      name: 'values of maps',
      schema: { type: 'object', additionalProperties: object({ a: { type: 'string' } }) },
      value: { m: { a: '1', b: 2 } },
      want: { m: { a: '1' } },
      unknown: ['m.b'],
    },
    {
      name: 'everything in an object that declares nothing',
      schema: { type: 'object' },
      value: { a: 1 },
      want: {},
      unknown: ['a'],
    },
    {
      name: 'keeps what an embedded object always has',
      schema: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: {} },
      value: { apiVersion: 'v1', kind: 'X', metadata: { name: 'n' }, spec: 1 },
      want: { apiVersion: 'v1', kind: 'X', metadata: { name: 'n' } },
      unknown: ['spec'],
    },
    {
      name: 'prototype names like any other',
      schema: object({}),
      value: JSON.parse('{"__proto__":1,"constructor":2}') as JsonValue,
      want: {},
      unknown: ['__proto__', 'constructor'],
    },
  ])('$name', ({ schema, value, want, unknown }) => {
    const found: string[] = [];
    expect(prune(compileSchema(schema), value, found)).toEqual(want);
    expect(found).toEqual(unknown);
  });

  it('returns the value itself when nothing goes', () => {
    const value = { a: [{ b: '1' }] };
    const schema = compileSchema(object({ a: { type: 'array', items: object({ b: { type: 'string' } }) } }));
    expect(prune(schema, value, [])).toBe(value);
  });
});

describe('defaults', () => {
  const schema = compileSchema(
    object({
      size: { type: 'integer', default: 3 },
      nested: object({ mode: { type: 'string', default: 'a' } }, { default: {} }),
      maybe: object({ mode: { type: 'string', default: 'a' } }),
      nullable: { type: 'string', nullable: true },
      plain: { type: 'string' },
      list: { type: 'array', items: object({ p: { type: 'string', default: 'TCP' } }) },
    }),
  );

  it.each<{ name: string; value: JsonObject; want: JsonObject }>([
    { name: 'fills in, also inside defaults', value: {}, want: { size: 3, nested: { mode: 'a' } } },
    {
      name: 'not below what is absent',
      value: { maybe: {} },
      want: { size: 3, nested: { mode: 'a' }, maybe: { mode: 'a' } },
    },
    { name: 'a null becomes the default', value: { size: null }, want: { size: 3, nested: { mode: 'a' } } },
    {
      name: 'other nulls go, unless allowed',
      value: { plain: null, nullable: null },
      want: { size: 3, nested: { mode: 'a' }, nullable: null },
    },
    {
      name: 'items',
      value: { list: [{}, { p: 'UDP' }] },
      want: { size: 3, nested: { mode: 'a' }, list: [{ p: 'TCP' }, { p: 'UDP' }] },
    },
  ])('$name', ({ value, want }) => {
    const before = structuredClone(value);
    expect(applyDefaults(schema, Object.freeze(value))).toEqual(want);
    expect(value).toEqual(before);
  });

  it('returns the value itself when nothing is missing', () => {
    const value = { size: 1, nested: { mode: 'b' } };
    expect(applyDefaults(schema, value)).toBe(value);
  });
});

function problems(schema: JsonObject, value: JsonValue): string[] {
  const found: FieldProblem[] = [];
  validateValue(compileSchema(object({ x: schema })), { x: value }, found);
  return found.map((one) => `${one.reason} ${one.field}: ${one.message}`);
}

describe('validation of values, with the messages of the API server', () => {
  it.each<{ schema: JsonObject; value: JsonValue; want: string[] }>([
    {
      schema: { type: 'integer' },
      value: 'a',
      want: ['FieldValueTypeInvalid x: Invalid value: "string": x in body must be of type integer: "string"'],
    },
    {
      schema: { type: 'integer' },
      value: 1.5,
      want: ['FieldValueTypeInvalid x: Invalid value: "number": x in body must be of type integer: "number"'],
    },
    { schema: { type: 'number' }, value: 1, want: [] },
    {
      schema: { type: 'string' },
      value: null,
      want: ['FieldValueTypeInvalid x: Invalid value: "null": x in body must be of type string: "null"'],
    },
    { schema: { type: 'string', nullable: true }, value: null, want: [] },
    {
      schema: { type: 'integer', format: 'int32' },
      value: 2 ** 31,
      want: [
        'FieldValueTypeInvalid x: Invalid value: "2147483648": x in body must be of type int32: "2147483648"',
      ],
    },
    {
      schema: { type: 'string', format: 'date-time' },
      value: 'soon',
      want: ['FieldValueTypeInvalid x: Invalid value: "soon": x in body must be of type date-time: "soon"'],
    },
    {
      schema: { type: 'string', enum: ['a', 'b'] },
      value: 'c',
      want: ['FieldValueNotSupported x: Unsupported value: "c": supported values: "a", "b"'],
    },
    {
      schema: { type: 'string', maxLength: 2 },
      value: 'abc',
      want: ['FieldValueTooLong x: Too long: may not be more than 2 bytes'],
    },
    {
      schema: { type: 'string', minLength: 1 },
      value: '',
      want: ['FieldValueInvalid x: Invalid value: "": x in body should be at least 1 chars long'],
    },
    {
      schema: { type: 'string', pattern: '^a+$' },
      value: 'b',
      want: ['FieldValueInvalid x: Invalid value: "b": x in body should match \'^a+$\''],
    },
    {
      schema: { type: 'integer', minimum: 1 },
      value: 0,
      want: ['FieldValueInvalid x: Invalid value: 0: x in body should be greater than or equal to 1'],
    },
    {
      schema: { type: 'integer', minimum: 0, exclusiveMinimum: true },
      value: 0,
      want: ['FieldValueInvalid x: Invalid value: 0: x in body should be greater than 0'],
    },
    {
      schema: { type: 'integer', maximum: 1 },
      value: 2,
      want: ['FieldValueInvalid x: Invalid value: 2: x in body should be less than or equal to 1'],
    },
    { schema: { type: 'number', multipleOf: 0.1 }, value: 0.3, want: [] },
    {
      schema: { type: 'array', items: { type: 'string' }, maxItems: 1 },
      value: ['a', 'b'],
      want: ['FieldValueTooMany x: Too many: 2: must have at most 1 items'],
    },
    {
      schema: { type: 'array', items: { type: 'string' }, minItems: 1 },
      value: [],
      want: ['FieldValueInvalid x: Invalid value: 0: x in body should have at least 1 items'],
    },
    {
      schema: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      value: ['a', 'b', 'a'],
      want: ['FieldValueDuplicate x[2]: Duplicate value: "a"'],
    },
    {
      schema: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['port', 'protocol'],
        items: object({ port: { type: 'integer' }, protocol: { type: 'string', default: 'TCP' } }),
      },
      value: [{ port: 1 }, { port: 1, protocol: 'UDP' }, { port: 1, protocol: 'TCP' }],
      want: ['FieldValueDuplicate x[2]: Duplicate value: {"port":1,"protocol":"TCP"}'],
    },
    {
      schema: object({ a: { type: 'string' } }, { required: ['a', 'b'] }),
      value: {},
      want: ['FieldValueRequired x.a: Required value', 'FieldValueRequired x.b: Required value'],
    },
    {
      schema: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
      value: '25%',
      want: [],
    },
    {
      schema: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
      value: true,
      want: [
        'FieldValueTypeInvalid x: Invalid value: "boolean": x in body must be of type integer,string: "boolean"',
      ],
    },
    {
      schema: { type: 'string', not: { enum: ['a'] } },
      value: 'a',
      want: ['FieldValueInvalid x: Invalid value: "": "x" must not validate the schema (not)'],
    },
    {
      schema: object(
        { a: { type: 'string' }, b: { type: 'string' } },
        { oneOf: [{ required: ['a'] }, { required: ['b'] }] },
      ),
      value: {},
      want: [
        'FieldValueInvalid x: Invalid value: "": "x" must validate one and only one schema (oneOf). Found none valid',
      ],
    },
  ])('$schema with $value', ({ schema, value, want }) => {
    expect(problems(schema, value)).toEqual(want);
  });

  it('asks embedded objects what they are', () => {
    const schema = compileSchema(
      object({
        x: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
        },
      }),
    );
    const asked = (x: JsonValue): string[] => {
      const found: FieldProblem[] = [];
      validateEmbedded(schema, { x }, found);
      return found.map((one) => `${one.reason} ${one.field}: ${one.message}`);
    };
    expect(asked({ apiVersion: 'v1', kind: 'X' })).toEqual([]);
    expect(asked({ apiVersion: '' })).toEqual([
      'FieldValueInvalid x.apiVersion: Invalid value: "": must not be empty',
      'FieldValueRequired x.kind: Required value',
    ]);
  });

  it('matches patterns in linear time, with the syntax of RE2', () => {
    expect(compilePattern('^(a+)+$')?.test(`${'a'.repeat(50_000)}b`)).toBe(false);
    expect(compilePattern('(?i)^abc$')?.test('ABC')).toBe(true);
    expect(compilePattern('(?=a)')).toBeUndefined();
  });

  it.each([
    ['2026-01-01T00:00:00Z', true],
    ['2026-01-01T00:00:00.123456+02:00', true],
    ['2024-02-29t23:59:59.1z', true],
    ['2026-13-01T00:00:00Z', false],
    ['2023-02-30T00:00:00Z', false],
    ['2026-12-31T23:59:60Z', false],
    ['2026-01-01T00:00:00,5Z', false],
    ['2026-01-01T00:00:00+24:00', false],
    ['2026-01-01', false],
    ['2026-01-01T25:00:00Z', false],
  ])('date-time %s: %s', (value, want) => {
    expect(isDateTime(value)).toBe(want);
  });

  it.each([
    ['2024-02-29', true],
    ['2023-02-29', false],
    ['2023-04-31', false],
    ['2023-04-1', false],
  ])('date %s: %s', (value, want) => {
    expect(matchesStringFormat('date', value)).toBe(want);
  });
});

describe('validation rules', () => {
  const rule = (expression: string, more: JsonObject = {}): JsonObject => ({ rule: expression, ...more });
  const check = (schema: JsonObject, value: JsonObject, old?: JsonObject): string[] =>
    validateRules(compileSchema(schema), value, old).map(
      (one) => `${one.reason} ${one.field}: ${one.message}`,
    );

  it.each<{ name: string; schema: JsonObject; value: JsonObject; old?: JsonObject; want: string[] }>([
    {
      name: 'message and value',
      schema: object({
        a: { type: 'integer', 'x-kubernetes-validations': [rule('self > 1', { message: 'too small' })] },
      }),
      value: { a: 1 },
      want: ['FieldValueInvalid a: Invalid value: 1: too small'],
    },
    {
      name: 'objects are shown as their type',
      schema: object({
        a: object({ b: { type: 'integer' } }, { 'x-kubernetes-validations': [rule('self.b > 1')] }),
      }),
      value: { a: { b: 1 } },
      want: ['FieldValueInvalid a: Invalid value: "object": failed rule: self.b > 1'],
    },
    {
      name: 'messageExpression, reason and fieldPath',
      schema: object({
        a: object(
          { b: { type: 'integer' } },
          {
            'x-kubernetes-validations': [
              rule('self.b > 1', {
                messageExpression: '"got " + string(self.b)',
                reason: 'FieldValueForbidden',
                fieldPath: '.b',
              }),
            ],
          },
        ),
      }),
      value: { a: { b: 1 } },
      want: ['FieldValueForbidden a.b: Forbidden: got 1'],
    },
    ...['""', '" "', '"a\\nb"', '["x"].map(x, x)[0] + "y".charAt(7)', 'self + self'].map(
      (messageExpression) => ({
        name: `a messageExpression that makes no message gives way: ${messageExpression}`,
        schema: object({
          a: {
            type: 'string',
            'x-kubernetes-validations': [rule('self == ""', { messageExpression, message: 'plain' })],
          },
        }),
        value: { a: 'x'.repeat(3000) },
        want: [`FieldValueInvalid a: Invalid value: "${'x'.repeat(3000)}": plain`],
      }),
    ),
    {
      name: 'transition rules rest on creation',
      schema: object({
        a: {
          type: 'string',
          'x-kubernetes-validations': [rule('self == oldSelf', { message: 'immutable' })],
        },
      }),
      value: { a: 'x' },
      want: [],
    },
    {
      name: 'transition rules compare on update',
      schema: object({
        a: {
          type: 'string',
          'x-kubernetes-validations': [rule('self == oldSelf', { message: 'immutable' })],
        },
      }),
      value: { a: 'x' },
      old: { a: 'y' },
      want: ['FieldValueInvalid a: Invalid value: "x": immutable'],
    },
    ...[
      {
        name: 'on creation',
        old: undefined,
        want: ['FieldValueInvalid a: Invalid value: "x": begins with new'],
      },
      { name: 'on update', old: { a: 'new' }, want: [] },
      {
        name: 'where there was none',
        old: {},
        want: ['FieldValueInvalid a: Invalid value: "x": begins with new'],
      },
    ].map(({ name, old, want }) => ({
      name: `optionalOldSelf makes oldSelf an optional: ${name}`,
      schema: object({
        a: {
          type: 'string',
          'x-kubernetes-validations': [
            rule('oldSelf.hasValue() ? oldSelf.value() == "new" : self == "new"', {
              optionalOldSelf: true,
              message: 'begins with new',
            }),
          ],
        },
      }),
      value: { a: 'x' },
      ...(old === undefined ? {} : { old }),
      want,
    })),
    {
      name: 'formats have the types that CEL has for them',
      schema: object(
        {
          at: { type: 'string', format: 'date-time' },
          day: { type: 'string', format: 'date' },
          wait: { type: 'string', format: 'duration' },
          raw: { type: 'string', format: 'byte' },
          share: { type: 'number' },
          'a-b.c': { type: 'string' },
          namespace: { type: 'string' },
          map: { type: 'object', additionalProperties: { type: 'number' } },
        },
        {
          'x-kubernetes-validations': [
            rule('self.at > timestamp("2026-01-01T00:00:00Z") && self.day.getFullYear() == 2026'),
            rule('self.wait < duration("2h") && self.raw == b"hi" && self.share / 2.0 == 1.5'),
            rule('self.a__dash__b__dot__c == "x" && self.__namespace__ == "ns"'),
            rule('self.map["a-b"] == 1.0'),
          ],
        },
      ),
      value: {
        at: '2026-02-01T00:00:00Z',
        day: '2026-02-01',
        wait: '90m',
        raw: 'aGk=',
        share: 3,
        'a-b.c': 'x',
        namespace: 'ns',
        map: { 'a-b': 1 },
      },
      want: [],
    },
    {
      name: 'items of keyed lists meet their old selves',
      schema: object({
        l: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['n'],
          items: object(
            { n: { type: 'string' }, v: { type: 'integer' } },
            { 'x-kubernetes-validations': [rule('self.v >= oldSelf.v', { message: 'grows' })] },
          ),
        },
      }),
      value: {
        l: [
          { n: 'b', v: 1 },
          { n: 'a', v: 1 },
        ],
      },
      old: {
        l: [
          { n: 'a', v: 2 },
          { n: 'b', v: 1 },
        ],
      },
      want: ['FieldValueInvalid l[1]: Invalid value: "object": grows'],
    },
    {
      name: 'a rule that cannot be evaluated refuses',
      schema: object({
        a: object(
          {},
          {
            'x-kubernetes-validations': [rule('self.nope == 1', { message: 'm' })],
            'x-kubernetes-preserve-unknown-fields': true,
          },
        ),
      }),
      value: { a: {} },
      want: ['FieldValueInvalid a: Invalid value: "object": no such key: nope evaluating rule: m'],
    },
  ])('$name', ({ schema, value, old, want }) => {
    expect(check(schema, value, old)).toEqual(want);
  });
});

describe('names', () => {
  it.each<{ rule: (text: string) => readonly string[]; good: string[]; bad: string[] }>([
    {
      rule: dnsSubdomain,
      good: ['a', 'a.b-c.d', '0'],
      bad: ['', 'A', 'a_b', '-a', 'a.', '..', 'a'.repeat(254)],
    },
    { rule: dnsLabel, good: ['a', '0-1'], bad: ['a.b', '', 'a'.repeat(64)] },
    { rule: dns1035Label, good: ['a1'], bad: ['1a', 'a.b', ''] },
    { rule: pathSegment, good: ['system:node', 'A_b'], bad: ['a/b', '.', '..', '50%'] },
    { rule: labelValue, good: ['', 'a', 'A_b.c'], bad: ['-a', 'a b', 'a'.repeat(64), 'é'] },
    { rule: qualifiedName, good: ['a', 'x.io/a', 'A'], bad: ['', 'a/', '/a', 'X.io/a', 'a/b/c', 'a b'] },
  ])('$rule.name', ({ rule, good, bad }) => {
    for (const text of good) expect(rule(text), text).toEqual([]);
    for (const text of bad) expect(rule(text), text).not.toEqual([]);
  });
});
