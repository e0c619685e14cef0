import { sha256 } from '@berth/runtime/sha256';
import type { JsonObject } from '../json/json-value.ts';
import { subresourceKindSchema } from '../scheme/builtin/builtin-definitions.ts';
import { builtinSchema } from '../scheme/builtin/builtin-schemas.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import type { Scheme } from '../scheme/scheme.ts';
import { kindExtensions, schemaNameOf } from './definition-names.ts';
import { renderPaths } from './render-paths.ts';
import type { Definitions } from './render-schema.ts';
import { define } from './render-schema.ts';

export interface OpenApiDocument {
  readonly text: string;
  /** Depends on the content only: the same after a restart and on every server. */
  readonly hash: string;
}

interface Cache {
  readonly revision: number;
  readonly documents: Map<string, OpenApiDocument>;
}

const caches = new WeakMap<Scheme, Cache>();

/**
 * `GET /openapi/v3`: the URLs of all documents, which contain a hash, so that clients can cache
 * them permanently.
 * @param others URLs of the documents of other servers, by path
 */
export function openApiIndex(
  scheme: Scheme,
  others: Readonly<Record<string, string>> = {},
): { readonly body: JsonObject } {
  const paths: JsonObject = {};
  for (const { group, versions } of scheme.groups()) {
    for (const { version } of versions) {
      const path = pathOf(group, version);
      const hash = openApiDocument(scheme, path)?.hash ?? '';
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
    }
  }
  for (const [path, serverRelativeURL] of Object.entries(others)) paths[path] = { serverRelativeURL };
  return { body: { paths } };
}

/** @param path `api/v1` or `apis/GROUP/VERSION`; undefined when nothing is served there */
export function openApiDocument(scheme: Scheme, path: string): OpenApiDocument | undefined {
  let cache = caches.get(scheme);
  if (cache?.revision !== scheme.revision) {
    cache = { revision: scheme.revision, documents: new Map() };
    caches.set(scheme, cache);
  }
  const known = cache.documents.get(path);
  if (known !== undefined) return known;
  const rendered = render(scheme, path);
  if (rendered !== undefined) cache.documents.set(path, rendered);
  return rendered;
}

function pathOf(group: string, version: string): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}

function render(scheme: Scheme, path: string): OpenApiDocument | undefined {
  for (const { group, versions } of scheme.groups()) {
    const served = versions.find(({ version }) => pathOf(group, version) === path);
    if (served === undefined) continue;
    const text = JSON.stringify(documentOf(path, served.resources));
    return { text, hash: sha256(text).slice(0, 32).toUpperCase() };
  }
  return undefined;
}

function documentOf(path: string, resources: readonly ResourceRef[]): JsonObject {
  const definitions: Definitions = new Map();
  const paths: JsonObject = {};
  for (const ref of resources) {
    const name = schemaNameOf(ref);
    define(ref.version.schema, name, definitions, kindExtensions(ref));
    Object.assign(paths, renderPaths(`/${path}`, ref, name));
    for (const other of ref.version.subresources.others) defineOther(other.kind, definitions);
    if (ref.version.subresources.scale !== undefined) defineOther(SCALE, definitions);
  }
  const options = builtinSchema('machinery:apis.meta.v1.DeleteOptions');
  define(options, options.name ?? '', definitions);
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1' },
    paths,
    components: { schemas: Object.fromEntries([...definitions].sort(([a], [b]) => (a < b ? -1 : 1))) },
  };
}

const SCALE = { group: 'autoscaling', version: 'v1', kind: 'Scale' } as const;

/** Kinds that are bodies of subresources only. */
function defineOther(
  kind: { readonly group: string; readonly version: string; readonly kind: string },
  definitions: Definitions,
): void {
  const schema = subresourceKindSchema(kind.group, kind.kind);
  if (schema?.name !== undefined)
    define(schema, schema.name, definitions, { 'x-kubernetes-group-version-kind': [{ ...kind }] });
}
