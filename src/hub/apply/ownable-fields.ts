import type { JsonObject } from '../json/json-value.ts';
import { getOwn, isObject } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import type { FieldSet } from './field-set.ts';
import { EMPTY_SET, difference, setOfPaths } from './field-set.ts';

const STATUS = 'f:status';

/** Written by the server or fixed at birth: never owned by anybody. */
const SERVER_FIELDS = setOfPaths([
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...[
    'name',
    'namespace',
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'generation',
    'resourceVersion',
    'managedFields',
    'selfLink',
  ].map((name) => ['f:metadata', `f:${name}`]),
]);

export function withoutServerFields(set: FieldSet): FieldSet {
  return difference(set, SERVER_FIELDS);
}

/** What a request to this endpoint can own at all: the status endpoint status alone, the main endpoint anything else. */
export function ownableSet(ref: ResourceRef, subresource: string, set: FieldSet): FieldSet {
  const status = set.children.get(STATUS);
  if (subresource === 'status') {
    return {
      members: new Set(set.members.has(STATUS) ? [STATUS] : []),
      children: status === undefined ? EMPTY_SET.children : new Map([[STATUS, status]]),
    };
  }
  if (!ref.version.subresources.status || subresource !== '') return set;
  if (status === undefined && !set.members.has(STATUS)) return set;
  const members = new Set(set.members);
  const children = new Map(set.children);
  members.delete(STATUS);
  children.delete(STATUS);
  return { members, children };
}

/** Fields of built-in kinds that are always there, because the API's types hold them by value. */
const PRESENT: Readonly<Record<string, readonly (readonly string[])[]>> = {
  apps: [
    ['spec', 'template', 'metadata'],
    ['spec', 'template', 'spec'],
    ['spec', 'strategy'],
    ['spec', 'updateStrategy'],
  ],
  batch: [
    ['spec', 'template', 'metadata'],
    ['spec', 'template', 'spec'],
    ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
    ['spec', 'jobTemplate', 'metadata'],
  ],
  '': [['source'], ['involvedObject']],
};

/** The object as the API's types hold it: metadata, spec and status of built-in kinds are there even when nothing is said. */
export function withPresentFields(ref: ResourceRef, object: JsonObject): JsonObject {
  if (!ref.definition.builtIn) return object;
  const properties = ref.version.schema.properties;
  let result = object;
  for (const field of ['metadata', 'spec', 'status']) {
    if (properties?.get(field)?.type === 'object') result = withObjectAt(result, [field]);
  }
  for (const path of PRESENT[ref.definition.group] ?? []) {
    if (declares(ref, path)) result = withObjectAt(result, path);
  }
  return result;
}

function declares(ref: ResourceRef, path: readonly string[]): boolean {
  let schema: ResourceRef['version']['schema'] | undefined = ref.version.schema;
  for (const key of path) schema = schema?.properties?.get(key);
  return schema !== undefined;
}

function withObjectAt(object: JsonObject, path: readonly string[]): JsonObject {
  const [key, ...rest] = path;
  if (key === undefined) return object;
  const current = getOwn(object, key);
  const below = isObject(current) ? current : {};
  if (rest.length === 0) return isObject(current) ? object : { ...object, [key]: below };
  const filled = withObjectAt(below, rest);
  return filled === current ? object : { ...object, [key]: filled };
}
