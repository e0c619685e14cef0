import { readdirSync, readFileSync } from 'node:fs';
import { loadAll } from 'js-yaml';
import type { JsonObject } from '../../../src/json/json-value.ts';
import { objectAt, textAt } from '../../../src/json/json-value.ts';
import type { ResourceRef } from '../../../src/schema/resource-definition.ts';
import type { Scheme } from '../../../src/scheme/scheme.ts';

/** All objects of `objects/` and `charts/`: every API server accepts them. */
export function goodObjects(): readonly JsonObject[] {
  return [...editedObjects(), ...objectsIn('charts/')];
}

/** Those of which every field is also tried with other values. */
export function editedObjects(): readonly JsonObject[] {
  return objectsIn('objects/');
}

function objectsIn(folder: string): readonly JsonObject[] {
  return objectsUnder(new URL(folder, import.meta.url));
}

/** The objects of all YAML files of a folder. */
export function objectsUnder(url: URL): readonly JsonObject[] {
  return readdirSync(url)
    .sort()
    .flatMap((file) => loadAll(readFileSync(new URL(file, url), 'utf8')) as JsonObject[]);
}

export function nameOf(object: JsonObject): string {
  return textAt(objectAt(object, 'metadata'), 'name');
}

export function idOf(object: JsonObject): string {
  return `${textAt(object, 'kind')}/${nameOf(object)}`;
}

export const NAMESPACE = 'validation';

/** Path of the collection of an object. */
export function collectionPath(scheme: Scheme, object: JsonObject): string {
  const { definition, version } = refOf(scheme, object);
  const { group, plural, namespaced } = definition;
  const root = group === '' ? `/api/${version.name}` : `/apis/${group}/${version.name}`;
  return `${root}/${namespaced ? `namespaces/${NAMESPACE}/` : ''}${plural}`;
}

function refOf(scheme: Scheme, object: JsonObject): ResourceRef {
  const [group, version] = `/${textAt(object, 'apiVersion')}`.split('/').slice(-2) as [string, string];
  const ref = scheme.kind(group, version, textAt(object, 'kind'));
  if (ref === undefined) throw new Error(`${idOf(object)}: the hub does not serve this kind`);
  return ref;
}
