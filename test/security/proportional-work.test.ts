import { describe, expect, it } from 'vitest';
import { validateRules } from '../../packages/embedded-hub/src/schema/cel/validate-rules.ts';
import { validateValue } from '@berth/embedded-hub/schema/validate-value';
import { serverSideApply } from '../../packages/embedded-hub/src/apply/server-side-apply.ts';
import { trackUpdate } from '../../packages/embedded-hub/src/apply/track-update.ts';
import type { JsonObject, JsonValue } from '@berth/embedded-hub/json/json-value';
import { applyStrategicMergePatch } from '../../packages/embedded-hub/src/patch/strategic-merge-patch.ts';
import { compileSchema, compileRootSchema } from '../../packages/embedded-hub/src/scheme/compile-schema.ts';
import { OCM_HUB_KINDS } from '@berth/ocm/definition/ocm-crds';
import { createScheme } from '@berth/embedded-hub/scheme/create-scheme';
import { undefinedField } from '../../packages/embedded-hub/src/scheme/structural-problems.ts';
import type { Schema } from '@berth/embedded-hub/schema/schema';
import { many, processorMs } from './pipeline-attack.ts';

/*
 * These ran for as long as the square of their input. Sixteen times the input takes sixteen times the work, 256 times where each item
 * is searched for among all others; 64 distinguishes them, on a busy machine too. Run without the budget of requests, which would end
 * them before.
 */
const SMALL = 1_500;
const LARGE = 16 * SMALL;
const FAR_BELOW_SQUARE = 64;
/** What the clock of the process can distinguish from nothing. */
const MEASURABLE_MS = 2;

const scheme = createScheme(OCM_HUB_KINDS);
const request = {
  ref: scheme.resource('', 'v1', 'configmaps') as NonNullable<ReturnType<typeof scheme.resource>>,
  subresource: '',
  manager: 'm',
  now: '2026-01-01T00:00:00Z',
};

const text = { type: 'string' };
const keyedSchema = compileRootSchema({
  type: 'object',
  properties: {
    list: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: text, value: text },
        'x-kubernetes-validations': [{ rule: 'self.name == oldSelf.name' }],
      },
    },
  },
});
const uniqueSchema = compileSchema({ type: 'array', uniqueItems: true, items: text });
const patchSchema: Schema = {
  type: 'object',
  properties: new Map<string, Schema>([
    [
      'list',
      {
        type: 'array',
        patchMergeKey: 'name',
        patchStrategy: ['merge'],
        items: { type: 'object', additional: true },
      },
    ],
    ['words', { type: 'array', patchStrategy: ['merge'], items: { type: 'string' } }],
  ]),
};

const keyed = (count: number, value: string): JsonObject[] =>
  many(count, (index) => ({ name: `n${String(index)}`, value }));
const words = (count: number, prefix = 'w'): JsonValue[] => many(count, (index) => prefix + String(index));

function configMap(metadata: JsonObject): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', uid: 'u', ...metadata } };
}

function managers(count: number): JsonValue[] {
  return many(count, (index) => ({
    manager: `m${String(index)}`,
    operation: index % 2 === 0 ? 'Update' : 'Apply',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': Object.fromEntries(many(40, (at) => [`f:k${String(index * 40 + at)}`, {}])) },
  }));
}

const works: readonly { readonly name: string; readonly prepare: (count: number) => () => unknown }[] = [
  {
    name: 'a strategic merge of items',
    prepare: (count) => {
      const [before, patch] = [{ list: keyed(count, 'a') }, { list: keyed(count, 'b').reverse() }];
      return () => applyStrategicMergePatch(patchSchema, before, patch);
    },
  },
  {
    name: 'a strategic merge that removes items',
    prepare: (count) => {
      const gone = keyed(count, 'a').map(({ name }) => ({ name: name as string, $patch: 'delete' }));
      const before = { list: keyed(count, 'a') };
      return () => applyStrategicMergePatch(patchSchema, before, { list: gone });
    },
  },
  {
    name: 'a strategic merge of plain values',
    prepare: (count) => {
      const patch = { words: words(count, 'x'), '$deleteFromPrimitiveList/words': words(count).slice(1) };
      const before = { words: words(count) };
      return () => applyStrategicMergePatch(patchSchema, before, patch);
    },
  },
  {
    name: 'a keyed list that is applied in another order',
    prepare: (count) => {
      const version = { ...request.ref.version, schema: keyedSchema };
      const ref = { ...request.ref, version };
      const object = (list: JsonValue[]): JsonObject => ({ ...configMap({}), list });
      const first = serverSideApply({ ...request, ref, force: true }, undefined, object(keyed(count, 'a')));
      const next = object(keyed(count, 'b').reverse());
      return () => serverSideApply({ ...request, ref, force: true }, first, next);
    },
  },
  {
    name: 'the pooling of old managers',
    prepare: (count) => {
      const managed = managers(count / 8);
      const before = configMap({ managedFields: managed });
      const after = { ...before, data: { changed: 'x' } };
      const { managedFields: _sent, ...metadata } = before['metadata'] as JsonObject;
      return () => trackUpdate(request, before, { ...after, metadata });
    },
  },
  {
    name: 'rules that compare items with those before',
    prepare: (count) => {
      const [before, after] = [{ list: keyed(count / 2, 'a') }, { list: keyed(count / 2, 'b') }];
      return () => validateRules(keyedSchema, after, before);
    },
  },
  {
    name: 'a list whose items must differ',
    prepare: (count) => {
      const list = words(count);
      return () => validateValue(uniqueSchema, list, []);
    },
  },
  {
    name: 'rules about the fields of a wide object',
    prepare: (count) => {
      const names = words(count / 8, 'p') as string[];
      const properties = Object.fromEntries(names.map((name) => [name, text]));
      const self: JsonObject = { type: 'object', properties };
      return () => {
        for (const name of names) undefinedField(`self.${name} == 'x'`, { self, oldSelf: undefined });
      };
    },
  },
];

/** The least of several runs: others work on the same machine. */
function least(run: () => unknown): number {
  return Math.max(MEASURABLE_MS, Math.min(...many(4, () => processorMs(run))));
}

describe('work grows in proportion to the input', () => {
  it.each(works)('of $name', ({ prepare }) => {
    const [small, large] = [prepare(SMALL), prepare(LARGE)];
    small();
    expect(least(large) / least(small)).toBeLessThan(FAR_BELOW_SQUARE);
  });
});
