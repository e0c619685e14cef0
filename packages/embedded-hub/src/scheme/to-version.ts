import type { JsonObject } from '../json/json-value.ts';
import { typedForm } from '../schema/typed-form.ts';
import { autoscalerToV1, autoscalerToV2 } from './conversion/autoscaler-conversion.ts';
import { currentShape, pruneAndDefault, prunedTo } from './current-shape.ts';
import { eventFromCore, eventToCore } from './conversion/event-conversion.ts';
import { cachedConversion, ConversionNeeded, cacheConversion } from './conversion-cache.ts';
import type { ResourceDefinition, ResourceRef } from '../schema/resource-definition.ts';
import { apiVersionOf } from '../schema/resource-definition.ts';

/**
 * Converts a stored object to the version `ref`. Versions of custom resources differ in apiVersion
 * and schema, or are converted by a webhook; of Kubernetes' own kinds only Events and autoscalers
 * are converted. Returns the same object if nothing changes.
 * @throws ConversionNeeded when a webhook must be called first
 */
export function toVersion(object: JsonObject, ref: ResourceRef): JsonObject {
  const { definition, version } = ref;
  const apiVersion = apiVersionOf(ref);
  if (!definition.builtIn) {
    const shaped = currentShape(object, definition);
    if (shaped['apiVersion'] === apiVersion) return shaped;
    switch (definition.conversion?.kind) {
      case 'webhook':
        return byWebhook(object, ref);
      case 'built-in':
        return builtInConversion(object, ref, definition.conversion.convert);
      case undefined:
        return pruneAndDefault(version.schema, { ...shaped, apiVersion });
    }
  }
  if (object['apiVersion'] === apiVersion) return object;
  if (definition.storageKey === 'events') {
    const event = apiVersion === 'v1' ? eventToCore(object) : eventFromCore(object);
    return typedForm(version.schema, event);
  }
  if (definition.storageKey === 'horizontalpodautoscalers.autoscaling') {
    const autoscaler = apiVersion === 'autoscaling/v1' ? autoscalerToV1(object) : autoscalerToV2(object);
    return typedForm(version.schema, autoscaler);
  }
  return { ...object, apiVersion };
}

function byWebhook(object: JsonObject, ref: ResourceRef): JsonObject {
  const converted = cachedConversion(object, ref.version);
  if (converted === undefined) throw new ConversionNeeded(object, ref);
  return converted;
}

function builtInConversion(
  object: JsonObject,
  ref: ResourceRef,
  convert: (object: JsonObject, apiVersion: string) => JsonObject,
): JsonObject {
  const before = cachedConversion(object, ref.version);
  if (before !== undefined) return before;
  const shaped = currentShape(object, ref.definition);
  const converted = prunedTo(ref.version.schema, convert(shaped, apiVersionOf(ref)));
  cacheConversion(object, ref.version, converted);
  return converted;
}

/** The version in which an object is stored, which may be an earlier storage version. */
export function storedRef(object: JsonObject, definition: ResourceDefinition): ResourceRef | undefined {
  const version = definition.versions.find(
    (one) => apiVersionOf({ definition, version: one }) === object['apiVersion'],
  );
  return version === undefined ? undefined : { definition, version };
}

/** `ref` in the storage version. */
export function storageRef(ref: ResourceRef): ResourceRef {
  const { definition } = ref;
  const storage = definition.versions.find((version) => version.storage);
  return storage === undefined || definition.builtIn ? ref : { definition, version: storage };
}

/**
 * Whether the object must be converted to the version of `ref` by a webhook that was not called
 * yet.
 */
export function awaitsConversion(object: JsonObject, ref: ResourceRef): boolean {
  const { definition, version } = ref;
  if (definition.conversion?.kind !== 'webhook') return false;
  return object['apiVersion'] !== apiVersionOf(ref) && cachedConversion(object, version) === undefined;
}
