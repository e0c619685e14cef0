import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import type { TestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { many, thingDefinition } from './pipeline-attack.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const DEFINITION = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com';
const WORKS = '/apis/work.open-cluster-management.io/v1/namespaces/default/manifestworks';
const BLOBS = '/apis/example.org/v1/namespaces/default/blobs';
const APPLY = 'application/apply-patch+yaml';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub();
  const spec = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const openAPIV3Schema = { type: 'object', properties: { spec } };
  const body = {
    metadata: { name: 'blobs.example.org' },
    spec: {
      group: 'example.org',
      scope: 'Namespaced',
      names: { plural: 'blobs', kind: 'Blob' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
  await hub.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body });
});
afterAll(() => hub.stop());

/** As dense as the definitions of Argo CD, which have few descriptions: some fourteen bytes for a value. */
function largeDefinition(description: string): object {
  const leaf = { type: 'string' };
  const fields = (count: number, value: unknown): object =>
    Object.fromEntries(many(count, (index) => [`field${String(index)}`, value]));
  const generator = {
    type: 'object',
    properties: {
      selector: { type: 'object', additionalProperties: leaf },
      values: { type: 'object', additionalProperties: leaf },
      requirements: {
        type: 'array',
        items: {
          type: 'object',
          required: ['key', 'operator'],
          properties: { key: leaf, operator: leaf, values: { type: 'array', items: leaf } },
        },
      },
      template: { type: 'object', properties: fields(30, leaf) },
    },
  };
  return thingDefinition({
    generators: { type: 'array', items: { type: 'object', description, properties: fields(670, generator) } },
  });
}

/** The size that a request has as JSON. */
function sizeOf(body: unknown): number {
  return JSON.stringify(body).length;
}

describe('large requests that are healthy', () => {
  it('a ConfigMap of one megabyte is created, changed and read', async () => {
    const body = { metadata: { name: 'large' }, data: { blob: 'v'.repeat(1024 * 1024 - 100) } };
    expect((await hub.call('POST', CONFIG_MAPS, { body })).status).toBe(201);
    const patch = { body: { data: { small: 'x' } }, type: 'application/merge-patch+json' };
    expect((await hub.call('PATCH', `${CONFIG_MAPS}/large`, patch)).status).toBe(200);
    expect((await hub.call('GET', `${CONFIG_MAPS}/large`)).body.data.blob).toHaveLength(1024 * 1024 - 100);
  });

  it('a ConfigMap of one megabyte in fifteen thousand keys is created', async () => {
    const data = Object.fromEntries(many(15_000, (index) => [`key-${String(index)}`, 'v'.repeat(50)]));
    const reply = await hub.call('POST', CONFIG_MAPS, { body: { metadata: { name: 'wide' }, data } });
    expect(reply.status).toBe(201);
  });

  it('a definition of 800 KB is applied, applied again and changed', async () => {
    const body = largeDefinition('first');
    expect(sizeOf(body)).toBeGreaterThan(800_000);
    const apply = (sent: object) =>
      hub.call('PATCH', `${DEFINITION}?fieldManager=m&fieldValidation=Strict`, { body: sent, type: APPLY });
    expect((await apply(body)).status).toBe(201);
    expect((await apply(body)).status).toBe(200);
    expect((await apply(largeDefinition('second'))).status).toBe(200);
  });

  it('a ManifestWork of 500 KB is created, applied and gets its status', async () => {
    const container = (index: number): object => ({
      name: `c${String(index)}`,
      image: `registry.example.com/image:${String(index)}`,
      env: many(25, (at) => ({ name: `E${String(at)}`, value: 'v'.repeat(20) })),
    });
    const manifests = many(100, (index) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: `d${String(index)}`, namespace: 'default', labels: { a: 'b' } },
      spec: {
        replicas: 1,
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: many(4, container) } },
      },
    }));
    const body = {
      apiVersion: 'work.open-cluster-management.io/v1',
      kind: 'ManifestWork',
      metadata: { name: 'w' },
      spec: { workload: { manifests } },
    };
    expect(sizeOf(body)).toBeGreaterThan(450_000);
    expect((await hub.call('POST', WORKS, { body })).status).toBe(201);
    const query = '?fieldManager=other&force=true';
    expect((await hub.call('PATCH', `${WORKS}/w${query}`, { body, type: APPLY })).status).toBe(200);
    const condition = { type: 'Applied', status: 'True', reason: 'R', message: 'm' };
    const conditions = [{ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' }];
    const status = { body: { status: { conditions } }, type: 'application/merge-patch+json' };
    expect((await hub.call('PATCH', `${WORKS}/w/status`, status)).status).toBe(200);
  });

  it('YAML of 700 KB is applied', async () => {
    const lines = many(18_000, (index) => `  key-${String(index)}: ${'v'.repeat(25)}`);
    const text = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n${lines.slice(0, 9_000).join('\n')}\n  blob: ${'x'.repeat(350_000)}\n`;
    const reply = await hub.call('PATCH', `${CONFIG_MAPS}/yaml?fieldManager=m`, { body: text, type: APPLY });
    expect(reply.status).toBe(201);
  });
});

describe('an object cannot grow forever', () => {
  it('by one large patch after the other', async () => {
    const made = await hub.call('POST', BLOBS, {
      body: { apiVersion: 'example.org/v1', kind: 'Blob', metadata: { name: 'growing' }, spec: {} },
    });
    expect(made.status).toBe(201);
    const patch = (spec: object) =>
      hub.call('PATCH', `${BLOBS}/growing`, { body: { spec }, type: 'application/merge-patch+json' });
    const statuses: number[] = [];
    for (let index = 0; index < 4; index += 1)
      statuses.push((await patch({ [`part${String(index)}`]: 'v'.repeat(2_000_000) })).status);
    expect(statuses).toEqual([200, 200, 200, 413]);
    expect((await patch({ part0: null })).status).toBe(200);
    expect((await hub.call('DELETE', `${BLOBS}/growing`)).status).toBe(200);
  });
});

describe('while hostile bodies keep coming', () => {
  it('a health check is answered after each of them', async () => {
    const hostile = `[${'{},'.repeat(1_000_000)}{}]`;
    const replies = await Promise.all(
      many(12, async () => {
        const [refused, alive] = await Promise.all([
          hub.call('POST', CONFIG_MAPS, { body: hostile }),
          hub.call('GET', '/readyz', { token: null }),
        ]);
        return [refused.status, alive.status];
      }),
    );
    for (const reply of replies) expect(reply).toEqual([413, 200]);
  });
});
