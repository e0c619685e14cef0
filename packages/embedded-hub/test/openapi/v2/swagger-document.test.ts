import { describe, expect, it } from 'vitest';
import { swaggerDocument } from '../../../src/openapi/v2/swagger-document.ts';
import { OCM_HUB_KINDS } from '@berth/ocm/definition/ocm-crds';
import { createScheme } from '../../../src/scheme/create-scheme.ts';
import { definitionFromCrd } from '../../../src/scheme/crd.ts';
import type { OpenApiPaths, OpenApiSchemas } from '../open-api-document.ts';
import { references } from '../open-api-document.ts';
import { thingCrd } from './thing-crd.ts';

interface Document {
  readonly paths: OpenApiPaths;
  readonly definitions: OpenApiSchemas;
}

const DEFINITIONS = '#/definitions/';

describe('OpenAPI v2', () => {
  const scheme = createScheme(OCM_HUB_KINDS);
  const { json } = swaggerDocument(scheme);
  const document = JSON.parse(json) as Document;

  it('has no dangling references', () => {
    for (const reference of new Set(references(document))) {
      expect(reference).toMatch(/^#\/definitions\//);
      expect(document.definitions).toHaveProperty([reference.slice(DEFINITIONS.length)]);
    }
  });

  it('names the kind of every object and list, each in one definition', () => {
    const kinds = Object.values(document.definitions).flatMap((definition) =>
      (definition['x-kubernetes-group-version-kind'] ?? []).map((kind) => JSON.stringify(kind)),
    );
    expect(new Set(kinds).size).toBe(kinds.length);
    const missing = scheme
      .groups()
      .flatMap(({ group, versions }) =>
        versions.flatMap(({ version, resources }) =>
          resources
            .map(({ definition: { kind } }) => JSON.stringify({ group, kind, version }))
            .filter((kind) => !kinds.includes(kind)),
        ),
      );
    expect(missing).toEqual([]);
    expect(kinds).toContain(JSON.stringify({ group: 'apps', kind: 'DeploymentList', version: 'v1' }));
  });

  it('says types that v2 has no words for as kube-apiserver does', () => {
    for (const word of ['oneOf', 'anyOf', 'allOf', 'nullable']) expect(json).not.toContain(`"${word}":[`);
    const definitions = document.definitions;
    expect(definitions['io.k8s.apimachinery.pkg.util.intstr.IntOrString']).toEqual({
      type: 'string',
      format: 'int-or-string',
    });
    expect(definitions['io.k8s.apimachinery.pkg.api.resource.Quantity']).toEqual({ type: 'string' });
    expect(definitions['io.k8s.apimachinery.pkg.runtime.RawExtension']).toEqual({ type: 'object' });
  });

  it('puts what a field adds beside its reference, not into the definition', () => {
    const { properties } = document.definitions['io.k8s.api.apps.v1.DeploymentSpec'] ?? {};
    expect(properties?.['strategy']).toEqual({
      $ref: '#/definitions/io.k8s.api.apps.v1.DeploymentStrategy',
      'x-kubernetes-patch-strategy': 'retainKeys',
    });
    const own = document.definitions['io.k8s.api.apps.v1.DeploymentStrategy'];
    expect(own).not.toHaveProperty('x-kubernetes-patch-strategy');
  });

  it('tells kubectl how objects are patched, and that the server validates fields', () => {
    const path = '/apis/apps/v1/namespaces/{namespace}/deployments/{name}';
    const patch = document.paths[path]?.patch;
    expect(patch?.['x-kubernetes-group-version-kind']).toEqual({
      group: 'apps',
      version: 'v1',
      kind: 'Deployment',
    });
    expect(patch?.consumes).toContain('application/strategic-merge-patch+json');
    expect(patch?.parameters.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['dryRun', 'fieldValidation']),
    );
    expect(document.paths[`${path}/scale`]?.get.responses['200']?.schema).toEqual({
      $ref: '#/definitions/io.k8s.api.autoscaling.v1.Scale',
    });
  });

  it('is made once for as long as nothing changes, and shared by servers that serve the same', () => {
    const other = createScheme(OCM_HUB_KINDS);
    expect(swaggerDocument(scheme)).toBe(swaggerDocument(scheme));
    expect(swaggerDocument(other)).toBe(swaggerDocument(scheme));
    other.register(definitionFromCrd(thingCrd()));
    expect(swaggerDocument(other).etag).not.toBe(swaggerDocument(scheme).etag);
    other.unregister('example.com', 'things');
    expect(swaggerDocument(other)).toBe(swaggerDocument(scheme));
  });
});

describe('a custom definition in OpenAPI v2', () => {
  const scheme = createScheme(OCM_HUB_KINDS);
  scheme.register(definitionFromCrd(thingCrd()));
  const { definitions } = JSON.parse(swaggerDocument(scheme).json) as Document;
  const spec = definitions['com.example.v1.Thing']?.properties?.['spec'];

  it.each([
    ['a field that may be null has no type', 'maybe', { maxLength: 9 }],
    ['unknown fields leave no properties', 'open', { 'x-kubernetes-preserve-unknown-fields': true }],
    ['a number or a text', 'port', { 'x-kubernetes-int-or-string': true }],
    ['junctors are dropped, limits stay', 'size', { type: 'integer', description: 'How large.', minimum: 1 }],
    ['a set', 'tags', { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' }],
  ])('%s', (_title, field, want) => {
    expect(spec?.properties?.[field]).toEqual(want);
  });

  it('does not require what may be null', () => {
    expect(spec?.required).toEqual(['size']);
  });

  it('has a list, and the fields by which it is selected', () => {
    expect(definitions['com.example.v1.ThingList']?.['x-kubernetes-group-version-kind']).toEqual([
      { group: 'example.com', kind: 'ThingList', version: 'v1' },
    ]);
    expect(definitions['com.example.v1.Thing']?.['x-kubernetes-selectable-fields']).toEqual([
      { fieldPath: 'spec.size' },
    ]);
  });

  it('requires apiVersion and kind of an embedded object', () => {
    const embedded = spec?.properties?.['embedded'];
    expect(embedded?.required).toEqual(['kind', 'apiVersion']);
    expect(embedded?.properties?.['metadata']).toEqual({
      $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
    });
  });
});
