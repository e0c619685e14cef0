/* eslint-disable @typescript-eslint/no-explicit-any -- the published definitions are free-form YAML */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { OCM_GROUPS, ocmSchema } from '../../../src/core/ocm/ocm-groups.ts';
import { ocmDefinitions } from '../../../src/hub/scheme/ocm-definitions.ts';
import { sharedFolder } from '../shared-folder.ts';

const crds = sharedFolder('crds');

/** Newest file of every definition: the one that lists most versions. */
function definitions(folder: string): Map<string, any> {
  const found = new Map<string, any>();
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.yaml'))) {
    const crd = load(readFileSync(join(folder, file), 'utf8')) as any;
    const known = found.get(crd.metadata.name);
    if (known === undefined || crd.spec.versions.length > known.spec.versions.length)
      found.set(crd.metadata.name, crd);
  }
  return found;
}

/** Order of `required` has no meaning. */
function normalized(schema: any): any {
  if (Array.isArray(schema)) return schema.map(normalized);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([key, value]) => [
    key,
    key === 'required' && Array.isArray(value) ? [...value].sort() : normalized(value),
  ]);
  return Object.fromEntries(entries);
}

describe('OCM kinds', () => {
  const served = new Map(ocmDefinitions().map((definition) => [definition.storageKey, definition]));

  it('has one storage version of each', () => {
    expect(served.size).toBe(16);
    for (const definition of served.values()) {
      expect(definition.versions.filter((version) => version.storage)).toHaveLength(1);
    }
  });

  it.skipIf(crds === undefined)('agrees with the published definitions field by field', () => {
    const published = definitions(crds as string);
    // Other projects publish these; their own tests say what ours are.
    const others = [...served.keys()].filter((key) => !key.includes('apps.open-cluster-management.io'));
    expect(others.sort()).toEqual([...published.keys()].sort());
    for (const [name, crd] of published) {
      const { spec } = crd;
      const definition = served.get(name) as NonNullable<ReturnType<typeof served.get>>;
      expect(definition).toMatchObject({
        kind: spec.names.kind,
        plural: spec.names.plural,
        listKind: spec.names.listKind,
      });
      expect(definition.shortNames).toEqual(spec.names.shortNames ?? []);
      expect(definition.namespaced).toBe(spec.scope === 'Namespaced');
      const row = OCM_GROUPS[spec.group]?.find((kind) => kind.kind === spec.names.kind);
      expect(row?.versions.map((version) => version.name).sort()).toEqual(
        spec.versions.map((v: any) => v.name).sort(),
      );
      for (const version of spec.versions) {
        const own = row?.versions.find((candidate) => candidate.name === version.name) as any;
        expect(normalized(ocmSchema(own)), `${name} ${version.name}`).toEqual(
          normalized(version.schema.openAPIV3Schema),
        );
        expect(own.columns ?? []).toEqual(version.additionalPrinterColumns ?? []);
        expect(own.status === true).toBe(version.subresources?.status !== undefined);
        expect(own.storage === true).toBe(version.storage);
      }
    }
  });
});
