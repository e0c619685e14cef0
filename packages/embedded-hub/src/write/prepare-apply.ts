import { checkConfig } from '../apply/check-config.ts';
import { withoutManagedFields } from '../apply/managed-fields.ts';
import { serverSideApply } from '../apply/server-side-apply.ts';
import { coerceObjects } from '../scheme/coerce-objects.ts';
import { decodeProblem } from '../schema/decode-problem.ts';
import { deepEqual, isObject, type JsonObject, objectAt, textAt, withoutKey } from '../json/json-value.ts';
import { apiVersionOf } from '../schema/resource-definition.ts';
import { badRequest, conflict, invalid } from '../wire/status-errors.ts';
import { type Incoming, liveObject, toTypedIncoming } from './incoming.ts';
import { finishCreate, ownershipRequest } from './prepare-create.ts';
import { finishUpdate } from './prepare-update.ts';
import { checkPreconditions } from './server-metadata.ts';
import type { DecodedBody } from '../body/decode-body.ts';
import { changedPart } from './validate-object.ts';
import type { PreparedWrite, WriteRequest } from './write-request.ts';

export interface ApplyOptions {
  readonly force: boolean;
}

/**
 * PATCH with an apply configuration.
 * @param stored undefined creates the object. Throws 400, 409 and 422.
 */
export function prepareApply(
  request: WriteRequest,
  stored: JsonObject | undefined,
  body: DecodedBody,
  options: ApplyOptions,
): PreparedWrite {
  const live = stored === undefined ? undefined : liveObject(request.ref, stored);
  if (request.fieldManager === '') throw managerRequired();
  const config = acceptConfig(request, body);
  const warnings = request.fieldValidation === 'Warn' ? [...body.strictErrors] : [];
  if (live === undefined) refuseUid(request, config);
  else checkPreconditions(request, config, live);
  const applied = serverSideApply(
    { ...ownershipRequest(request), force: options.force },
    live,
    readConfig(request, config),
  );
  const incoming = withDefaults(request, applied, live);
  const track = (object: JsonObject): JsonObject => object;
  if (live === undefined) return finishCreate(request, withNamespace(request, incoming), warnings, track);
  return finishUpdate(request, live, { incoming, warnings, track });
}

/** An apply with a uid is meant for an object that exists. */
function refuseUid({ ref, name }: WriteRequest, config: JsonObject): void {
  const uid = textAt(objectAt(config, 'metadata'), 'uid');
  if (uid === '') return;
  const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
  throw conflict(ref.definition, name, why);
}

/**
 * A configuration that changes nothing adds no defaults either, which may be missing in an object
 * that a webhook converted.
 */
function withDefaults(request: WriteRequest, applied: JsonObject, live: JsonObject | undefined): Incoming {
  const { definition, version } = request.ref;
  const converted = definition.conversion !== undefined && live !== undefined;
  if (converted && deepEqual(withoutManagedFields(applied), withoutManagedFields(live)))
    return { object: applied, hasEmptyContainers: false };
  return toTypedIncoming(request, changedPart(version.schema, applied, live));
}

/** Brings metadata and embedded objects of a configuration into stored form. */
function readConfig({ ref }: WriteRequest, config: JsonObject): JsonObject {
  const refuse = (problem: string): never => {
    throw badRequest(`failed to create typed patch object: ${problem}`);
  };
  if (!ref.definition.builtIn) return coerceObjects(ref.version.schema, config, refuse);
  const problem = decodeProblem(ref.version.schema, config);
  if (problem === undefined) return config;
  checkConfig(ref, config);
  refuse(problem);
  return config;
}

function withNamespace(request: WriteRequest, { object, hasEmptyContainers }: Incoming): Incoming {
  if (request.namespace === '') return { object, hasEmptyContainers };
  const metadata = { ...objectAt(object, 'metadata'), namespace: request.namespace };
  return { object: { ...object, metadata }, hasEmptyContainers };
}

function managerRequired(): Error {
  const message = 'Required value: is required for apply patch';
  return invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [
    { field: 'fieldManager', reason: 'FieldValueRequired', message },
  ]);
}

function acceptConfig(request: WriteRequest, body: DecodedBody): JsonObject {
  const { value, strictErrors } = body;
  const { ref, name, namespace } = request;
  if (!isObject(value)) throw badRequest('error decoding YAML: an apply configuration is an object');
  if (strictErrors.length > 0 && request.fieldValidation === 'Strict') {
    throw badRequest(`error strict decoding YAML: ${strictErrors.join(', ')}`);
  }
  const wanted = apiVersionOf(ref);
  const apiVersion = textAt(value, 'apiVersion');
  if (apiVersion === '' || textAt(value, 'kind') === '') {
    throw badRequest('invalid object type: an apply configuration names its apiVersion and kind');
  }
  if (apiVersion !== wanted) {
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${apiVersion}, expected: ${wanted}`,
    );
  }
  if (value['kind'] !== ref.definition.kind) {
    throw badRequest(
      `the kind in the data (${textAt(value, 'kind')}) does not match the expected kind (${ref.definition.kind})`,
    );
  }
  const metadata = objectAt(value, 'metadata') ?? {};
  const [sentName, sentNamespace] = [textAt(metadata, 'name'), textAt(metadata, 'namespace')];
  if (sentName !== '' && sentName !== name) {
    throw badRequest(`the name of the object (${sentName}) does not match the name on the URL (${name})`);
  }
  if (ref.definition.namespaced && sentNamespace !== '' && sentNamespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (sentName !== '' && (ref.definition.namespaced || sentNamespace === '')) return value;
  const placed = ref.definition.namespaced ? metadata : withoutKey(metadata, 'namespace');
  return { ...value, metadata: { ...placed, name } };
}
