/* eslint-disable @typescript-eslint/no-explicit-any -- the published definitions are free-form YAML */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { OCM_GROUPS, ocmSchema } from '@berth/ocm/definition/ocm-groups';
import { ACCESS_GROUPS, OCM_HUB_KINDS } from '@berth/ocm/definition/ocm-crds';
import { createScheme } from '../../src/scheme/create-scheme.ts';

/**
 * The CustomResourceDefinitions that OCM publishes (open-cluster-management.io/api, mid-2026), without descriptions: one
 * a line, of files for the same definition the one with most versions.
 */
const PUBLISHED: readonly any[] = gunzipSync(
  readFileSync(join(import.meta.dirname, 'ocm-definitions.jsonl.gz')),
)
  .toString('utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

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

describe('the kinds of OCM', () => {
  const custom = createScheme(OCM_HUB_KINDS)
    .definitions()
    .filter(({ builtIn }) => !builtIn);
  const served = new Map(custom.map((definition) => [definition.storageKey, definition]));

  it('have one storage version each', () => {
    expect(served.size).toBe(19);
    for (const definition of served.values()) {
      expect(definition.versions.filter((version) => version.storage)).toHaveLength(1);
    }
  });

  it('are those that OCM publishes, beside those of other projects', () => {
    // Their own tests say what they are.
    const others = [...served.keys()].filter((key) => !key.includes('apps.open-cluster-management.io'));
    expect(others.sort()).toEqual(PUBLISHED.map(({ metadata }) => metadata.name).sort());
  });

  it.each(PUBLISHED.map((crd) => [crd.metadata.name as string, crd.spec]))(
    'agree with the published definition field by field: %s',
    (name, spec) => {
      const definition = served.get(name) as NonNullable<ReturnType<typeof served.get>>;
      expect(definition).toMatchObject({
        kind: spec.names.kind,
        plural: spec.names.plural,
        listKind: spec.names.listKind,
      });
      expect(definition.shortNames).toEqual(spec.names.shortNames ?? []);
      expect(definition.namespaced).toBe(spec.scope === 'Namespaced');
      const row = { ...OCM_GROUPS, ...ACCESS_GROUPS }[spec.group as string]?.find(
        (kind) => kind.kind === spec.names.kind,
      );
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
    },
  );
});
