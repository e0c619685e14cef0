import { describe, expect, it } from 'vitest';
import { PipelineStore } from '../../packages/embedded-hub/test/write/pipeline-store.ts';
import {
  CONFIG_MAPS,
  configMap,
  DEPLOYMENTS,
  deployment,
  FAR_TOO_LONG_MS,
  JSON_PATCH,
  many,
  messageOf,
  processorMs,
  storeOfThings,
  STRATEGIC_PATCH,
  thing,
  THINGS,
} from './pipeline-attack.ts';

function storeWith(path: string, object: object): PipelineStore {
  const store = new PipelineStore();
  expect(store.send('POST', path, object)).toMatchObject({ status: 201 });
  return store;
}

const env = (count: number, value: string): object[] =>
  many(count, (index) => ({ name: `E${String(index)}`, value }));
const finalizers = (count: number, domain: string): string[] =>
  many(count, (index) => `${domain}/${String(index)}`);

describe('a JSON patch cannot make the process run out of memory', () => {
  const store = storeWith(CONFIG_MAPS, configMap({ data: { x: 'v'.repeat(10) } }));

  it('that copies its own result again and again', () => {
    const doubling = many(45, (index) => ({ op: 'copy', from: '/data', path: `/data/x${String(index)}` }));
    const answer = store.send('PATCH', `${CONFIG_MAPS}/a`, doubling, JSON_PATCH);
    expect(answer.status).toBe(413);
    expect(messageOf(answer)).toMatch(/^Request entity too large: /);
  });

  it('that copies a large value more often than the limit allows', () => {
    const large = storeOfThings({ free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } });
    const free = { small: 'v'.repeat(400_000), large: 'v'.repeat(1_600_000) };
    expect(large.send('POST', THINGS, thing({ free })).status).toBe(201);
    const copies = (key: string): object[] =>
      many(2, (index) => ({ op: 'copy', from: `/spec/free/${key}`, path: `/spec/free/x${String(index)}` }));
    const refused = large.send('PATCH', `${THINGS}/t`, copies('large'), JSON_PATCH);
    expect(refused.status).toBe(413);
    expect(messageOf(refused)).toContain('copy operations of the JSON patch add more than 3145728 bytes');
    expect(large.send('PATCH', `${THINGS}/t`, copies('small'), JSON_PATCH).status).toBe(200);
  });

  it('of more operations than the API server takes', () => {
    const answer = store.send(
      'PATCH',
      `${CONFIG_MAPS}/a`,
      many(10_001, () => ({ op: 'test', path: '/kind', value: 'ConfigMap' })),
      JSON_PATCH,
    );
    expect(answer.status).toBe(413);
    expect(messageOf(answer)).toBe(
      'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    );
  });
});

describe('a JSON patch cannot hold the event loop', () => {
  const wide = configMap({ data: Object.fromEntries(many(8_000, (index) => [`k${String(index)}`, 'v'])) });

  it.each<{ name: string; object: object; patch: object[] }>([
    {
      name: 'by moving a large object back and forth',
      object: wide,
      patch: many(9_998, (index) =>
        index % 2 === 0
          ? { op: 'move', from: '/data', path: '/binaryData' }
          : { op: 'move', from: '/binaryData', path: '/data' },
      ),
    },
    {
      name: 'by comparing a large object again and again',
      object: wide,
      patch: many(10_000, () => ({ op: 'test', path: '/metadata', value: { name: 'b' } })),
    },
    {
      name: 'by inserting at the front of a long list',
      object: configMap({}, { finalizers: finalizers(8_000, 'x.y') }),
      patch: many(10_000, (index) => ({
        op: 'add',
        path: '/metadata/finalizers/0',
        value: `x.z/${String(index)}`,
      })),
    },
    {
      name: 'by removing the first item of a long list',
      object: configMap({}, { finalizers: finalizers(8_000, 'x.y') }),
      patch: many(8_000, () => ({ op: 'remove', path: '/metadata/finalizers/0' })),
    },
  ])('$name', ({ object, patch }) => {
    const store = storeWith(CONFIG_MAPS, object);
    expect(processorMs(() => store.send('PATCH', `${CONFIG_MAPS}/a`, patch, JSON_PATCH))).toBeLessThan(
      FAR_TOO_LONG_MS,
    );
  });

  it.each(['add', 'replace', 'remove', 'test'])('by %s at an index that wraps around', (op) => {
    const store = storeWith(CONFIG_MAPS, configMap({}, { finalizers: ['x.y/a', 'x.y/b'] }));
    for (const index of ['4294967294', '4294967296', '18446744073709551616']) {
      const patch = [{ op, path: `/metadata/finalizers/${index}`, value: 'x.y/c' }];
      expect(store.send('PATCH', `${CONFIG_MAPS}/a`, patch, JSON_PATCH).status).toBe(422);
    }
  });
});

describe('a strategic merge patch of long lists', () => {
  const container = (more: object): object => ({
    spec: { template: { spec: { containers: [{ name: 'c', ...more }] } } },
  });

  it.each<{ name: string; path: string; object: object; patch: object }>([
    {
      name: 'that changes every item',
      path: `${DEPLOYMENTS}/d`,
      object: deployment({ containers: [{ name: 'c', image: 'i', env: env(7_000, 'v') }] }),
      patch: container({ env: env(7_000, 'w') }),
    },
    {
      name: 'that removes every item',
      path: `${DEPLOYMENTS}/d`,
      object: deployment({ containers: [{ name: 'c', image: 'i', env: env(7_000, 'v') }] }),
      patch: container({ env: many(7_000, (index) => ({ name: `E${String(index)}`, $patch: 'delete' })) }),
    },
    {
      name: 'that says their order',
      path: `${DEPLOYMENTS}/d`,
      object: deployment({ containers: [{ name: 'c', image: 'i', env: env(7_000, 'v') }] }),
      patch: container({ '$setElementOrder/env': env(7_000, 'v') }),
    },
    {
      name: 'that adds conditions',
      path: `${DEPLOYMENTS}/d/status`,
      object: deployment({ containers: [{ name: 'c', image: 'i' }] }),
      patch: {
        status: { conditions: many(20_000, (index) => ({ type: `T${String(index)}`, status: 'True' })) },
      },
    },
    {
      name: 'that merges plain values',
      path: `${CONFIG_MAPS}/a`,
      object: configMap({}, { finalizers: finalizers(8_000, 'x.y') }),
      patch: { metadata: { finalizers: finalizers(8_000, 'x.z') } },
    },
    {
      name: 'that removes plain values',
      path: `${CONFIG_MAPS}/a`,
      object: configMap({}, { finalizers: finalizers(8_000, 'x.y') }),
      patch: { metadata: { '$deleteFromPrimitiveList/finalizers': finalizers(30_000, 'x.z') } },
    },
    {
      name: 'that retains many keys',
      path: `${CONFIG_MAPS}/a`,
      object: configMap(
        {},
        { annotations: Object.fromEntries(finalizers(5_000, 'x').map((key) => [key, ''])) },
      ),
      patch: { metadata: { annotations: { $retainKeys: finalizers(40_000, 'y') } } },
    },
  ])('$name takes time in proportion to their length', ({ path, object, patch }) => {
    const store = storeWith(path.replace(/\/[^/]+(\/status)?$/, ''), object);
    expect(processorMs(() => store.send('PATCH', path, patch, STRATEGIC_PATCH))).toBeLessThan(
      FAR_TOO_LONG_MS,
    );
  });

  it('still merges, removes and orders two thousand items', () => {
    const store = storeWith(
      `${DEPLOYMENTS}`,
      deployment({ containers: [{ name: 'c', image: 'i', env: env(2_000, 'v') }] }),
    );
    const changed = many(2_000, (index) =>
      index % 2 === 0
        ? { name: `E${String(index)}`, $patch: 'delete' }
        : { name: `E${String(index)}`, value: 'w' },
    );
    const answer = store.send(
      'PATCH',
      `${DEPLOYMENTS}/d`,
      container({ env: [...changed, { name: 'NEW', value: 'x' }] }),
      STRATEGIC_PATCH,
    );
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      spec: {
        template: {
          spec: {
            containers: [
              {
                env: [
                  ...many(1_000, (index) => ({ name: `E${String(2 * index + 1)}`, value: 'w' })),
                  { name: 'NEW', value: 'x' },
                ],
              },
            ],
          },
        },
      },
    });
  });
});
