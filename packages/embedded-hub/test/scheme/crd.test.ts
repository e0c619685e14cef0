import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/json-value.ts';
import { OCM_HUB_KINDS } from '@berth/ocm/definition/ocm-crds';
import { createScheme } from '../../src/scheme/create-scheme.ts';
import { definitionFromCrd, establishedStatus, nameConflicts } from '../../src/scheme/crd.ts';

const NOW = '2026-01-01T00:00:00Z';

function crd(names: JsonObject & { readonly plural: string }, status?: JsonObject): JsonObject {
  const version = (name: string, storage: boolean): JsonObject => ({
    name,
    served: true,
    storage,
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 5 } } } },
      },
    },
    subresources: {
      status: {},
      scale: {
        specReplicasPath: '.spec.size',
        statusReplicasPath: '.status.size',
        labelSelectorPath: '.status.selector',
      },
    },
    selectableFields: [{ jsonPath: '.spec.colour' }],
  });
  return {
    metadata: { name: `${names.plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names,
      versions: [version('v1beta1', false), version('v1', true)],
    },
    ...(status === undefined ? {} : { status }),
  };
}

const THING = { kind: 'Thing', plural: 'things', shortNames: ['th'] };

describe('custom resource definitions', () => {
  it('becomes a resource with everything it declares', () => {
    const definition = definitionFromCrd(crd(THING));
    expect(definition).toMatchObject({
      singular: 'thing',
      listKind: 'ThingList',
      namespaced: false,
      builtIn: false,
      storageKey: 'things.example.com',
      shortNames: ['th'],
    });
    expect(definition.versions.map((version) => [version.name, version.storage])).toEqual([
      ['v1', true],
      ['v1beta1', false],
    ]);
    expect(definition.versions[0]).toMatchObject({
      selectableFields: ['spec.colour'],
      subresources: {
        status: true,
        scale: {
          specReplicasPath: 'spec.size',
          statusReplicasPath: 'status.size',
          labelSelectorPath: 'status.selector',
        },
      },
    });
    const metadata = definition.versions[0]?.schema.properties?.get('metadata');
    expect(metadata?.properties?.get('name')?.limits?.maxLength).toBe(5);
    expect(metadata?.properties?.get('labels')?.type).toBe('object');
  });

  it('is established at once, and keeps its times and stored versions', () => {
    const scheme = createScheme(OCM_HUB_KINDS);
    const status = establishedStatus(crd(THING), scheme, NOW);
    expect(status).toMatchObject({
      acceptedNames: THING,
      storedVersions: ['v1'],
      conditions: [
        { type: 'NamesAccepted', status: 'True', lastTransitionTime: NOW },
        { type: 'Established', status: 'True', lastTransitionTime: NOW },
      ],
    });
    const later = establishedStatus(
      crd(THING, { ...status, storedVersions: ['v1alpha1'] }),
      scheme,
      '2027-01-01T00:00:00Z',
    );
    expect(later).toMatchObject({
      storedVersions: ['v1alpha1', 'v1'],
      conditions: [{ lastTransitionTime: NOW }, { lastTransitionTime: NOW }],
    });
  });

  it('is not established when its names are taken', () => {
    const scheme = createScheme(OCM_HUB_KINDS);
    scheme.register(definitionFromCrd(crd(THING)));
    const other = crd({ kind: 'Thing', plural: 'gadgets', shortNames: ['th'] });
    expect(nameConflicts(definitionFromCrd(other), scheme)).toEqual(['thing', 'th', 'Thing', 'ThingList']);
    expect(establishedStatus(other, scheme, NOW)).toMatchObject({
      conditions: [
        { type: 'NamesAccepted', status: 'False' },
        { type: 'Established', status: 'False', reason: 'NotAccepted' },
      ],
    });
    expect(nameConflicts(definitionFromCrd(crd(THING)), scheme)).toEqual([]);
    // One that was established keeps being served when it asks for names that are taken.
    const gadget = { kind: 'Gadget', plural: 'gadgets' };
    const was = establishedStatus(crd(gadget), scheme, NOW);
    expect(establishedStatus(crd({ ...gadget, shortNames: ['th'] }, was), scheme, NOW)).toMatchObject({
      acceptedNames: gadget,
      conditions: [
        { type: 'NamesAccepted', status: 'False' },
        { type: 'Established', status: 'True' },
      ],
    });
  });
});
