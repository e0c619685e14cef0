import {
  getOwn,
  isObject,
  type JsonObject,
  type JsonValue,
  objectAt,
  setOwn,
  textAt,
  withoutKey,
} from '../json/json-value.ts';
import { decodeProblem } from '../schema/decode-problem.ts';
import { applyDefaults } from '../schema/default-values.ts';
import { invalidValue } from '../schema/field-problems.ts';
import { prune } from '../schema/prune.ts';
import { apiVersionOf, type ResourceRef } from '../schema/resource-definition.ts';
import type { Schema } from '../schema/schema.ts';
import { quotedValue } from '../schema/text/quoted-value.ts';
import {
  type EmptyContainers,
  markTypedForm,
  typedFields,
  typedForm,
  withRequiredFields,
} from '../schema/typed-form.ts';
import { typeName } from '../schema/validate-value.ts';
import { coerceObjects } from '../scheme/coerce-objects.ts';
import type { StatusError } from '../wire/status-error.ts';
import { badRequest, invalid } from '../wire/status-errors.ts';
import { type ChangedPart, changedPart } from './validate-object.ts';
import type { WriteRequest } from './write-request.ts';

/** How problems are reported, which differs between patches and complete objects. */
export interface IncomingOptions {
  readonly patch?: JsonValue;
  /** The object that was patched; values that it shares with the result are valid already. */
  readonly live?: JsonObject;
  /** Read only when needed, since finding them costs a walk over the body. */
  readonly strictErrors: readonly string[];
  /** Collects texts of warnings. */
  readonly warnings: string[];
}

/**
 * An object as a client sent it (or as a patch made it): checks kind, namespace and name, removes
 * unknown fields and adds defaults. `fieldValidation` of the request decides whether unknown and
 * duplicate fields are an error, a warning or ignored.
 */
export function prepareIncoming(request: WriteRequest, value: JsonValue, options: IncomingOptions): Incoming {
  if (!isObject(value))
    throw badRequest(`the object provided is unrecognized: expected an object, got ${typeName(value)}`);
  const named = withKind(request, value);
  const { schema, part, whole } = changedPart(request.ref.version.schema, named, options.live);
  const unknown: string[] = [];
  const pruned = prune(schema, requireDecodable(request, schema, part, options), unknown);
  const reported = request.fieldValidation === 'Ignore' ? [] : options.strictErrors;
  report(request, [...reported, ...unknown.map((field) => `unknown field "${field}"`)], options);
  const { object, hasEmptyContainers } = toTypedIncoming(request, {
    schema,
    part: pruned as JsonObject,
    whole,
  });
  return { object: withNamespaceAndName(request, object), hasEmptyContainers };
}

/** A decoded object before it is validated. */
export interface Incoming {
  readonly object: JsonObject;
  /** The object contains empty lists or maps, which are validated but not stored. */
  readonly hasEmptyContainers: boolean;
}

/**
 * Completes a processed part: built-in kinds get the form in which their Go types write them,
 * custom resources the defaults of their schema.
 */
export function toTypedIncoming({ ref }: WriteRequest, { schema, part, whole }: ChangedPart): Incoming {
  if (!ref.definition.builtIn)
    return { object: whole(applyDefaults(schema, part) as JsonObject), hasEmptyContainers: false };
  const emptyContainers: EmptyContainers = { keep: 'all', found: false };
  const object = withRequiredFields(ref.version.schema, whole(typedFields(schema, part, emptyContainers)));
  return { object, hasEmptyContainers: emptyContainers.found };
}

function withKind(request: WriteRequest, object: JsonObject): JsonObject {
  const { ref } = request;
  const apiVersion = textAt(object, 'apiVersion');
  const kind = textAt(object, 'kind');
  const expected = apiVersionOf(ref);
  if (apiVersion !== '' && apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  if (kind !== '' && kind !== ref.definition.kind) {
    throw badRequest(
      `the kind in the data (${kind}) does not match the expected kind (${ref.definition.kind})`,
    );
  }
  if (!ref.definition.builtIn && request.name === '' && kind === '')
    throw badRequest("Object 'Kind' is missing");
  return apiVersion !== '' && kind !== ''
    ? object
    : { ...object, apiVersion: expected, kind: ref.definition.kind };
}

/**
 * Checks that the Go types can decode the object: all of a built-in kind, the metadata of a custom
 * resource.
 */
function requireDecodable(
  request: WriteRequest,
  schema: Schema,
  object: JsonObject,
  { patch }: IncomingOptions,
): JsonObject {
  const refuse = (problem: string): never => {
    throw patch === undefined ? notDecodable(request, problem) : badPatch(patch, problem);
  };
  if (!request.ref.definition.builtIn) return coerceObjects(schema, object, refuse);
  const problem = decodeProblem(schema, object);
  if (problem !== undefined) refuse(problem);
  return object;
}

function notDecodable({ ref }: WriteRequest, problem: string): StatusError {
  const { kind } = ref.definition;
  return badRequest(`${kind} in version "${ref.version.name}" cannot be handled as a ${kind}: ${problem}`);
}

function badPatch(patch: JsonValue, problem: string): StatusError {
  return invalid({ group: '', kind: '' }, '', [invalidValue('patch', quotedValue(patch), problem)]);
}

function report(request: WriteRequest, problems: readonly string[], options: IncomingOptions): void {
  if (problems.length === 0 || request.fieldValidation === 'Ignore') return;
  if (request.fieldValidation === 'Warn') {
    options.warnings.push(...problems);
    return;
  }
  const text = `strict decoding error: ${problems.join(', ')}`;
  throw options.patch === undefined ? notDecodable(request, text) : badPatch(options.patch, text);
}

/**
 * Sets namespace and name from the path, and rejects an object with others. For a path without a
 * namespace, the namespace is removed.
 */
function withNamespaceAndName(request: WriteRequest, object: JsonObject): JsonObject {
  const metadata = objectAt(object, 'metadata') ?? {};
  const [namespace, name] = [textAt(metadata, 'namespace'), textAt(metadata, 'name')];
  if (request.ref.definition.namespaced) {
    if (namespace !== '' && namespace !== request.namespace) {
      throw badRequest(
        'the namespace of the provided object does not match the namespace sent on the request',
      );
    }
  }
  if (request.name !== '' && name !== '' && name !== request.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${request.name})`);
  }
  const newMetadata = withoutEmptyFields(metadata);
  if (request.name !== '') newMetadata['name'] = request.name;
  if (request.namespace !== '') newMetadata['namespace'] = request.namespace;
  else delete newMetadata['namespace'];
  return { ...object, metadata: newMetadata };
}

const DROPPED_WHEN_EMPTY = new Set([
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
  'managedFields',
]);

/** Metadata in stored form: without empty fields and nulls. */
export function withoutEmptyFields(metadata: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(metadata)) {
    const value = metadata[key] as JsonValue;
    if (value === null || value === '') continue;
    if (typeof value === 'object' && DROPPED_WHEN_EMPTY.has(key) && Object.keys(value).length === 0) continue;
    setOwn(result, key, value);
  }
  return result;
}

/**
 * A stored object for a write, with all zero values: an earlier version of the hub may have stored
 * it with fewer.
 */
export function liveObject({ definition, version }: ResourceRef, stored: JsonObject): JsonObject {
  return definition.builtIn ? typedForm(version.schema, stored) : stored;
}

/** The object without the empty lists and maps that were sent, which are not stored. */
export function toStoredForm({ version }: ResourceRef, { object, hasEmptyContainers }: Incoming): JsonObject {
  return hasEmptyContainers ? typedForm(version.schema, object) : object;
}

/**
 * Updates field ownership, which is computed on the stored form, of an object that may still have
 * empty lists and maps.
 */
export function withTrackedFields(
  ref: ResourceRef,
  incoming: Incoming,
  track: (object: JsonObject) => JsonObject,
): JsonObject {
  if (!incoming.hasEmptyContainers) return track(incoming.object);
  const owned = typedForm(ref.version.schema, incoming.object, { keep: 'written', found: false });
  const managed = getOwn(objectAt(track(owned), 'metadata') ?? {}, 'managedFields');
  const metadata = withoutKey(objectAt(incoming.object, 'metadata') ?? {}, 'managedFields');
  return {
    ...incoming.object,
    metadata: managed === undefined ? metadata : { ...metadata, managedFields: managed },
  };
}

/** Marks an object that is about to be stored as having the form of its kind. */
export function markWritten({ definition }: ResourceRef, object: JsonObject): void {
  if (definition.builtIn) markTypedForm(object);
}
