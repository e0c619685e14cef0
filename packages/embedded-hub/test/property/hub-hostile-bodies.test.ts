import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { duplicateFields } from '../../src/body/json-shape.ts';
import type { JsonValue } from '../../src/json/json-value.ts';
import { renderTable } from '../../src/table/table.ts';
import { PipelineStore } from '../write/pipeline-store.ts';

const KINDS = [
  { path: '/api/v1/namespaces/ns/configmaps', apiVersion: 'v1', kind: 'ConfigMap' },
  { path: '/api/v1/namespaces/ns/secrets', apiVersion: 'v1', kind: 'Secret' },
  { path: '/api/v1/namespaces/ns/services', apiVersion: 'v1', kind: 'Service' },
  { path: '/api/v1/namespaces/ns/pods', apiVersion: 'v1', kind: 'Pod' },
  { path: '/api/v1/namespaces', apiVersion: 'v1', kind: 'Namespace' },
  { path: '/apis/apps/v1/namespaces/ns/deployments', apiVersion: 'apps/v1', kind: 'Deployment' },
  { path: '/apis/batch/v1/namespaces/ns/jobs', apiVersion: 'batch/v1', kind: 'Job' },
  {
    path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
  },
  {
    path: '/apis/certificates.k8s.io/v1/certificatesigningrequests',
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
  },
  {
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
  },
  {
    path: '/apis/cluster.open-cluster-management.io/v1/managedclusters',
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
  },
  {
    path: '/apis/cluster.open-cluster-management.io/v1beta1/namespaces/ns/placements',
    apiVersion: 'cluster.open-cluster-management.io/v1beta1',
    kind: 'Placement',
  },
  {
    path: '/apis/work.open-cluster-management.io/v1/namespaces/ns/manifestworks',
    apiVersion: 'work.open-cluster-management.io/v1',
    kind: 'ManifestWork',
  },
] as const;

const NAMES = [
  'metadata',
  'name',
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
  'managedFields',
  'spec',
  'status',
  'data',
  'stringData',
  'type',
  'template',
  'containers',
  'selector',
  'matchLabels',
  'strategy',
  'ports',
  'conditions',
  'names',
  'versions',
  'schema',
  'openAPIV3Schema',
  'properties',
  'items',
  'subjects',
  'roleRef',
  'taints',
  'workload',
  'manifests',
  'replicas',
  'volumes',
  '__proto__',
  'constructor',
  'toString',
  '$patch',
  '$retainKeys',
  '$setElementOrder/containers',
  'fieldsV1',
  'f:spec',
  'k:{',
  '.',
];

const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.constantFrom<JsonValue>(
      null,
      true,
      0,
      -1,
      1.5,
      2 ** 60,
      '',
      'a',
      'A b',
      '*',
      'Apply',
      'delete',
      'replace',
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.constantFrom(...NAMES), tie('value')), { maxLength: 6 })
      .map(
        (pairs) =>
          JSON.parse(
            `{${pairs.map(([key, one]) => `${JSON.stringify(key)}:${JSON.stringify(one)}`).join(',')}}`,
          ) as JsonValue,
      ),
  ),
}));

const PATCHES = [
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/json-patch+json',
] as const;

const operation = fc.record({
  op: fc.constantFrom('add', 'remove', 'replace', 'test', 'copy', 'move', 'x'),
  path: fc.constantFrom(
    '',
    '/',
    '/metadata/labels',
    '/metadata/managedFields',
    '/spec/__proto__/x',
    '/spec/-',
    '/data/a',
    '/metadata/finalizers/0',
  ),
  from: fc.constantFrom('/metadata', '/spec', '/nope'),
  value,
});

describe('hostile bodies', () => {
  it('are answered with a Status or accepted, never with a crash', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...KINDS),
        value,
        fc.array(
          fc.tuple(
            fc.constantFrom(...PATCHES),
            value,
            fc.array(operation, { maxLength: 3 }),
            fc.constantFrom('', '/status'),
          ),
          { maxLength: 4 },
        ),
        (kind, body, patches) => {
          const store = new PipelineStore();
          const { apiVersion, kind: name } = kind;
          const fields =
            typeof body === 'object' && body !== null && !Array.isArray(body) ? body : { spec: body };
          store.send('POST', kind.path, fields);
          store.send('POST', kind.path, { ...fields, apiVersion, kind: name, metadata: { name: 't' } });
          for (const [type, patch, operations, subresource] of patches) {
            const sent =
              type === 'application/json-patch+json'
                ? operations
                : type === 'application/apply-patch+yaml' &&
                    typeof patch === 'object' &&
                    patch !== null &&
                    !Array.isArray(patch)
                  ? { ...patch, apiVersion, kind: name }
                  : patch;
            const answer = store.send(
              'PATCH',
              `${kind.path}/t${subresource}?fieldManager=m&force=true&fieldValidation=Strict`,
              sent,
              type,
            );
            expect(answer.status).toBeGreaterThanOrEqual(200);
            // What does not fit the schema is an internal error upstream, for an apply and for nothing else.
            if (answer.status === 500 && type === 'application/apply-patch+yaml')
              expect(JSON.stringify(answer.body)).toContain('failed to create typed patch object');
            else expect(answer.status).toBeLessThan(500);
          }
          for (const object of store.objects.values()) {
            const ref = KINDS.map((one) => one.path.split('/'))
              .map((parts) =>
                store.scheme.resource(
                  parts[1] === 'api' ? '' : (parts[2] ?? ''),
                  parts[1] === 'api' ? 'v1' : (parts[3] ?? ''),
                  parts[parts.length - 1] ?? '',
                ),
              )
              .find((one) => one?.definition.kind === object['kind']);
            if (ref !== undefined)
              renderTable(ref, [object], {
                listMeta: {},
                includeObject: 'Object',
                now: 0,
                withColumns: true,
              });
          }
          expect(Object.keys(Object.prototype)).toEqual([]);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('duplicate keys are found wherever they stand, and only there', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        const text = JSON.stringify(json);
        expect(duplicateFields(text, JSON.parse(text))).toEqual([]);
        const twice = `{"x":${text},"y":[{"a\\"":1,"b":${text},"a\\"":2}]}`;
        expect(duplicateFields(twice, JSON.parse(twice))).toEqual(['y[0].a"']);
      }),
      { numRuns: 300 },
    );
  });
});
