import { formatRfc3339, parseRfc3339 } from '@berth/kube/model/rfc3339';
import {
  type JsonObject,
  type JsonValue,
  getOwn,
  isObject,
  setOwn,
  canonicalJson,
} from '../json/json-value.ts';
import { objectMetaSchema } from './compile-schema.ts';
import type { Schema } from '../schema/schema.ts';
import { decodeProblem } from '../schema/decode-problem.ts';
import { mapEmbedded } from '../schema/embedded-resources.ts';
import { child, type FieldPath, pathText } from '../schema/field-path.ts';

/** Reports why a body cannot be read; does not return. */
export type RefuseBody = (problem: string) => never;

/**
 * Reads the parts of a custom resource that have a Go type: the metadata of the whole object, and
 * apiVersion, kind and metadata of every embedded resource. Embedded metadata is stored as Go
 * writes it after reading it: without empty fields, times in UTC. Unknown fields stay; pruning
 * reports them. Source: apiextensions-apiserver, pkg/apiserver/schema/objectmeta (Coerce).
 */
export function coerceObjects(schema: Schema, object: JsonObject, refuse: RefuseBody): JsonObject {
  const metadata = getOwn(object, 'metadata');
  if (metadata !== undefined) {
    const problem = decodeProblem(objectMetaSchema(), metadata);
    if (problem !== undefined) refuse(problem);
  }
  return mapEmbedded(schema, object, (resource, path) => coerce(resource, path, refuse)) as JsonObject;
}

function coerce(resource: JsonObject, path: FieldPath | undefined, refuse: RefuseBody): JsonObject {
  for (const key of ['apiVersion', 'kind']) {
    const value = getOwn(resource, key);
    if (value !== undefined && typeof value !== 'string')
      refuse(invalidText(child(path, key), value, 'must be a string'));
  }
  const metadata = getOwn(resource, 'metadata');
  if (metadata === undefined) return resource;
  const problem = decodeProblem(objectMetaSchema(), metadata);
  if (problem !== undefined) refuse(invalidText(child(path, 'metadata'), metadata, problem));
  const read = isObject(metadata) ? readBack(metadata) : {};
  return read === metadata ? resource : { ...resource, metadata: read };
}

function invalidText(path: FieldPath, value: JsonValue, detail: string): string {
  return `${pathText(path)}: Invalid value: ${canonicalJson(value)}: ${detail}`;
}

const TIMES = new Set(['creationTimestamp', 'deletionTimestamp']);
const TEXT_MAPS = new Set(['labels', 'annotations']);

/** Metadata as Go writes it after reading it; the same object when nothing differs. */
function readBack(metadata: JsonObject): JsonObject {
  let copy: JsonObject | undefined;
  for (const key of Object.keys(metadata)) {
    const value = metadata[key] as JsonValue;
    const read = readField(key, value);
    if (read === value) continue;
    copy ??= { ...metadata };
    if (read === undefined) delete copy[key];
    else setOwn(copy, key, read);
  }
  return copy ?? metadata;
}

function readField(key: string, value: JsonValue): JsonValue | undefined {
  if (value === null || value === '' || (value === 0 && key === 'generation')) return undefined;
  if (typeof value === 'object' && Object.keys(value).length === 0) return undefined;
  if (TIMES.has(key) && typeof value === 'string') {
    const instant = parseRfc3339(value);
    return instant === undefined ? value : formatRfc3339(instant);
  }
  if (!TEXT_MAPS.has(key) || !isObject(value) || !Object.values(value).includes(null)) return value;
  const texts: JsonObject = {};
  for (const [name, text] of Object.entries(value)) setOwn(texts, name, text ?? '');
  return texts;
}
