import type { JsonObject } from '../json/json-value.ts';
import { textAt } from '../json/json-value.ts';
import { autoscalerToV1, autoscalerToV2 } from './autoscaler-conversion.ts';
import { currentShape, fitTo } from './current-shape.ts';
import { eventFromCore, eventToCore } from './event-conversion.ts';
import { internalError } from '../wire/status-errors.ts';
import type { StatusError } from '../wire/status-error.ts';
import type { ResourceDefinition, ResourceRef } from '../schema/resource-definition.ts';
import { apiVersionOf } from '../schema/resource-definition.ts';

/**
 * A stored object as the version `ref` shows it. Versions of custom resources differ by their apiVersion and their schema; of
 * Kubernetes' own kinds only the two Event kinds and the two versions of autoscalers differ. Returns the object itself when nothing
 * has to change.
 * @throws StatusError 500 when only a conversion webhook could convert, as an API server does whose webhook cannot be reached
 */
export function toVersion(object: JsonObject, ref: ResourceRef): JsonObject {
  const { definition, version } = ref;
  const apiVersion = apiVersionOf(ref);
  if (!definition.builtIn) {
    const shaped = currentShape(object, definition);
    if (shaped['apiVersion'] === apiVersion) return shaped;
    if (definition.needsWebhook === true) throw conversionFailed(shaped);
    return fitTo(version.schema, { ...shaped, apiVersion });
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

function conversionFailed(object: JsonObject): StatusError {
  const kind = `${textAt(object, 'apiVersion')}, Kind=${textAt(object, 'kind')}`;
  return internalError(
    `conversion webhook for ${kind} failed: this hub calls no conversion webhook; use the storage version`,
  );
}

/** The version an object is stored in, which need not be the storage version of today. */
export function storedRef(object: JsonObject, definition: ResourceDefinition): ResourceRef | undefined {
  const version = definition.versions.find(
    (one) => apiVersionOf({ definition, version: one }) === object['apiVersion'],
  );
  return version === undefined ? undefined : { definition, version };
}

/** How `ref` sees the same objects in the version they are stored in. */
export function storageRef(ref: ResourceRef): ResourceRef {
  const { definition } = ref;
  const storage = definition.versions.find((version) => version.storage);
  return storage === undefined || definition.builtIn ? ref : { definition, version: storage };
}
