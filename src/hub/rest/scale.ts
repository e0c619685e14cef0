import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { getOwn, isObject, objectAt } from '../json/json-value.ts';
import type { ResourceRef } from '../scheme/resource-definition.ts';
import { noSuchResource } from '../status/status-errors.ts';
import { metadataOf } from './cluster.ts';

/** autoscaling/v1 Scale of a workload or of a custom resource that declares the paths. */
export function readScale(object: JsonObject, ref: ResourceRef): JsonObject {
  const paths = ref.version.subresources.scale;
  if (paths === undefined) throw noSuchResource();
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadataOf(object);
  const metadata = Object.fromEntries(
    Object.entries({ name, namespace, uid, resourceVersion, creationTimestamp }).filter(
      (entry): entry is [string, JsonValue] => entry[1] !== undefined,
    ),
  );
  const selector =
    paths.labelSelectorPath === undefined ? undefined : valueAt(object, paths.labelSelectorPath);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata,
    spec: { replicas: numberAt(object, paths.specReplicasPath) },
    status: {
      replicas: numberAt(object, paths.statusReplicasPath),
      ...(selector !== undefined && { selector: selectorText(selector) }),
    },
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
  const equalities = objectAt(selector, 'matchLabels') ?? {};
  return Object.entries(equalities)
    .map(([key, value]) => `${key}=${String(value as string)}`)
    .sort()
    .join(',');
}
