import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { getOwn, isObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { badRequest, invalid, noSuchResource } from '../wire/status-errors.ts';
import { invalidValue } from '../schema/field-problems.ts';
import type { WriteRequest } from './write-request.ts';

/** autoscaling/v1 Scale of a workload, or of a custom resource that declares the paths. */
export function scaleOf(ref: ResourceRef, object: JsonObject): JsonObject {
  const paths = ref.version.subresources.scale;
  if (paths === undefined) throw noSuchResource();
  const metadata: JsonObject = {};
  for (const key of ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp']) {
    const value = getOwn(objectAt(object, 'metadata') ?? {}, key);
    if (value !== undefined) metadata[key] = value;
  }
  const selector =
    paths.labelSelectorPath === undefined ? undefined : valueAt(object, paths.labelSelectorPath);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata,
    spec: { replicas: numberAt(object, paths.specReplicasPath) },
    status: {
      replicas: numberAt(object, paths.statusReplicasPath),
      ...(selector === undefined ? {} : { selector: selectorText(selector) }),
    },
  };
}

/** PUT of a Scale: the object behind it with the replicas set. */
export function replaceScale(request: WriteRequest, live: JsonObject, scale: JsonValue): JsonObject {
  const paths = request.ref.version.subresources.scale;
  if (paths === undefined) throw noSuchResource();
  if (!isObject(scale)) throw badRequest('the object provided is unrecognized: expected a Scale');
  const replicas = getOwn(objectAt(scale, 'spec') ?? {}, 'replicas') ?? 0;
  if (typeof replicas !== 'number' || !Number.isInteger(replicas))
    throw badRequest('spec.replicas of a Scale is an integer');
  if (replicas < 0) {
    const problem = invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0');
    throw invalid({ group: 'autoscaling', kind: 'Scale' }, request.name, [problem]);
  }
  const version = textAt(objectAt(scale, 'metadata'), 'resourceVersion');
  const uid = textAt(objectAt(scale, 'metadata'), 'uid');
  const metadata: JsonObject = { ...objectAt(live, 'metadata') };
  if (version !== '') metadata['resourceVersion'] = version;
  if (uid !== '') metadata['uid'] = uid;
  return withValueAt({ ...live, metadata }, paths.specReplicasPath.split('.'), replicas);
}

/** PATCH of a Scale, with the patch given as a function. */
export function patchScale(
  request: WriteRequest,
  live: JsonObject,
  patch: (scale: JsonObject) => JsonObject,
): JsonObject {
  return replaceScale(request, live, patch(scaleOf(request.ref, live)));
}

function withValueAt(object: JsonObject, path: readonly string[], value: JsonValue): JsonObject {
  const [key, ...rest] = path;
  if (key === undefined) return object;
  return {
    ...object,
    [key]: rest.length === 0 ? value : withValueAt(objectAt(object, key) ?? {}, rest, value),
  };
}

function valueAt(object: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = object;
  for (const part of path.split('.')) value = isObject(value) ? getOwn(value, part) : undefined;
  return value;
}

function numberAt(object: JsonObject, path: string): number {
  const value = valueAt(object, path);
  return typeof value === 'number' ? value : 0;
}

/** A label selector in the text form; a custom resource may hold that text itself. */
function selectorText(selector: JsonValue): string {
  if (typeof selector === 'string') return selector;
  if (!isObject(selector)) return '';
  const equal = Object.entries(objectAt(selector, 'matchLabels') ?? {}).map(
    ([key, value]) => `${key}=${String(value as string)}`,
  );
  const expressions = Array.isArray(selector['matchExpressions'])
    ? selector['matchExpressions'].filter(isObject)
    : [];
  return [...equal.sort(), ...expressions.map(requirementText)].join(',');
}

function requirementText(requirement: JsonObject): string {
  const key = textAt(requirement, 'key');
  const values = `(${listAt(requirement, 'values')
    .filter((one) => typeof one === 'string')
    .join(',')})`;
  switch (requirement['operator']) {
    case 'In':
      return `${key} in ${values}`;
    case 'NotIn':
      return `${key} notin ${values}`;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return key;
  }
}
