import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hubAdmission } from '../../src/controllers/admission/hub-admission.ts';
import type { TestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import type { LooseJson } from '../../packages/embedded-hub/test/loose-json.ts';

let hub: TestHub;
const WORKS = '/apis/work.open-cluster-management.io/v1/namespaces/c1/manifestworks';

beforeAll(async () => {
  hub = await startTestHub({ admission: hubAdmission() });
  await hub.call('POST', '/api/v1/namespaces', { body: { metadata: { name: 'c1' } } });
  await hub.call('POST', WORKS, { body: workOf('live', GOOD) });
});
afterAll(() => hub.stop());

const GOOD = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'b' },
  data: { c: 'd' },
};

function workOf(name: string, manifest: unknown): LooseJson {
  return {
    apiVersion: 'work.open-cluster-management.io/v1',
    kind: 'ManifestWork',
    metadata: { name },
    spec: { workload: { manifests: [manifest] } },
  };
}

interface Answer {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
}

type Write = (manifest: unknown) => Promise<Answer>;

const answered = async (call: Promise<{ status: number; body: LooseJson }>): Promise<Answer> => {
  const { status, body } = await call;
  return { status, reason: String(body.reason), message: String(body.message) };
};

/** Every way to write a manifest. Patches answer a wrong type as an invalid patch. */
const WRITES: Readonly<Record<'create' | 'replace' | 'merge patch' | 'JSON patch' | 'apply', Write>> = {
  create: (manifest) => answered(hub.call('POST', WORKS, { body: workOf('new', manifest) })),
  replace: async (manifest) => {
    const live = (await hub.call('GET', `${WORKS}/live`)).body;
    const body = { ...live, spec: workOf('live', manifest).spec };
    return answered(hub.call('PUT', `${WORKS}/live`, { body }));
  },
  'merge patch': (manifest) => {
    const body = { spec: { workload: { manifests: [manifest] } } };
    return answered(hub.call('PATCH', `${WORKS}/live`, { body, type: 'application/merge-patch+json' }));
  },
  'JSON patch': (manifest) => {
    const body = [{ op: 'replace', path: '/spec/workload/manifests/0', value: manifest }];
    return answered(hub.call('PATCH', `${WORKS}/live`, { body, type: 'application/json-patch+json' }));
  },
  apply: (manifest) =>
    answered(
      hub.call('PATCH', `${WORKS}/live?fieldManager=attacker&force=true`, {
        body: workOf('live', manifest),
        type: 'application/apply-patch+yaml',
      }),
    ),
};

const NOT_READABLE: readonly { readonly attack: string; readonly manifest: unknown }[] = [
  { attack: 'a number as apiVersion', manifest: { ...GOOD, apiVersion: 1 } },
  { attack: 'an object as kind', manifest: { ...GOOD, kind: { toString: 'Secret' } } },
  { attack: 'a text as metadata', manifest: { ...GOOD, metadata: 'a' } },
  { attack: 'a list as metadata', manifest: { ...GOOD, metadata: [{ name: 'a' }] } },
  { attack: 'a list as name', manifest: { ...GOOD, metadata: { name: ['a'] } } },
  { attack: 'a number as namespace', manifest: { ...GOOD, metadata: { name: 'a', namespace: 0 } } },
  { attack: 'a number as label', manifest: { ...GOOD, metadata: { name: 'a', labels: { b: 1 } } } },
  { attack: 'a text as labels', manifest: { ...GOOD, metadata: { name: 'a', labels: 'b=c' } } },
  { attack: 'a text as finalizers', manifest: { ...GOOD, metadata: { name: 'a', finalizers: 'b' } } },
  { attack: 'a text as owner', manifest: { ...GOOD, metadata: { name: 'a', ownerReferences: ['b'] } } },
];

const NOT_VALID: readonly {
  readonly attack: string;
  readonly manifest: unknown;
  readonly field: string;
}[] = [
  {
    attack: 'a name that leaves its path',
    manifest: { ...GOOD, metadata: { name: '../../secrets/x' } },
    field: 'metadata.name',
  },
  { attack: 'a name of two dots', manifest: { ...GOOD, metadata: { name: '..' } }, field: 'metadata.name' },
  {
    attack: 'a namespace that leaves its path',
    manifest: { ...GOOD, metadata: { name: 'a', namespace: 'b/../kube-system' } },
    field: 'metadata.namespace',
  },
  {
    attack: 'a label key that is a selector',
    manifest: { ...GOOD, metadata: { name: 'a', labels: { 'a,b in (c)': '' } } },
    field: 'metadata.labels',
  },
  {
    attack: 'a label value with a line break',
    manifest: { ...GOOD, metadata: { name: 'a', labels: { a: 'b\nc: d' } } },
    field: 'metadata.labels',
  },
  {
    attack: 'an annotation key with a blank',
    manifest: { ...GOOD, metadata: { name: 'a', annotations: { 'a b': 'c' } } },
    field: 'metadata.annotations',
  },
  {
    attack: 'annotations of more than 256 KiB',
    manifest: { ...GOOD, metadata: { name: 'a', annotations: { a: 'x'.repeat(262_145) } } },
    field: 'metadata.annotations',
  },
  { attack: 'a kind that is a path', manifest: { ...GOOD, kind: 'Config/Map' }, field: 'kind' },
  { attack: 'a version of three parts', manifest: { ...GOOD, apiVersion: 'a/b/c' }, field: 'apiVersion' },
  { attack: 'an object without a kind', manifest: { ...GOOD, kind: '' }, field: 'kind' },
];

describe.each(Object.entries(WRITES))('manifests of a ManifestWork: %s', (way, write) => {
  it.each(NOT_READABLE)('refuses $attack', async ({ manifest }) => {
    const { status, reason, message } = await write(manifest);
    // An API server cannot read such a body; in a patch it blames the patch.
    expect({ status, reason }).toEqual(
      way.includes('patch') ? { status: 422, reason: 'Invalid' } : { status: 400, reason: 'BadRequest' },
    );
    expect(message).toContain('spec.workload.manifests[0]');
  });

  it.each(NOT_VALID)('refuses $attack', async ({ manifest, field }) => {
    const { status, reason, message } = await write(manifest);
    expect({ status, reason }).toEqual({ status: 422, reason: 'Invalid' });
    expect(message).toContain(`spec.workload.manifests[0].${field}: `);
  });

  it('refuses a List, whose objects would escape every check', async () => {
    const list = { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items: [GOOD] };
    const { status, message } = await write(list);
    expect({ status, message }).toEqual({
      status: 400,
      message: expect.stringContaining('name must be set in manifest'),
    });
  });

  it('leaves what is stored as it was', async () => {
    const { body } = await hub.call('GET', `${WORKS}/live`);
    expect(body.spec.workload.manifests).toEqual([GOOD]);
    expect((await hub.call('GET', `${WORKS}/new`)).status).toBe(404);
  });
});

describe('metadata of manifests', () => {
  it('does not take unknown fields along, and refuses them when the client asks for that', async () => {
    const hidden = { ...GOOD, metadata: { name: 'a', hidden: 'x'.repeat(1000) } };
    const strict = await hub.call('POST', `${WORKS}?fieldValidation=Strict`, {
      body: workOf('strict', hidden),
    });
    expect([strict.status, strict.body.message]).toEqual([
      400,
      expect.stringContaining('unknown field "spec.workload.manifests[0].metadata.hidden"'),
    ]);
    const pruned = await hub.call('POST', WORKS, { body: workOf('pruned', hidden) });
    expect(pruned.body.spec.workload.manifests[0].metadata).toEqual({ name: 'a' });
  });

  it('keeps a key that is called __proto__ an ordinary key', async () => {
    const body = `{"apiVersion":"work.open-cluster-management.io/v1","kind":"ManifestWork","metadata":{"name":"proto"},
      "spec":{"workload":{"manifests":[{"apiVersion":"v1","kind":"ConfigMap",
        "metadata":{"name":"a","labels":{"__proto__":"x"},"__proto__":{"name":"b"}},"__proto__":{"kind":"Secret"}}]}}}`;
    const { status, body: answer } = await hub.call('POST', WORKS, { body });
    expect([status, answer.message]).toEqual([422, expect.stringContaining('metadata.labels')]);
    expect(Object.hasOwn(Object.prototype, 'kind')).toBe(false);
  });
});
