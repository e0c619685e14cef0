import { describe, expect, it } from 'vitest';
import type { Answer } from '../../packages/embedded-hub/test/write/pipeline-store.ts';
import { PipelineStore } from '../../packages/embedded-hub/test/write/pipeline-store.ts';
import {
  answerLength,
  APPLY_PATCH,
  CONFIG_MAPS,
  configMap,
  DEFINITIONS,
  DEPLOYMENTS,
  deployment,
  FAR_TOO_LONG_MS,
  many,
  messageOf,
  processorMs,
  storeOfThings,
  thing,
  thingDefinition,
  THINGS,
} from './pipeline-attack.ts';

const MAX_REFUSAL_LENGTH = 256 * 1024;
const THING = `${THINGS}/t`;
const text = { type: 'string' };
const keyedItems = { type: 'object', required: ['a'], properties: { a: text, b: text } };
const keyed = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['a'],
  items: keyedItems,
};
const keyedWithRule = {
  ...keyed,
  items: { ...keyedItems, 'x-kubernetes-validations': [{ rule: 'self.a == oldSelf.a' }] },
};
const set = { type: 'array', 'x-kubernetes-list-type': 'set', items: text };
const words = (count: number, prefix = 'w'): string[] => many(count, (index) => prefix + String(index));
const keyedBy = (count: number, b: string): object[] => words(count).map((a) => ({ a, b }));
const record = (keys: readonly string[], value: unknown): object =>
  Object.fromEntries(keys.map((key) => [key, value]));

function managers(count: number, operation: string): object[] {
  return many(count, (index) => ({
    manager: `m${String(index)}`,
    operation,
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { [`f:k${String(index)}`]: {} } },
  }));
}

const THREE_MEGABYTES_OF_FIELDS = `{${words(250_000)
  .map((key) => `"${key}":1`)
  .join(',')}}`;

interface Attack {
  readonly name: string;
  /** 413 where the body is within the limit of its size, but asks for too much. */
  readonly status: number;
  /** Writes that prepare the attack; what they answer does not matter. */
  readonly run: () => Answer;
}

const attacks: readonly Attack[] = [
  {
    name: 'twenty thousand managers of fields',
    status: 413,
    run: () =>
      new PipelineStore().send(
        'POST',
        CONFIG_MAPS,
        configMap({}, { managedFields: managers(20_000, 'Update') }),
      ),
  },
  {
    name: 'a keyed list that is applied again in reverse',
    status: 413,
    run: () => {
      const store = storeOfThings({ keyed });
      store.send('PATCH', `${THING}?fieldManager=m`, thing({ keyed: keyedBy(9_000, 'x') }), APPLY_PATCH);
      return store.send(
        'PATCH',
        `${THING}?fieldManager=m`,
        thing({ keyed: keyedBy(9_000, 'y').reverse() }),
        APPLY_PATCH,
      );
    },
  },
  {
    name: 'a set to which another manager applies other values',
    status: 413,
    run: () => {
      const store = storeOfThings({ set });
      store.send('PATCH', `${THING}?fieldManager=one`, thing({ set: words(15_000) }), APPLY_PATCH);
      return store.send(
        'PATCH',
        `${THING}?fieldManager=two`,
        thing({ set: words(15_000, 'x') }),
        APPLY_PATCH,
      );
    },
  },
  {
    name: 'a list whose items must differ',
    status: 201,
    run: () =>
      storeOfThings({ list: { type: 'array', uniqueItems: true, items: text } }).send(
        'POST',
        THINGS,
        thing({ list: words(20_000) }),
      ),
  },
  {
    name: 'a rule that compares every item with the one before the update',
    status: 413,
    run: () => {
      const store = storeOfThings({ keyedWithRule });
      store.send('POST', THINGS, thing({ keyedWithRule: keyedBy(4_000, 'x') }));
      const object = thing({ keyedWithRule: keyedBy(4_000, 'y') }) as { metadata: object };
      const next = { ...object, metadata: { name: 't', resourceVersion: '1' } };
      return store.send('PUT', THING, next);
    },
  },
  {
    name: 'values that are not among a thousand allowed ones',
    status: 413,
    run: () =>
      storeOfThings({
        list: { type: 'array', items: { type: 'string', enum: words(1_000, 'allowed') } },
      }).send('POST', THINGS, thing({ list: words(60_000) })),
  },
  {
    name: 'values that fit none of a hundred schemas',
    status: 413,
    run: () => {
      const oneOf = many(100, (index) => ({ properties: { a: { enum: [String(index)] } }, required: ['a'] }));
      const items = { type: 'object', properties: { a: text }, oneOf };
      return storeOfThings({ list: { type: 'array', items } }).send(
        'POST',
        THINGS,
        thing({ list: keyedBy(60_000, 'x') }),
      );
    },
  },
  {
    name: 'empty objects that lack five hundred fields each',
    status: 413,
    run: () => {
      const items = { type: 'object', required: words(500) };
      return storeOfThings({ list: { type: 'array', items } }).send(
        'POST',
        THINGS,
        thing({ list: many(30_000, () => ({})) }),
      );
    },
  },
  {
    name: 'empty objects that defaults fill to thirty times the body',
    status: 413,
    run: () => {
      const property = { type: 'string', default: 'v'.repeat(80) };
      const items = { type: 'object', properties: record(words(40), property) };
      return storeOfThings({ list: { type: 'array', items } }).send(
        'POST',
        THINGS,
        thing({ list: many(100_000, () => ({})) }),
      );
    },
  },
  {
    name: 'a hundred thousand owners without a name',
    status: 413,
    run: () =>
      new PipelineStore().send(
        'POST',
        CONFIG_MAPS,
        configMap({}, { ownerReferences: many(200_000, () => ({})) }),
      ),
  },
  {
    name: 'containers by the thousand',
    status: 413,
    run: () =>
      new PipelineStore().send(
        'POST',
        DEPLOYMENTS,
        deployment({ containers: words(25_000, 'c').map((name) => ({ name, image: 'i' })) }),
      ),
  },
  {
    name: 'three megabytes of unknown fields',
    status: 413,
    run: () => new PipelineStore().send('POST', CONFIG_MAPS, THREE_MEGABYTES_OF_FIELDS),
  },
  {
    name: 'three megabytes of brackets',
    status: 400,
    run: () =>
      new PipelineStore().send('POST', CONFIG_MAPS, `${'['.repeat(1_500_000)}${']'.repeat(1_500_000)}`),
  },
  {
    name: 'three megabytes of empty objects',
    status: 413,
    run: () => new PipelineStore().send('POST', CONFIG_MAPS, `[${'{},'.repeat(1_000_000)}{}]`),
  },
  {
    name: 'a definition with seven hundred patterns that are written out to ten thousand steps each',
    status: 413,
    run: () => {
      const pattern = (key: string): object => ({
        type: 'string',
        pattern: `^(abcdefghi[a-z]){1,999}${key}$`,
      });
      const properties = Object.fromEntries(words(700, 'p').map((key) => [key, pattern(key)]));
      return new PipelineStore().send('POST', DEFINITIONS, thingDefinition(properties));
    },
  },
  {
    name: 'a definition whose defaults contain one another',
    status: 201,
    run: () => {
      let schema: object = { type: 'object', properties: record(words(8_000, 'p'), text) };
      for (let depth = 0; depth < 180; depth += 1)
        schema = { type: 'object', default: {}, properties: { a: schema } };
      return new PipelineStore().send('POST', DEFINITIONS, thingDefinition({ schema }));
    },
  },
  {
    name: 'a definition with rules about every one of its fields',
    status: 413,
    run: () => {
      const rules = words(4_000, 'p').map((name) => ({ rule: `self.${name} > 1` }));
      const schema = {
        type: 'object',
        properties: record(words(8_000, 'p'), { type: 'integer' }),
        'x-kubernetes-validations': rules,
      };
      return new PipelineStore().send('POST', DEFINITIONS, thingDefinition({ schema }));
    },
  },
  {
    name: 'YAML of a million tiny nodes',
    status: 413,
    run: () =>
      new PipelineStore().send(
        'PATCH',
        `${CONFIG_MAPS}/a?fieldManager=m`,
        `a: [${'b,'.repeat(700_000)}]`,
        APPLY_PATCH,
      ),
  },
  {
    name: 'YAML whose aliases unfold to millions of values',
    status: 413,
    run: () => {
      const wide = words(200, 'k')
        .map((key) => `${key}: v`)
        .join(', ');
      return new PipelineStore().send(
        'PATCH',
        `${CONFIG_MAPS}/a?fieldManager=m`,
        `x: &a {${wide}}\ny:\n${'- *a\n'.repeat(100_000)}`,
        APPLY_PATCH,
      );
    },
  },
  {
    name: 'YAML longer than its limit',
    status: 413,
    run: () =>
      new PipelineStore().send(
        'PATCH',
        `${CONFIG_MAPS}/a?fieldManager=m`,
        `a: |\n${' x\n'.repeat(900_000)}`,
        APPLY_PATCH,
      ),
  },
];

describe('one write cannot hold the event loop, nor make the hub answer megabytes', () => {
  it.each(attacks)('$name', ({ run, status }) => {
    let answer: Answer | undefined;
    const spentMs = processorMs(() => {
      answer = run();
    });
    expect(spentMs).toBeLessThan(FAR_TOO_LONG_MS);
    expect(answer?.status).toBe(status);
    if (answer !== undefined && answer.status >= 400)
      expect(answerLength(answer)).toBeLessThan(MAX_REFUSAL_LENGTH);
  });

  it('says why a body within the limit of its size is refused', () => {
    const answer = new PipelineStore().send('POST', CONFIG_MAPS, `[${'{},'.repeat(1_000_000)}{}]`);
    expect(answer.status).toBe(413);
    expect(answer.body['reason']).toBe('RequestEntityTooLarge');
    expect(messageOf(answer)).toContain('more processing than one request may use');
  });

  it('refuses more managers than can be looked at in every later apply', () => {
    const answer = new PipelineStore().send(
      'POST',
      CONFIG_MAPS,
      configMap({}, { managedFields: managers(1_001, 'Apply') }),
    );
    expect(answer.status).toBe(422);
    expect(messageOf(answer)).toContain(
      'metadata.managedFields: Too many: 1001: must have at most 1000 items',
    );
  });

  it('stays deterministic: the same body is refused or taken whatever the machine does', () => {
    const statuses = many(
      3,
      () => storeOfThings({ set }).send('POST', THINGS, thing({ set: words(20_000) })).status,
    );
    expect(new Set(statuses).size).toBe(1);
  });
});
