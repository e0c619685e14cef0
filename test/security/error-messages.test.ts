import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import type { TestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { PipelineStore } from '../../packages/embedded-hub/test/write/pipeline-store.ts';
import {
  answerLength,
  APPLY_PATCH,
  CONFIG_MAPS,
  configMap,
  FAR_TOO_LONG_MS,
  JSON_PATCH,
  many,
  messageOf,
  processorMs,
  storeOfThings,
  thing,
  THINGS,
} from './pipeline-attack.ts';

/** 32 KiB of message and 64 KiB of causes, their escapes and frames included. */
const MAX_ANSWER_LENGTH = 200 * 1024;

/** Duplicate keys at the bottom of nested objects, whose places are long. */
function duplicatesAt(depth: number, count: number): string {
  const lists = many(count, () => '{"a":1,"a":2}').join(',');
  const key = `"${'k'.repeat(40)}"`;
  return `${`{${key}:`.repeat(depth)}[${lists}]${'}'.repeat(depth)}`;
}

function thingWithFree(json: string): string {
  return `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"t"},"spec":{"free":${json}}}`;
}

const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

describe('the report of duplicate fields', () => {
  it.each(['Strict', 'Warn'])('of nested duplicates is bounded (%s)', (validation) => {
    const store = storeOfThings({ free });
    const body = thingWithFree(duplicatesAt(900, 6_000));
    let length = 0;
    const spentMs = processorMs(() => {
      length = answerLength(store.send('POST', `${THINGS}?fieldValidation=${validation}`, body));
    });
    expect(length).toBeLessThan(MAX_ANSWER_LENGTH + body.length * (validation === 'Warn' ? 2 : 0));
    expect(spentMs).toBeLessThan(FAR_TOO_LONG_MS);
  });

  it('counts a place that is found through a duplicate key only so often', () => {
    const store = storeOfThings({ free });
    const again = `{${many(60_000, () => '"a":{"x":1,"x":1}').join(',')}}`;
    const spentMs = processorMs(() =>
      store.send('POST', `${THINGS}?fieldValidation=Strict`, thingWithFree(again)),
    );
    expect(spentMs).toBeLessThan(FAR_TOO_LONG_MS);
  });

  it('still names every place of an ordinary mistake', () => {
    const store = storeOfThings({ free });
    const answer = store.send(
      'POST',
      `${THINGS}?fieldValidation=Strict`,
      thingWithFree('{"x":1,"x":2,"l":[{"y":1},{"y":1,"y":2}]}'),
    );
    expect(messageOf(answer)).toMatch(
      /strict decoding error: duplicate field "spec.free.x", duplicate field "spec.free.l\[1\].y"$/,
    );
  });
});

describe('a refusal is short whatever the request says', () => {
  const words = (count: number): string[] => many(count, (index) => `w${String(index)}`);
  const list = {
    type: 'array',
    items: { type: 'string', maxLength: 1, enum: many(800, (index) => `allowed value ${String(index)}`) },
  };
  const keyed = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['a'],
    items: { type: 'object', required: ['a'], properties: { a: { type: 'string' }, b: { type: 'string' } } },
  };
  const long = 'x'.repeat(2_500_000);
  const post = (body: unknown, query = '') => new PipelineStore().send('POST', CONFIG_MAPS + query, body);

  it.each<{ name: string; run: () => ReturnType<typeof post>; status: number }>([
    {
      name: 'labels by the thousand that are none',
      run: () =>
        post(configMap({}, { labels: Object.fromEntries(words(3_000).map((key) => [`${key}!`, '!'])) })),
      status: 422,
    },
    {
      name: 'a label of megabytes',
      run: () => post(configMap({}, { labels: { ['a-'.repeat(700_000)]: '!'.repeat(700_000) } })),
      status: 422,
    },
    { name: 'a name of megabytes', run: () => post(configMap({}, { name: long })), status: 422 },
    { name: 'a kind of megabytes', run: () => post({ kind: long }), status: 400 },
    { name: 'a version of megabytes', run: () => post({ apiVersion: long }), status: 400 },
    {
      name: 'a key of megabytes above a value of the wrong type',
      run: () => post(configMap({ data: { [long]: 1 } })),
      status: 400,
    },
    {
      name: 'unknown fields by the thousand',
      run: () =>
        post(configMap(Object.fromEntries(words(8_000).map((key) => [key, 1]))), '?fieldValidation=Strict'),
      status: 400,
    },
    {
      name: 'values that are not among eight hundred allowed ones',
      run: () => storeOfThings({ list }).send('POST', THINGS, thing({ list: words(2_000) })),
      status: 422,
    },
    {
      name: 'conflicts by the thousand',
      run: () => {
        const store = new PipelineStore();
        const apply = (manager: string, value: string) => {
          const data = Object.fromEntries(words(4_000).map((key) => [key, value]));
          return store.send(
            'PATCH',
            `${CONFIG_MAPS}/a?fieldManager=${manager}`,
            configMap({ data }),
            APPLY_PATCH,
          );
        };
        apply('one', 'v');
        return apply('two', 'w');
      },
      status: 409,
    },
    {
      name: 'a configuration whose items have no key',
      run: () =>
        storeOfThings({ keyed }).send(
          'PATCH',
          `${THINGS}/t?fieldManager=m`,
          thing({ keyed: many(10_000, () => ({ b: 'x' })) }),
          APPLY_PATCH,
        ),
      // As a kube-apiserver answers it.
      status: 500,
    },
    {
      name: 'a JSON patch of megabytes that sets unknown fields',
      run: () => {
        const store = new PipelineStore();
        store.send('POST', CONFIG_MAPS, configMap());
        const patch = [{ op: 'add', path: '/unknown', value: long }];
        return store.send('PATCH', `${CONFIG_MAPS}/a?fieldValidation=Strict`, patch, JSON_PATCH);
      },
      status: 422,
    },
  ])('$name', ({ run, status }) => {
    const answer = run();
    expect(answer.status).toBe(status);
    expect(answerLength(answer)).toBeLessThan(MAX_ANSWER_LENGTH);
  });

  it('says how much it leaves out', () => {
    const answer = post(configMap({}, { finalizers: words(300).map((word) => `${word}!`) }));
    expect(messageOf(answer)).toMatch(/, \.\.\.\(\d+ more errors\)\]$|\.\.\.\(\d+ more characters\)$/);
    const { causes } = answer.body['details'] as { causes: { message: string }[] };
    expect(causes.length).toBeLessThanOrEqual(129);
    expect(causes.at(-1)?.message).toMatch(/^\.\.\.\(\d+ more (errors|causes)\)$/);
  });

  it('says how many conflicts there are', () => {
    const store = new PipelineStore();
    const data = (value: string): object => Object.fromEntries(words(150).map((key) => [key, value]));
    const url = `${CONFIG_MAPS}/a?fieldManager=`;
    store.send('PATCH', `${url}one`, configMap({ data: data('v') }), APPLY_PATCH);
    const answer = store.send('PATCH', `${url}two`, configMap({ data: data('w') }), APPLY_PATCH);
    expect(messageOf(answer)).toMatch(
      /^Apply failed with 150 conflicts: conflicts with "one":\n- \.data\.w0\n/,
    );
    expect(messageOf(answer)).toMatch(/\n\.\.\.\(50 more conflicts\)$/);
  });
});

describe('headers with warnings', () => {
  let hub: TestHub;
  beforeAll(async () => {
    hub = await startTestHub();
  });
  afterAll(() => hub.stop());

  it('stay within what clients accept, however many unknown fields a body has', async () => {
    const path = '/api/v1/namespaces/default/configmaps';
    const unknown = Object.fromEntries(many(2_000, (index) => [`${'f'.repeat(300)}${String(index)}`, 1]));
    const reply = await hub.call('POST', path, { body: configMap(unknown) });
    expect(reply.status).toBe(201);
    const warnings = String(reply.headers['warning']);
    expect(warnings).toContain('299 - ');
    expect(warnings.length).toBeLessThan(6_000);
  });
});
