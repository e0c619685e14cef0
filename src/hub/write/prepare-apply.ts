import { serverSideApply } from '../apply/server-side-apply.ts';
import { applyDefaults } from '../schema/default-values.ts';
import { coerceObjects } from '../scheme/coerce-objects.ts';
import { decodeProblem } from '../schema/decode-problem.ts';
import type { JsonObject } from '../json/json-value.ts';
import { isObject, objectAt, textAt } from '../json/json-value.ts';
import { apiVersionOf } from '../schema/resource-definition.ts';
import { badRequest, invalid } from '../wire/status-errors.ts';
import { changedPart } from './changed-part.ts';
import { finishCreate, ownership } from './prepare-create.ts';
import { finishUpdate } from './prepare-update.ts';
import { checkPreconditions } from './server-metadata.ts';
import type { DecodedBody } from '../body/decoded-body.ts';
import type { PreparedWrite, WriteRequest } from './write-request.ts';

export interface ApplyOptions {
  readonly force: boolean;
}

/** PATCH with an apply configuration. @param live undefined creates the object. Throws 400, 409 and 422. */
export function prepareApply(
  request: WriteRequest,
  live: JsonObject | undefined,
  body: DecodedBody,
  options: ApplyOptions,
): PreparedWrite {
  if (request.fieldManager === '') throw managerRequired();
  const config = acceptConfig(request, body);
  const warnings = request.fieldValidation === 'Warn' ? [...body.strictErrors] : [];
  if (live !== undefined) checkPreconditions(request, config, live);
  const applied = serverSideApply(
    { ...ownership(request), force: options.force },
    live,
    readConfig(request, config),
  );
  const { schema, part, whole } = changedPart(request.ref.version.schema, applied, live);
  const incoming = whole(applyDefaults(schema, part) as JsonObject);
  const track = (object: JsonObject): JsonObject => object;
  if (live === undefined) return finishCreate(request, withNamespace(request, incoming), warnings, track);
  return finishUpdate(request, live, { incoming, warnings, track });
}

/** Metadata in a configuration, and embedded objects, as they are stored. */
function readConfig({ ref }: WriteRequest, config: JsonObject): JsonObject {
  const refuse = (problem: string): never => {
    throw badRequest(`failed to create typed patch object: ${problem}`);
  };
  if (!ref.definition.builtIn) return coerceObjects(ref.version.schema, config, refuse);
  const problem = decodeProblem(ref.version.schema, config);
  if (problem !== undefined) refuse(problem);
  return config;
}

function withNamespace(request: WriteRequest, object: JsonObject): JsonObject {
  if (request.namespace === '') return object;
  return { ...object, metadata: { ...objectAt(object, 'metadata'), namespace: request.namespace } };
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
  if (sentNamespace !== '' && sentNamespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  return sentName === '' ? { ...value, metadata: { ...metadata, name } } : value;
}
