// What the embedded hub's write pipeline costs per request, without sockets and disk. Run: npm run build:modules && node test/bench/hub-writes.bench.mjs
import { performance } from 'node:perf_hooks';

const modules = new URL('../../.cache/modules/', import.meta.url);
const load = (path) => import(new URL(path, modules).href);
const { OCM_HUB_KINDS } = await load('packages/ocm/src/definition/ocm-crds.js');
const { createScheme } = await load('packages/embedded-hub/src/scheme/create-scheme.js');
const { prepareCreate } = await load('packages/embedded-hub/src/write/prepare-create.js');
const { preparePatch } = await load('packages/embedded-hub/src/write/prepare-patch.js');
const { prepareApply } = await load('packages/embedded-hub/src/write/prepare-apply.js');
const { decodeBody } = await load('packages/embedded-hub/src/body/decode-body.js');
const { openApiIndex } = await load('packages/embedded-hub/src/openapi/openapi.js');

const once = (name, run) => {
  const started = performance.now();
  const result = run();
  console.log(`${name.padEnd(36)} ${(performance.now() - started).toFixed(1)} ms`);
  return result;
};
const each = (name, run, count = 5000) => {
  for (let index = 0; index < count / 5; index += 1) run(index);
  const started = performance.now();
  for (let index = 0; index < count; index += 1) run(index);
  console.log(`${name.padEnd(36)} ${(((performance.now() - started) * 1000) / count).toFixed(1)} us`);
};
const freeze = (value) => {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(freeze);
    Object.freeze(value);
  }
  return value;
};

const scheme = once('scheme of all kinds', () => createScheme(OCM_HUB_KINDS));
once('all OpenAPI documents', () => openApiIndex(scheme));
const ref = scheme.resource('work.open-cluster-management.io', 'v1', 'manifestworks');
const env = Array.from({ length: 10 }, (_, index) => ({ name: `E${index}`, value: 'v'.repeat(40) }));
const pod = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i'.repeat(300), env }] } };
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd', namespace: 'x' },
  spec: { replicas: 1, selector: { matchLabels: { a: 'b' } }, template: pod },
};
const work = {
  apiVersion: 'work.open-cluster-management.io/v1',
  kind: 'ManifestWork',
  metadata: { name: 'w', labels: { a: 'b' } },
  spec: { workload: { manifests: [deployment] } },
};
const encode = (value) => new TextEncoder().encode(JSON.stringify(value));
const body = encode(work);
const request = (subresource, name = 'w', resource = ref) => ({
  ref: resource,
  subresource,
  namespace: 'c1',
  name,
  fieldManager: 'm',
  fieldValidation: 'Warn',
  now: '2026-01-01T00:00:00Z',
  identity: { uid: 'u', nameSuffix: 'abcde' },
  user: { name: 'a', groups: [] },
  admission: [],
  can: () => true,
});
const conditions = (message) =>
  ['Applied', 'Available'].map((type) => ({
    type,
    status: 'True',
    reason: 'R',
    message,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }));

console.log(`body of ${body.length} bytes`);
each('JSON.parse alone (baseline)', () => JSON.parse(new TextDecoder().decode(body)));
each('decode', () => decodeBody(body, 'application/json'));
each('create', () => prepareCreate(request('', ''), decodeBody(body, 'application/json')));
const made = prepareCreate(request('', ''), decodeBody(body, 'application/json')).object;
const live = freeze({ ...made, metadata: { ...made.metadata, resourceVersion: '1' } });
each('status merge patch', (index) => {
  const patch = encode({ status: { conditions: conditions(`m${index}`) } });
  preparePatch(request('status'), live, 'merge', decodeBody(patch, 'application/merge-patch+json'));
});
const applied = freeze(prepareApply(request(''), undefined, { value: work, strictErrors: [] }, { force: false }).object);
each('apply, changed', (index) => {
  const value = structuredClone(work);
  value.spec.workload.manifests[0].spec.replicas = index + 2;
  prepareApply(request(''), applied, { value, strictErrors: [] }, { force: false });
});
each('apply, the same', () => prepareApply(request(''), applied, { value: work, strictErrors: [] }, { force: false }));
const { namespace: _namespace, ...metadata } = deployment.metadata;
each('create of a Deployment', () =>
  prepareCreate(request('', '', scheme.resource('apps', 'v1', 'deployments')), {
    value: { ...deployment, metadata },
    strictErrors: [],
  }),
);
