import { describe, expect, it } from 'vitest';
import { lookUpKind } from '../../../src/adapters/yaml/schema/kinds.ts';
import type { Schema } from '../../../src/adapters/yaml/schema/schema.ts';
import { apiVersionOf, OCM_KINDS } from '../../../src/core/model/kinds.ts';
import { OCM_GROUPS, ocmSchema } from '../../../src/hub/scheme/ocm-definitions.ts';

/** Path of a field → what may be in it, in few words. */
type Fields = Map<string, string>;

function fieldsOfManifest(schema: Schema, path: string, into: Fields): Fields {
  if (schema.type === 'object') {
    into.set(path, schema.open ? 'open object' : 'object');
    // Any object: what is checked in it is what all Kubernetes objects have.
    if (schema.open) return into;
    for (const [name, field] of schema.fields) fieldsOfManifest(field, `${path}.${name}`, into);
  } else if (schema.type === 'list') {
    into.set(path, 'list');
    fieldsOfManifest(schema.items, `${path}[]`, into);
  } else if (schema.type === 'map') {
    into.set(path, 'map');
    fieldsOfManifest(schema.values, `${path}{}`, into);
  } else if (schema.type === 'string' && schema.oneOf !== undefined)
    into.set(
      path,
      `one of ${schema.oneOf
        .map((word) => word || '""')
        .toSorted()
        .join(' ')}`,
    );
  else into.set(path, schema.type);
  return into;
}

interface HubSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, HubSchema>>;
  readonly items?: HubSchema;
  readonly additionalProperties?: HubSchema;
  readonly enum?: readonly string[];
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
}

function fieldsOfHub(schema: HubSchema, path: string, into: Fields): Fields {
  const { type = '', properties = {}, items, additionalProperties, enum: values } = schema;
  if (schema['x-kubernetes-int-or-string'] === true) into.set(path, 'intOrString');
  else if (schema['x-kubernetes-embedded-resource'] === true) into.set(path, 'open object');
  else if (values !== undefined) into.set(path, `one of ${values.toSorted().join(' ')}`);
  else if (items !== undefined) {
    into.set(path, 'list');
    fieldsOfHub(items, `${path}[]`, into);
  } else if (additionalProperties !== undefined) {
    into.set(path, 'map');
    fieldsOfHub(additionalProperties, `${path}{}`, into);
  } else {
    into.set(path, type);
    for (const [name, field] of Object.entries(properties)) fieldsOfHub(field, `${path}.${name}`, into);
  }
  return into;
}

/** Where manifests are held to other rules on purpose: path, what a manifest may have, what the hub takes. */
const DIFFERENCES: Readonly<Record<string, readonly (readonly [string, string, string])[]>> = {
  // The hub puts a default in the place of nothing; in a manifest the empty text means the same.
  ManagedClusterSet: [
    [
      '.spec.clusterSelector.selectorType',
      'one of "" ExclusiveClusterSetLabel LabelSelector',
      'one of ExclusiveClusterSetLabel LabelSelector',
    ],
  ],
  // OCM's definitions take any text, and its controllers ignore what they do not know.
  Placement: [
    ['.spec.prioritizerPolicy.mode', 'one of "" Additive Exact', 'string'],
    ['.spec.tolerations[].operator', 'one of "" Equal Exists', 'string'],
  ],
};

/** Both describe OCM's kinds: one for findings in words, the other as OpenAPI. A field, type or word that one lacks is a mistake. */
describe('manifests and the hub agree on the spec of', () => {
  const known = OCM_KINDS.flatMap((info) => {
    const found = lookUpKind(apiVersionOf(info), info.kind);
    const row = OCM_GROUPS[info.group]?.find(({ kind }) => kind === info.kind);
    const version = row?.versions.find(({ name }) => name === info.version);
    return found.state === 'known' ? [{ kind: info.kind, schema: found.known.schema, version }] : [];
  });

  it.each(known)('$kind', ({ kind, schema, version }) => {
    expect(version).toBeDefined();
    if (version === undefined) return;
    const isSpec = (path: string): boolean => path.startsWith('.spec');
    const manifest = fieldsOfManifest(schema, '', new Map());
    const hub = fieldsOfHub(ocmSchema(version), '', new Map());
    const paths = [...new Set([...manifest.keys(), ...hub.keys()])].filter(isSpec).toSorted();
    const differences = paths
      .map((path) => [path, manifest.get(path) ?? 'absent', hub.get(path) ?? 'absent'] as const)
      .filter(([, left, right]) => left !== right);
    expect(differences).toEqual(DIFFERENCES[kind] ?? []);
  });
});
