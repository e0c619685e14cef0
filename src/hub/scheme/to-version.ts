import type { JsonObject } from '../json/json-value.ts';
import { autoscalerToV1, autoscalerToV2 } from './autoscaler-conversion.ts';
import { currentShape, fitTo } from './current-shape.ts';
import { eventFromCore, eventToCore } from './event-conversion.ts';
import type { ResourceRef } from './resource-definition.ts';
import { apiVersionOf } from './resource-definition.ts';

/**
 * A stored object as the version `ref` shows it. Versions of custom resources differ by their apiVersion and their schema; of
 * Kubernetes' own kinds only the two Event kinds and the two versions of autoscalers differ. Returns the object itself when nothing
 * has to change.
 */
export function toVersion(object: JsonObject, ref: ResourceRef): JsonObject {
  const { definition, version } = ref;
  const apiVersion = apiVersionOf(ref);
  if (!definition.builtIn) {
    const shaped = currentShape(object, definition);
    return shaped['apiVersion'] === apiVersion ? shaped : fitTo(version.schema, { ...shaped, apiVersion });
  }
  if (object['apiVersion'] === apiVersion) return object;
  if (definition.storageKey === 'events') {
    return apiVersion === 'v1' ? eventToCore(object) : eventFromCore(object);
  }
  if (definition.storageKey === 'horizontalpodautoscalers.autoscaling') {
    return apiVersion === 'autoscaling/v1' ? autoscalerToV1(object) : autoscalerToV2(object);
  }
  return { ...object, apiVersion };
}

/** How `ref` sees the same objects in the version they are stored in. */
export function storageRef(ref: ResourceRef): ResourceRef {
  const { definition } = ref;
  const storage = definition.versions.find((version) => version.storage);
  return storage === undefined || definition.builtIn ? ref : { definition, version: storage };
}
