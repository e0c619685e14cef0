import { describe, expect, it } from 'vitest';
import { hasManifestFields } from '../../../src/adapters/yaml/locate-fields.ts';
import { parseManifests } from '../../../src/adapters/yaml/parse-manifests.ts';

describe('the fields of a manifest in a text', () => {
  it.each([
    { name: 'YAML', text: 'apiVersion: v1\nkind: ConfigMap\nspec: [', want: true },
    { name: 'a list', text: '- apiVersion: v1\n  kind: ConfigMap', want: true },
    { name: 'JSON', text: '{\n  "apiVersion": "v1",\n  "kind": "ConfigMap"', want: true },
    { name: 'JSON on one line', text: '{"apiVersion":"v1","kind":"ConfigMap","data":{}', want: true },
    { name: 'JSON in another order', text: '{"kind" : "ConfigMap", "apiVersion" : "v1"', want: true },
    { name: 'YAML on one line', text: '{apiVersion: v1, kind: ConfigMap, data: {', want: true },
    { name: 'one field alone', text: 'kind: pipeline\nsteps: [', want: false },
    { name: 'prose', text: 'The apiVersion: is v1. Its kind: is ConfigMap.', want: false },
    { name: 'longer names', text: 'myapiVersion: v1\nkinds: []', want: false },
  ])('are found in $name: $want', ({ text, want }) => {
    expect(hasManifestFields(text)).toBe(want);
  });

  it.each(['// a comment\n{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}'])(
    'are no text: %s',
    (text) => {
      const { manifests, problems } = parseManifests({ file: 'a.json', text });
      expect(manifests).toEqual([]);
      expect(problems.map(({ severity }) => severity)).toEqual(['error']);
    },
  );
});
