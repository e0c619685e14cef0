import { groupVersionOf } from '@berth/kube/model/object-ref';
import { InputError } from '@berth/runtime/errors';
import {
  appendAll,
  getOwn,
  isObject,
  type JsonObject,
  type JsonValue,
  listAt,
  objectAt,
  textAt,
} from '../json/json-value.ts';
import { applyDefaults } from '../schema/default-values.ts';
import { prune } from '../schema/prune.ts';
import {
  apiVersionOf,
  type ResourceDefinition,
  type ResourceRef,
  type ResourceVersion,
} from '../schema/resource-definition.ts';
import type { Schema } from '../schema/schema.ts';
import { typedForm } from '../schema/typed-form.ts';
import { errorWithoutReason } from '../wire/status-errors.ts';

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
  const converted = prunedTo(
    ref.version.schema,
    convertible(() => convert(shaped, apiVersionOf(ref))),
  );
  cacheConversion(object, ref.version, converted);
  return converted;
}

/** @throws StatusError 500 for an object that cannot be converted */
function convertible(convert: () => JsonObject): JsonObject {
  try {
    return convert();
  } catch (error) {
    throw error instanceof InputError ? errorWithoutReason(error.message) : error;
  }
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

/** Fields of an Event that have different names in core/v1 and events.k8s.io/v1: [core, events]. */
const RENAMED_EVENT_FIELDS: readonly (readonly [string, string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];

/** events.k8s.io/v1 Event -> core/v1 Event. */
function eventToCore(event: JsonObject): JsonObject {
  return rename(event, 'v1', new Map(RENAMED_EVENT_FIELDS.map(([core, events]) => [events, core])));
}

/** core/v1 Event -> events.k8s.io/v1 Event. */
function eventFromCore(event: JsonObject): JsonObject {
  return rename(event, 'events.k8s.io/v1', new Map(RENAMED_EVENT_FIELDS));
}

function rename(event: JsonObject, apiVersion: string, names: ReadonlyMap<string, string>): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(event)) {
    const value = getOwn(event, key);
    if (value !== undefined) result[names.get(key) ?? key] = value;
  }
  result['apiVersion'] = apiVersion;
  return result;
}

const CPU_TARGET = 'targetCPUUtilizationPercentage';

/** autoscaling/v2 -> v1: the CPU target has a field, every other metric goes into an annotation. */
function autoscalerToV1(object: JsonObject): JsonObject {
  const { metrics: _metrics, behavior: _behavior, ...spec } = objectAt(object, 'spec') ?? {};
  const metrics = listAt(objectAt(object, 'spec'), 'metrics');
  const cpu = metrics.find((metric) => cpuTarget(metric) !== undefined);
  const rest = metrics.filter((metric) => metric !== cpu);
  const target = cpu === undefined ? undefined : cpuTarget(cpu);
  const { conditions: _conditions, currentMetrics: _current, ...status } = objectAt(object, 'status') ?? {};
  const result: JsonObject = {
    ...object,
    apiVersion: 'autoscaling/v1',
    spec: target === undefined ? spec : { ...spec, [CPU_TARGET]: target },
  };
  if (objectAt(object, 'status') !== undefined) result['status'] = status;
  return rest.length === 0 ? result : withAnnotation(result, JSON.stringify(rest));
}

/** The annotation in which v1 keeps metrics that have no field. */
const METRICS_ANNOTATION = 'autoscaling.alpha.kubernetes.io/metrics';

/** autoscaling/v1 -> v2. */
function autoscalerToV2(object: JsonObject): JsonObject {
  const { [CPU_TARGET]: target, ...spec } = objectAt(object, 'spec') ?? {};
  const kept = parsedList(textAt(objectAt(objectAt(object, 'metadata'), 'annotations'), METRICS_ANNOTATION));
  const metrics: JsonValue[] = [];
  if (typeof target === 'number') {
    const resource = { name: 'cpu', target: { type: 'Utilization', averageUtilization: target } };
    metrics.push({ type: 'Resource', resource });
  }
  appendAll(metrics, kept);
  const result: JsonObject = { ...object, apiVersion: 'autoscaling/v2', spec };
  if (metrics.length > 0) result['spec'] = { ...spec, metrics };
  return kept.length === 0 ? result : withAnnotation(result, undefined);
}

function cpuTarget(metric: JsonValue): number | undefined {
  const resource =
    isObject(metric) && metric['type'] === 'Resource' ? objectAt(metric, 'resource') : undefined;
  if (textAt(resource, 'name') !== 'cpu') return undefined;
  const target = getOwn(objectAt(resource, 'target') ?? {}, 'averageUtilization');
  return typeof target === 'number' ? target : undefined;
}

function parsedList(text: string): readonly JsonValue[] {
  if (text === '') return [];
  try {
    const value = JSON.parse(text) as JsonValue;
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function withAnnotation(object: JsonObject, text: string | undefined): JsonObject {
  const metadata = objectAt(object, 'metadata') ?? {};
  const annotations: JsonObject = { ...objectAt(metadata, 'annotations') };
  delete annotations[METRICS_ANNOTATION];
  if (text !== undefined) annotations[METRICS_ANNOTATION] = text;
  const { annotations: _annotations, ...rest } = metadata;
  return { ...object, metadata: Object.keys(annotations).length === 0 ? rest : { ...rest, annotations } };
}

/**
 * A cache of objects that conversion webhooks converted. The pipeline that reads, selects and
 * writes objects is synchronous; a webhook is not. The pipeline looks up converted objects here. If
 * one is missing it throws ConversionNeeded; the request then calls the webhook and runs its
 * synchronous part again. The run that succeeds reads the live object and stores the new one
 * without interruption. Rejected: promises in the write pipeline, since another write could then
 * run between any two steps.
 */

/**
 * By object identity, since stored objects never change. A changed definition has new version
 * objects, so its webhook is called again.
 */
const known = new WeakMap<JsonObject, Map<ResourceVersion, JsonObject>>();

/**
 * Thrown when the synchronous part of a request needs an object in another version. The caller that
 * can wait for the webhook catches it.
 */
export class ConversionNeeded extends Error {
  readonly object: JsonObject;
  readonly ref: ResourceRef;

  /** @param object in the shape of its own version */
  constructor(object: JsonObject, ref: ResourceRef) {
    super('a conversion is needed');
    this.object = object;
    this.ref = ref;
  }
}

function cachedConversion(object: JsonObject, version: ResourceVersion): JsonObject | undefined {
  return known.get(object)?.get(version);
}

export function cacheConversion(object: JsonObject, version: ResourceVersion, converted: JsonObject): void {
  const versions = known.get(object);
  if (versions === undefined) known.set(object, new Map([[version, converted]]));
  else versions.set(version, converted);
}

/**
 * A custom resource is stored in the shape that its definition had when it was written. A read
 * returns it in the shape of the current definition: without removed fields, with defaults that
 * were added since. The stored object stays unchanged, so a definition that is changed by mistake
 * and changed back loses no data. Each object is processed once per version of its definition.
 */
const lastShapes = new WeakMap<
  JsonObject,
  { readonly schema: Schema; readonly shaped: JsonObject } | Schema
>();

/**
 * A stored custom resource in the shape of its current definition; the same object if nothing
 * differs.
 */
export function currentShape(object: JsonObject, definition: ResourceDefinition): JsonObject {
  const schema = versionOf(object, definition)?.schema;
  if (schema === undefined) return object;
  const before = lastShapes.get(object);
  if (before === schema) return object;
  if (before !== undefined && 'shaped' in before && before.schema === schema) return before.shaped;
  const shaped = pruneAndDefault(schema, object);
  lastShapes.set(object, shaped === object ? schema : { schema, shaped });
  return shaped;
}

/** Marks an object as written under this schema, so that reads need not process it. */
export function markCurrent(object: JsonObject, version: ResourceVersion): void {
  lastShapes.set(object, version.schema);
}

/** The object without unknown fields, and with defaults. */
function pruneAndDefault(schema: Schema, object: JsonObject): JsonObject {
  return applyDefaults(schema, prunedTo(schema, object)) as JsonObject;
}

/** The object without unknown fields. */
export function prunedTo(schema: Schema, object: JsonObject): JsonObject {
  return prune(schema, object, []) as JsonObject;
}

/** The version that an object was stored in; the storage version if that one was removed. */
function versionOf(object: JsonObject, { versions }: ResourceDefinition): ResourceVersion | undefined {
  const { version: name } = groupVersionOf(textAt(object, 'apiVersion'));
  return versions.find((version) => version.name === name) ?? versions.find(({ storage }) => storage);
}
