import { describe, expect, it } from 'vitest';
import { openApiDocument, openApiIndex } from '../../src/openapi/openapi.ts';
import { OCM_HUB_KINDS } from '@berth/ocm/definition/ocm-crds';
import { createScheme } from '../../src/scheme/create-scheme.ts';
import { definitionFromCrd } from '../../src/scheme/crd.ts';
import type { OpenApiPaths, OpenApiSchemas } from './open-api-document.ts';
import { references } from './open-api-document.ts';

interface Document {
  readonly paths: OpenApiPaths;
  readonly components: { readonly schemas: OpenApiSchemas };
}

const document = (scheme: ReturnType<typeof createScheme>, path: string): Document =>
  JSON.parse(openApiDocument(scheme, path)?.text ?? 'null') as Document;

describe('OpenAPI v3', () => {
  const scheme = createScheme(OCM_HUB_KINDS);
  const index = openApiIndex(scheme).body['paths'] as Record<string, { serverRelativeURL: string }>;

  it('lists every group and version with the hash of its content', () => {
    expect(Object.keys(index)).toEqual(
      expect.arrayContaining(['api/v1', 'apis/apps/v1', 'apis/work.open-cluster-management.io/v1']),
    );
    expect(index['api/v1']?.serverRelativeURL).toMatch(/^\/openapi\/v3\/api\/v1\?hash=[0-9A-F]{32}$/);
    expect(openApiIndex(createScheme(OCM_HUB_KINDS)).body).toEqual({ paths: index });
  });

  it.each(Object.keys(index))('%s has no dangling references', (path) => {
    const { components } = document(scheme, path);
    for (const reference of new Set(references(document(scheme, path)))) {
      expect(components.schemas).toHaveProperty([reference.replace('#/components/schemas/', '')]);
    }
  });

  it('tells kubectl that the server validates fields, and how to merge lists', () => {
    const apps = document(scheme, 'apis/apps/v1');
    const patch = apps.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']?.patch;
    expect(patch?.['x-kubernetes-group-version-kind']).toEqual({
      group: 'apps',
      version: 'v1',
      kind: 'Deployment',
    });
    expect(patch?.parameters.map(({ name }) => name)).toContain('fieldValidation');
    const containers = apps.components.schemas['io.k8s.api.core.v1.PodSpec']?.properties?.['containers'];
    expect(containers).toMatchObject({
      'x-kubernetes-patch-merge-key': 'name',
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-list-map-keys': ['name'],
      items: { $ref: '#/components/schemas/io.k8s.api.core.v1.Container' },
    });
    expect(
      apps.components.schemas['io.k8s.api.apps.v1.Deployment']?.['x-kubernetes-group-version-kind'],
    ).toEqual([{ group: 'apps', kind: 'Deployment', version: 'v1' }]);
  });

  it('follows custom definitions as they come and go', () => {
    const own = createScheme(OCM_HUB_KINDS);
    const before = openApiDocument(own, 'api/v1');
    own.register(
      definitionFromCrd({
        metadata: { name: 'things.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Cluster',
          names: { kind: 'Thing', plural: 'things' },
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: {
                openAPIV3Schema: {
                  type: 'object',
                  description: 'A thing.',
                  properties: {
                    spec: {
                      type: 'object',
                      properties: { size: { type: 'integer', minimum: 0, description: 'How big.' } },
                    },
                  },
                },
              },
            },
          ],
        },
      }),
    );
    const thing = document(own, 'apis/example.com/v1').components.schemas['com.example.v1.Thing'];
    expect(thing?.description).toBe('A thing.');
    expect(thing?.properties?.['spec']?.properties?.['size']).toEqual({
      type: 'integer',
      minimum: 0,
      description: 'How big.',
    });
    expect(thing?.properties?.['metadata']).toEqual({
      $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
    });
    expect(openApiDocument(own, 'api/v1')?.hash).toBe(before?.hash);
    own.unregister('example.com', 'things');
    expect(openApiDocument(own, 'apis/example.com/v1')).toBeUndefined();
  });
});
