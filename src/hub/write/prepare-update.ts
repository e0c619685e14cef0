import { trackUpdate } from '../apply/track-update.ts';
import { appendAll } from '../json/append-all.ts';
import type { JsonObject } from '../json/json-value.ts';
import { deepEqual, getOwn, isObject, objectAt, withoutKey } from '../json/json-value.ts';
import { acceptIncoming, withoutEmpty } from './incoming.ts';
import { specChanged } from './generation.ts';
import { admitted, mutatedBy, notices, ownership } from './prepare-create.ts';
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
import type { DecodedBody } from '../body/decoded-body.ts';
import type { PreparedWrite, WriteRequest } from './write-request.ts';

/** PUT: the object that replaces `live`. Throws 400, 409 and 422. */
export function prepareUpdate(request: WriteRequest, live: JsonObject, body: DecodedBody): PreparedWrite {
  const warnings: string[] = [];
  if (request.subresource === 'scale')
    return finishScale(request, live, replaceScale(request, live, body.value));
  const incoming = acceptIncoming(request, body.value, {
    get strictErrors() {
      return body.strictErrors;
    },
    warnings,
  });
  requireName(request, body.value);
  requireResourceVersion(request, incoming);
  return finishUpdate(request, live, { incoming, warnings, track: trackedAs(request, live) });
}

export interface UpdateSteps {
  /** The whole object as the client wishes it, in the version of the request. */
  readonly incoming: JsonObject;
  readonly warnings: string[];
  /** Notes the ownership of what changed. */
  track(object: JsonObject): JsonObject;
}

export function trackedAs(request: WriteRequest, live: JsonObject): (object: JsonObject) => JsonObject {
  return (object) => trackUpdate(ownership(request), live, object);
}

/** A scale write is an update of one field of the object behind it. */
export function finishScale(request: WriteRequest, live: JsonObject, incoming: JsonObject): PreparedWrite {
  return finishUpdate(request, live, { incoming, warnings: [], track: trackedAs(request, live) });
}

/** What every change of a live object goes through. */
export function finishUpdate(request: WriteRequest, live: JsonObject, steps: UpdateSteps): PreparedWrite {
  const { ref, now, subresource } = request;
  const { warnings } = steps;
  checkPreconditions(request, steps.incoming, live);
  refuseNewFinalizers(request, steps.incoming, live);
  const strategy = strategyOf(ref);
  const kept = keepServerMetadata(steps.incoming, live);
  const mutated = mutatedBy(request, 'UPDATE', kept, live);
  const filled = strategy.fillIn?.(mutated, live, now) ?? mutated;
  const limited = limitToEndpoint(request, steps.track(filled), live);
  const settled = strategy.onUpdate?.(limited, live, subresource) ?? limited;
  let object: JsonObject = { ...settled, metadata: withoutEmpty(objectAt(settled, 'metadata') ?? {}) };
  if (strategy.generation === true && specChanged(ref, live, object)) object = raiseGeneration(object);
  if (sameObject(live, object)) return { object: live, changed: false, warnings };
  validateObject(request, object, live);
  appendAll(warnings, notices(request, object));
  appendAll(warnings, admitted(request, 'UPDATE', object, live));
  return { object, changed: true, warnings };
}

/** The status endpoint (and approval, which is about conditions) changes status alone, the main endpoint everything else; ownership is noted by both. */
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

/** Equal except for the times of ownership and the resourceVersion: such a write leaves no trace. */
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
