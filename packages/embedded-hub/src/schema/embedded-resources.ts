import { dns1035Label } from '@berth/kube/model/selector/name-rules';
import {
  type JsonObject,
  type JsonValue,
  getOwn,
  isObject,
  setOwn,
  objectAt,
  textAt,
} from '../json/json-value.ts';
import type { FieldProblem } from '../wire/status-errors.ts';
import { type FieldPath, child, entryOf } from './field-path.ts';
import { invalidValue, required } from './field-problems.ts';
import type { Schema } from './schema.ts';
import { validateEmbeddedMetadata } from './validate-metadata.ts';

/** Returns the replacement of an embedded resource, or the same object. */
export type EmbeddedMapping = (resource: JsonObject, path: FieldPath | undefined) => JsonObject;

/** The part of a schema tree that leads to embedded resources. */
interface Places {
  readonly isResource: boolean;
  readonly fields: readonly (readonly [key: string, places: Places])[];
  readonly items: Places | undefined;
  readonly entries: Places | undefined;
}

/**
 * By schema; undefined for one without embedded resources. Schemas of custom resources are trees;
 * built-in ones have none.
 */
const known = new WeakMap<Schema, Places | undefined>();

function placesIn(schema: Schema): Places | undefined {
  if (known.has(schema)) return known.get(schema);
  known.set(schema, undefined);
  const fields: [string, Places][] = [];
  for (const [key, below] of schema.properties ?? []) {
    const places = placesIn(below);
    if (places !== undefined) fields.push([key, places]);
  }
  const items = schema.items === undefined ? undefined : placesIn(schema.items);
  const entries = typeof schema.additional === 'object' ? placesIn(schema.additional) : undefined;
  const isResource = schema.embeddedResource === true;
  const none = !isResource && fields.length === 0 && items === undefined && entries === undefined;
  const places = none ? undefined : { isResource, fields, items, entries };
  known.set(schema, places);
  return places;
}

/** Maps every embedded resource in a value, the outer ones first. Returns the value itself when nothing changed. */
export function mapEmbedded(
  schema: Schema,
  value: JsonValue,
  map: EmbeddedMapping,
  path?: FieldPath,
): JsonValue {
  const places = placesIn(schema);
  return places === undefined ? value : mapPlaces(places, value, map, path);
}

function mapPlaces(
  places: Places,
  value: JsonValue,
  map: EmbeddedMapping,
  path: FieldPath | undefined,
): JsonValue {
  if (Array.isArray(value))
    return places.items === undefined ? value : mapList(places.items, value, map, path);
  if (!isObject(value)) return value;
  const own = places.isResource ? map(value, path) : value;
  return mapFields(places, own, map, path);
}

function mapList(
  items: Places,
  list: JsonValue[],
  map: EmbeddedMapping,
  path: FieldPath | undefined,
): JsonValue[] {
  let copy: JsonValue[] | undefined;
  list.forEach((item, index) => {
    const mapped = mapPlaces(items, item, map, child(path, index));
    if (mapped !== item) (copy ??= [...list])[index] = mapped;
  });
  return copy ?? list;
}

function mapFields(
  { fields, entries }: Places,
  object: JsonObject,
  map: EmbeddedMapping,
  path: FieldPath | undefined,
): JsonObject {
  let copy: JsonObject | undefined;
  for (const [key, places] of fields) {
    const value = getOwn(object, key);
    if (value === undefined) continue;
    const mapped = mapPlaces(places, value, map, child(path, key));
    if (mapped !== value) setOwn((copy ??= { ...object }), key, mapped);
  }
  if (entries === undefined) return copy ?? object;
  for (const [key, value] of Object.entries(object)) {
    if (fields.some(([declared]) => declared === key)) continue;
    const mapped = mapPlaces(entries, value, map, entryOf(path, key));
    if (mapped !== value) setOwn((copy ??= { ...object }), key, mapped);
  }
  return copy ?? object;
}

/**
 * Checks apiVersion, kind and metadata of every embedded resource in a value.
 * Source: apiextensions-apiserver, pkg/apiserver/schema/objectmeta (Validate).
 */
export function validateEmbedded(
  schema: Schema,
  value: JsonValue,
  problems: FieldProblem[],
  path?: FieldPath,
): void {
  mapEmbedded(
    schema,
    value,
    (resource, place) => {
      checkResource(resource, place, problems);
      return resource;
    },
    path,
  );
}

function checkResource(resource: JsonObject, path: FieldPath | undefined, problems: FieldProblem[]): void {
  for (const key of ['apiVersion', 'kind']) {
    const value = getOwn(resource, key);
    if (value === undefined) problems.push(required(child(path, key)));
    else if (value === '') problems.push(invalidValue(child(path, key), value, 'must not be empty'));
  }
  const apiVersion = textAt(resource, 'apiVersion');
  if (apiVersion.indexOf('/') !== apiVersion.lastIndexOf('/')) {
    const detail = `unexpected GroupVersion string: ${apiVersion}`;
    problems.push(invalidValue(child(path, 'apiVersion'), apiVersion, detail));
  }
  const kind = textAt(resource, 'kind');
  const faults = kind === '' ? [] : dns1035Label(kind.toLowerCase());
  if (faults.length > 0) {
    const detail = `may have mixed case, but should otherwise match: ${faults.join(',')}`;
    problems.push(invalidValue(child(path, 'kind'), kind, detail));
  }
  const metadata = objectAt(resource, 'metadata');
  if (metadata !== undefined) validateEmbeddedMetadata(metadata, child(path, 'metadata'), problems);
}
