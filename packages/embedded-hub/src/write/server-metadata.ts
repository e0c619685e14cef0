import { forbiddenField } from '../schema/field-problems.ts';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { getOwn, isObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import { badRequest, conflict, invalid, OBJECT_MODIFIED } from '../wire/status-errors.ts';
import { strategyOf } from './strategy/all-strategies.ts';
import type { WriteRequest } from './write-request.ts';

const SERVER_OWNED = [
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'selfLink',
] as const;

/**
 * Sets the metadata of a new object: name, uid, creationTimestamp. Sent values of the server's own
 * fields are dropped.
 */
export function setServerMetadata(request: WriteRequest, object: JsonObject): JsonObject {
  const metadata: JsonObject = { ...objectAt(object, 'metadata') };
  if (textAt(metadata, 'resourceVersion') !== '') {
    throw badRequest('resourceVersion should not be set on objects to be created');
  }
  for (const key of SERVER_OWNED) delete metadata[key];
  const generateName = textAt(metadata, 'generateName');
  if (textAt(metadata, 'name') === '' && generateName !== '') {
    metadata['name'] = generateName.slice(0, 58) + (request.identity?.nameSuffix ?? '');
  }
  if (request.identity !== undefined) metadata['uid'] = request.identity.uid;
  metadata['creationTimestamp'] = request.now;
  return { ...object, metadata };
}

/** Keeps the stored values of the server's own fields, and ignores sent ones. */
export function keepServerMetadata(object: JsonObject, live: JsonObject): JsonObject {
  const metadata: JsonObject = { ...objectAt(object, 'metadata') };
  const stored = objectAt(live, 'metadata') ?? {};
  for (const key of [...SERVER_OWNED, 'resourceVersion']) {
    const value = getOwn(stored, key);
    if (value === undefined) delete metadata[key];
    else metadata[key] = value;
  }
  return { ...object, metadata };
}

/**
 * Preconditions in the metadata of the body: uid and resourceVersion must equal those of the live
 * object.
 */
export function checkPreconditions(request: WriteRequest, object: JsonObject, live: JsonObject): void {
  const [sent, stored] = [objectAt(object, 'metadata'), objectAt(live, 'metadata')];
  const { definition } = request.ref;
  const name = textAt(stored, 'name');
  const uid = textAt(sent, 'uid');
  if (uid !== '' && uid !== textAt(stored, 'uid')) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${textAt(stored, 'uid')}`;
    throw conflict(definition, name, why);
  }
  const version = textAt(sent, 'resourceVersion');
  if (version !== '' && version !== textAt(stored, 'resourceVersion'))
    throw conflict(definition, name, OBJECT_MODIFIED);
}

/** The body of an update must contain the name. */
export function requireName(request: WriteRequest, value: JsonValue): void {
  if (isObject(value) && textAt(objectAt(value, 'metadata'), 'name') !== '') return;
  throw badRequest(
    `the name of the object (${request.name} based on URL) was undeterminable: name must be provided`,
  );
}

/** The body of an update of a custom resource must contain a resourceVersion. */
export function requireResourceVersion(request: WriteRequest, object: JsonObject): void {
  const metadata = objectAt(object, 'metadata');
  const { builtIn, group, kind, plural } = request.ref.definition;
  if (textAt(metadata, 'resourceVersion') !== '') return;
  if (builtIn && strategyOf(request.ref).conditionalUpdate !== true) return;
  throw invalid({ group, kind: builtIn ? plural : kind }, textAt(metadata, 'name'), [
    {
      field: 'metadata.resourceVersion',
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${builtIn ? '0' : '0x0'}: must be specified for an update`,
    },
  ]);
}

/** Rejects new finalizers on an object that is being deleted. */
export function refuseNewFinalizers(request: WriteRequest, object: JsonObject, live: JsonObject): void {
  const stored = objectAt(live, 'metadata');
  if (textAt(stored, 'deletionTimestamp') === '') return;
  const before = new Set<JsonValue>(listAt(stored, 'finalizers'));
  const added = listAt(objectAt(object, 'metadata'), 'finalizers').filter((one) => !before.has(one));
  if (added.length === 0) return;
  const list = added.map((one) => JSON.stringify(one)).join(', ');
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
  throw invalid(request.ref.definition, textAt(stored, 'name'), [
    forbiddenField('metadata.finalizers', detail),
  ]);
}

export function raiseGeneration(object: JsonObject, by = 1): JsonObject {
  const metadata = objectAt(object, 'metadata') ?? {};
  const generation = getOwn(metadata, 'generation');
  return {
    ...object,
    metadata: { ...metadata, generation: (typeof generation === 'number' ? generation : 0) + by },
  };
}
