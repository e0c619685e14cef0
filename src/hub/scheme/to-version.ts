import type { JsonObject } from '../json/json-value.ts';
import { autoscalerToV1, autoscalerToV2 } from './autoscaler-conversion.ts';
import { eventFromCore, eventToCore } from './event-conversion.ts';
import type { ResourceRef } from './resource-definition.ts';
import { apiVersionOf } from './resource-definition.ts';

/**
 * A stored object as the version `ref` shows it. Conversion is `None` (only the apiVersion changes), except between the two
 * Event kinds and the two versions of autoscalers. Returns the object itself when nothing has to change.
 */
export function toVersion(object: JsonObject, ref: ResourceRef): JsonObject {
  const apiVersion = apiVersionOf(ref);
  if (object['apiVersion'] === apiVersion) return object;
  if (ref.definition.storageKey === 'events') {
    return apiVersion === 'v1' ? eventToCore(object) : eventFromCore(object);
  }
  if (ref.definition.storageKey === 'horizontalpodautoscalers.autoscaling') {
    return apiVersion === 'autoscaling/v1' ? autoscalerToV1(object) : autoscalerToV2(object);
  }
  return { ...object, apiVersion };
}
