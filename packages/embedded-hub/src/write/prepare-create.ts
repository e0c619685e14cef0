import {
  type JsonObject,
  type JsonValue,
  getOwn,
  objectAt,
  textAt,
  withoutKey,
  appendAll,
} from '../json/json-value.ts';
import { prune } from '../schema/prune.ts';
import { badRequest } from '../wire/status-errors.ts';
import type { OwnershipRequest } from '../apply/ownership.ts';
import { trackUpdate } from '../apply/track-update.ts';
import { withRequiredFields } from '../schema/typed-form.ts';
import {
  type Incoming,
  markWritten,
  prepareIncoming,
  toStoredForm,
  toTypedIncoming,
  withoutEmptyFields,
  withTrackedFields,
} from './incoming.ts';
import { setServerMetadata } from './server-metadata.ts';
import { strategyOf } from './strategy/all-strategies.ts';
import { changedPart, validateObject } from './validate-object.ts';
import type { AdmissionWrite, DynamicStep, PreparedWrite, WriteRequest } from './write-request.ts';
import type { DecodedBody } from '../body/decode-body.ts';

/** POST: a new object, complete except for its resourceVersion. Throws 400 and 422. */
export function prepareCreate(request: WriteRequest, body: DecodedBody): PreparedWrite {
  const warnings: string[] = [];
  const incoming = prepareIncoming(request, body.value, {
    get strictErrors() {
      return body.strictErrors;
    },
    warnings,
  });
  return finishCreate(request, incoming, warnings, (object) =>
    trackUpdate(ownershipRequest(request), undefined, object),
  );
}

/**
 * The steps of every create, by POST, PUT or apply.
 * @param track sets the ownership of sent and defaulted fields
 */
export function finishCreate(
  request: WriteRequest,
  incoming: Incoming,
  warnings: string[],
  track: (object: JsonObject) => JsonObject,
): PreparedWrite {
  const { ref, now } = request;
  const strategy = strategyOf(ref);
  const { hasEmptyContainers } = incoming;
  const withIdentity = setServerMetadata(request, incoming.object);
  const mutated = mutateAdmission(request, 'CREATE', withIdentity, undefined);
  const filled = strategy.fillIn?.(mutated, undefined, now) ?? mutated;
  const owned = toMutated(request, withTrackedFields(ref, { object: filled, hasEmptyContainers }, track));
  const stripped =
    ref.version.subresources.status && strategy.keepsStatus !== true ? withoutKey(owned, 'status') : owned;
  const complete = ref.definition.builtIn ? withRequiredFields(ref.version.schema, stripped) : stripped;
  const created = strategy.onCreate?.(complete, now) ?? complete;
  const metadata = withoutEmptyFields(objectAt(created, 'metadata') ?? {});
  if (strategy.generation === true) metadata['generation'] = 1;
  const full = { ...created, metadata };
  validateObject(request, full, undefined);
  const stored = toStoredForm(ref, { object: full, hasEmptyContainers });
  const object = strategy.onReadBack?.(stored) ?? stored;
  appendAll(warnings, writeWarnings(request, object));
  appendAll(warnings, validateAdmission(request, 'CREATE', object, undefined));
  appendAll(warnings, request.dynamic?.validate({ operation: 'CREATE', object, old: undefined }) ?? []);
  markWritten(ref, object);
  return { object, changed: true, warnings };
}

/** Mutating webhooks get the object before its uid is set and its name is generated. */
function toMutated(request: WriteRequest, object: JsonObject): JsonObject {
  if (request.dynamic === undefined) return object;
  const metadata = { ...objectAt(object, 'metadata') };
  const isNameGenerated = request.identity !== undefined && textAt(metadata, 'generateName') !== '';
  if (isNameGenerated && textAt(metadata, 'name').endsWith(request.identity.nameSuffix))
    delete metadata['name'];
  delete metadata['uid'];
  delete metadata['creationTimestamp'];
  const withoutIdentity = { ...object, metadata };
  const admittedObject = mutatedByWebhooks(request, {
    operation: 'CREATE',
    object: withoutIdentity,
    old: undefined,
  });
  return admittedObject === withoutIdentity
    ? object
    : setServerMetadata(request, requireSameNamespace(request, admittedObject));
}

/** The result of mutating webhooks, decoded as if a client had sent it. */
export function mutatedByWebhooks(request: WriteRequest, step: DynamicStep): JsonObject {
  const { ref, now, dynamic } = request;
  const { operation, old } = step;
  if (dynamic === undefined) return step.object;
  const owned = getOwn(objectAt(step.object, 'metadata') ?? {}, 'managedFields');
  const filled = (object: JsonObject): JsonObject => strategyOf(ref).fillIn?.(object, old, now) ?? object;
  return dynamic.mutate(step, {
    complete: (object) => {
      const pruned = prune(ref.version.schema, object, []) as JsonObject;
      return filled(
        withOwners(
          toTypedIncoming(request, changedPart(ref.version.schema, pruned, undefined)).object,
          owned,
        ),
      );
    },
    mutateAgain: (object) => filled(mutateAdmission(request, operation, object, old)),
  });
}

/** Restores the managed fields from before the webhooks ran, which may not change them. */
function withOwners(object: JsonObject, managedFields: JsonValue | undefined): JsonObject {
  const metadata = withoutKey(objectAt(object, 'metadata') ?? {}, 'managedFields');
  return { ...object, metadata: managedFields === undefined ? metadata : { ...metadata, managedFields } };
}

function requireSameNamespace(request: WriteRequest, object: JsonObject): JsonObject {
  const namespace = textAt(objectAt(object, 'metadata'), 'namespace');
  if (namespace === request.namespace) return object;
  throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

/** Warnings for every write of the kind: deprecations, and features that the hub does not have. */
export function writeWarnings({ ref }: WriteRequest, object: JsonObject): readonly string[] {
  const deprecated = ref.version.deprecationWarning;
  return [...(deprecated === undefined ? [] : [deprecated]), ...(strategyOf(ref).warnings?.(object) ?? [])];
}

export function ownershipRequest(request: WriteRequest): OwnershipRequest {
  return {
    ref: request.ref,
    subresource: request.subresource,
    manager: request.fieldManager,
    now: request.now,
    convert: request.convert,
  };
}

/** Runs all in-process validators, which throw to reject. */
export function validateAdmission(
  request: WriteRequest,
  operation: 'CREATE' | 'UPDATE',
  object: JsonObject,
  old: JsonObject | undefined,
): readonly string[] {
  if (request.admission.length === 0) return [];
  const write = admissionWrite(request, operation, object, old);
  return request.admission.flatMap((check) => check(write));
}

/** Lets in-process rules change the object. */
export function mutateAdmission(
  request: WriteRequest,
  operation: 'CREATE' | 'UPDATE',
  object: JsonObject,
  old: JsonObject | undefined,
): JsonObject {
  return request.admission.reduce(
    (current, { mutate }) =>
      mutate?.(admissionWrite(request, operation, current, old), request.now) ?? current,
    object,
  );
}

function admissionWrite(
  request: WriteRequest,
  operation: 'CREATE' | 'UPDATE',
  object: JsonObject,
  old: JsonObject | undefined,
): AdmissionWrite {
  const { ref, subresource, user } = request;
  return {
    ...{ operation, ref, subresource, object, old, user },
    can: request.can.bind(request),
    isNamespaceEnding: (namespace) => request.isNamespaceEnding?.(namespace) === true,
  };
}
