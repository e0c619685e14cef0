import { trackUpdate } from '../apply/track-update.ts';
import type { DecodedBody } from '../body/decode-body.ts';
import {
  type JsonObject,
  deepEqual,
  getOwn,
  isObject,
  objectAt,
  withoutKey,
  appendAll,
} from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import {
  type Incoming,
  liveObject,
  markWritten,
  prepareIncoming,
  toStoredForm,
  withoutEmptyFields,
  withTrackedFields,
} from './incoming.ts';
import {
  validateAdmission,
  mutateAdmission,
  mutatedByWebhooks,
  writeWarnings,
  ownershipRequest,
} from './prepare-create.ts';
import { replaceScale } from './scale.ts';
import {
  checkPreconditions,
  keepServerMetadata,
  raiseGeneration,
  refuseNewFinalizers,
  requireName,
  requireResourceVersion,
} from './server-metadata.ts';
import { strategyOf } from './strategy/all-strategies.ts';
import { validateObject } from './validate-object.ts';
import type { PreparedWrite, WriteRequest } from './write-request.ts';

/** PUT: the object that replaces `live`. Throws 400, 409 and 422. */
export function prepareUpdate(request: WriteRequest, stored: JsonObject, body: DecodedBody): PreparedWrite {
  const live = liveObject(request.ref, stored);
  const warnings: string[] = [];
  if (request.subresource === 'scale')
    return finishScale(request, live, replaceScale(request, live, body.value));
  const incoming = prepareIncoming(request, body.value, {
    get strictErrors() {
      return body.strictErrors;
    },
    warnings,
  });
  requireName(request, body.value);
  requireResourceVersion(request, incoming.object);
  return finishUpdate(request, live, { incoming, warnings, track: makeUpdateTracker(request, live) });
}

export interface UpdateSteps {
  /** The complete object that the client sent, in the version of the request. */
  readonly incoming: Incoming;
  readonly warnings: string[];
  /** Sets the ownership of changed fields. */
  track(object: JsonObject): JsonObject;
}

export function makeUpdateTracker(
  request: WriteRequest,
  live: JsonObject,
): (object: JsonObject) => JsonObject {
  return (object) => trackUpdate(ownershipRequest(request), live, object);
}

/** A write to `scale` updates one field of the object. */
export function finishScale(request: WriteRequest, live: JsonObject, object: JsonObject): PreparedWrite {
  const incoming = { object, hasEmptyContainers: false };
  return finishUpdate(request, live, { incoming, warnings: [], track: makeUpdateTracker(request, live) });
}

/** The steps of every update. */
export function finishUpdate(request: WriteRequest, live: JsonObject, steps: UpdateSteps): PreparedWrite {
  const { ref, now, subresource } = request;
  const { warnings } = steps;
  const { object: incoming, hasEmptyContainers } = steps.incoming;
  checkPreconditions(request, incoming, live);
  refuseNewFinalizers(request, incoming, live);
  const strategy = strategyOf(ref);
  const kept = keepServerMetadata(incoming, live);
  const mutated = mutateAdmission(request, 'UPDATE', kept, live);
  const filled = strategy.fillIn?.(mutated, live, now) ?? mutated;
  const owned = withTrackedFields(ref, { object: filled, hasEmptyContainers }, (one) => steps.track(one));
  const limited = limitToEndpoint(request, admittedUpdate(request, live, [owned, incoming]), live);
  const restored = strategy.onUpdate?.(limited, live, subresource, now) ?? limited;
  const full: JsonObject = {
    ...restored,
    metadata: withoutEmptyFields(objectAt(restored, 'metadata') ?? {}),
  };
  let object = toStoredForm(ref, { object: full, hasEmptyContainers });
  if (strategy.generation === true && raisesGeneration(ref, live, object)) object = raiseGeneration(object);
  if (sameObject(live, object)) {
    appendAll(warnings, request.dynamic?.validate({ operation: 'UPDATE', object, old: live }) ?? []);
    return { object: live, changed: false, warnings };
  }
  validateObject(request, hasEmptyContainers ? full : object, live);
  appendAll(warnings, writeWarnings(request, object));
  appendAll(warnings, validateAdmission(request, 'UPDATE', object, live));
  appendAll(warnings, request.dynamic?.validate({ operation: 'UPDATE', object, old: live }) ?? []);
  markWritten(ref, object);
  return { object, changed: true, warnings };
}

/** Mutating webhooks get the server's own fields as they were sent, and cannot change them. */
function admittedUpdate(
  request: WriteRequest,
  live: JsonObject,
  [object, incoming]: readonly [JsonObject, JsonObject],
): JsonObject {
  if (request.dynamic === undefined) return object;
  const sent = keepServerMetadata(object, incoming);
  const changed = mutatedByWebhooks(request, { operation: 'UPDATE', object: sent, old: live });
  return changed === sent ? object : keepServerMetadata(changed, live);
}

/**
 * The `status` endpoint (and `approval`, which changes conditions) changes only the status, the
 * main endpoint everything else. Both update ownership.
 */
function limitToEndpoint(request: WriteRequest, object: JsonObject, live: JsonObject): JsonObject {
  const managedFields = getOwn(objectAt(object, 'metadata') ?? {}, 'managedFields');
  if (request.subresource === 'status' || request.subresource === 'approval') {
    const metadata: JsonObject = { ...withoutKey(objectAt(live, 'metadata') ?? {}, 'managedFields') };
    if (managedFields !== undefined) metadata['managedFields'] = managedFields;
    return withStatusOf({ ...live, metadata }, object);
  }
  return request.ref.version.subresources.status ? withStatusOf(object, live) : object;
}

function withStatusOf(object: JsonObject, source: JsonObject): JsonObject {
  const status = getOwn(source, 'status');
  return status === undefined ? withoutKey(object, 'status') : { ...object, status };
}

/**
 * Whether two objects are equal except for times in managedFields and the resourceVersion. Such a
 * write is not stored.
 */
function sameObject(live: JsonObject, object: JsonObject): boolean {
  return deepEqual(withoutTimes(live), withoutTimes(object));
}

function withoutTimes(object: JsonObject): JsonObject {
  const metadata: JsonObject = { ...withoutKey(objectAt(object, 'metadata') ?? {}, 'resourceVersion') };
  const managed = metadata['managedFields'];
  if (Array.isArray(managed)) {
    metadata['managedFields'] = managed.map((entry) => (isObject(entry) ? { ...entry, time: '' } : entry));
  }
  return { ...object, metadata };
}

/**
 * Whether a change increases the generation. Any change does, except one of metadata, and of the status where that is a
 * subresource. The status of built-in kinds never counts.
 */
function raisesGeneration(ref: ResourceRef, before: JsonObject, after: JsonObject): boolean {
  const ignored = new Set(['metadata', 'apiVersion', 'kind']);
  if (ref.version.subresources.status || ref.definition.builtIn) ignored.add('status');
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const key of keys) {
    if (!ignored.has(key) && !deepEqual(getOwn(before, key), getOwn(after, key))) return true;
  }
  return false;
}
