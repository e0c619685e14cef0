import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DecodedBody } from '../body/decode-body.ts';
import { type JsonObject, getOwn, textAt } from '../json/json-value.ts';
import { storageKeyOf, metadataOf } from '../request/cluster.ts';
import { checkNotFuture, parseListOptions } from '../request/list-options.ts';
import { convertForResponse, prepareForSelectors } from '../request/select-objects.ts';
import { entryJson, objectsInVersion, objectJson, includeObjectOf } from '../request/representation.ts';
import {
  decodeWithinBudget,
  negotiatedForm,
  type RequestContext,
  type ResourceContext,
} from '../request/request-context.ts';
import { parseWriteOptions, parseDeleteOptions } from '../request/write-options.ts';
import { type ResourceRef, apiVersionOf } from '../schema/resource-definition.ts';
import { toVersion, awaitsConversion } from '../scheme/to-version.ts';
import { renderTable, partialMetadata } from '../table/table.ts';
import { watchObjects } from '../watch/watch-objects.ts';
import { type ApiResponse, jsonResponse, warningHeaders } from '../wire/api-response.ts';
import { StatusError } from '../wire/status-error.ts';
import {
  boundedWork,
  methodNotAllowed,
  noSuchResource,
  notFound,
  unknownBodyFormat,
  unsupportedPatchType,
} from '../wire/status-errors.ts';
import type { PatchType } from '../write/prepare-patch.ts';
import { scaleOf } from '../write/scale.ts';
import { listObjects, selectPart } from './list-objects.ts';
import { type DeleteResult, type DeleteTarget, ObjectDeleter } from './object-deleter.ts';
import { type WriteResult, type WriteTarget, ObjectWriter } from './object-writer.ts';
import { WebhookResponses } from './webhook-responses.ts';

/**
 * Resolves the resource of a path.
 * @throws StatusError 404
 */
export function resolveResource(context: ResourceContext): ResourceRef {
  const { info, cluster } = context;
  const ref = cluster.scheme.resource(info.group, info.version, info.resource);
  if (ref === undefined || info.rest !== '') throw noSuchResource();
  const { namespaced, plural } = ref.definition;
  if (!namespaced && info.namespace !== '' && plural !== 'namespaces') throw noSuchResource();
  if (namespaced && info.namespace === '' && info.name !== '') throw noSuchResource();
  if (!hasSubresource(ref, info.subresource)) throw noSuchResource();
  return ref;
}

function hasSubresource(ref: ResourceRef, name: string): boolean {
  const { status, scale, others } = ref.version.subresources;
  if (name === '') return true;
  if (name === 'status') return status;
  if (name === 'scale') return scale !== undefined;
  return others.some((other) => other.name === name);
}

/** Every request for stored objects, after authorisation. */
export async function handleResource(context: ResourceContext, ref: ResourceRef): Promise<ApiResponse> {
  const { info } = context;
  requireVerb(context, ref);
  switch (info.verb) {
    case 'list':
      return listObjects(context, ref);
    case 'watch':
      return watchObjects(context, ref);
    case 'get':
      return getObject(context, ref);
    case 'create':
      return createObject(context, ref);
    case 'update':
      return updateObject(context, ref);
    case 'patch':
      return patchObject(context, ref);
    case 'delete':
      return deleteObject(context, ref);
    case 'deletecollection':
      return deleteCollection(context, ref);
    default:
      throw methodNotAllowed();
  }
}

function requireVerb(context: ResourceContext, ref: ResourceRef): void {
  const { info } = context;
  const { definition } = ref;
  if (info.verb === 'create' && (info.name !== '' || (definition.namespaced && info.namespace === '')))
    throw methodNotAllowed();
  if ((info.verb === 'update' || info.verb === 'patch') && info.name === '') throw methodNotAllowed();
  if (info.verb === 'deletecollection' && definition.namespaced && info.namespace === '')
    throw methodNotAllowed();
  if (info.subresource === '') {
    if (!definition.verbs.includes(info.verb)) throw methodNotAllowed();
  } else if (!['get', 'update', 'patch'].includes(info.verb)) throw methodNotAllowed();
}

/** Subresources whose body is the object itself. */
const OBJECT_SUBRESOURCES = new Set(['', 'status', 'approval', 'finalize']);

async function getObject(context: ResourceContext, ref: ResourceRef): Promise<ApiResponse> {
  const { cluster, info, query } = context;
  const form = negotiatedForm(context);
  const requested = /^\d+$/.exec(query.get('resourceVersion') ?? '');
  if (requested !== null) checkNotFuture({ resourceVersion: Number(requested[0]) }, cluster.store.rv);
  const entry = cluster.store.get(storageKeyOf(ref, info.namespace, info.name));
  // A 404 must also be durable: the deletion that led to it may not be on the disk yet.
  await cluster.store.durable(entry?.rv ?? cluster.store.rv);
  if (entry === undefined) throw notFound(ref.definition, info.name);
  await convertForResponse(context, [entry], ref);
  if (info.subresource === 'scale') return jsonResponse(200, scaleOf(ref, toVersion(entry.object, ref)));
  if (!OBJECT_SUBRESOURCES.has(info.subresource)) throw methodNotAllowed();
  if (form.as !== 'table') return jsonResponse(200, entryJson(entry, ref, form));
  const items = objectsInVersion([entry], ref);
  const listMeta = { resourceVersion: String(entry.rv) };
  const includeObject = includeObjectOf(query);
  const now = cluster.clock.now();
  const table: JsonObject = renderTable(ref, items, { listMeta, includeObject, now, withColumns: true });
  return jsonResponse(200, { ...table, apiVersion: form.apiVersion });
}

async function createObject(context: ResourceContext, ref: ResourceRef): Promise<ApiResponse> {
  const target = targetOf(context, ref, 'CreateOptions');
  const body = await decodeObject(context, ref);
  return writeResponse(context, ref, await runWrite(context, (writer) => writer.create(target, body)));
}

async function updateObject(context: ResourceContext, ref: ResourceRef): Promise<ApiResponse> {
  const target = targetOf(context, ref, 'UpdateOptions');
  const body = await decodeObject(context, ref);
  return writeResponse(context, ref, await runWrite(context, (writer) => writer.update(target, body)));
}

const PATCH_TYPES: ReadonlyMap<string, PatchType> = new Map([
  ['application/merge-patch+json', 'merge'],
  ['application/json-patch+json', 'json'],
  ['application/strategic-merge-patch+json', 'strategic'],
]);
const CUSTOM_PATCH_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/apply-patch+yaml',
];

async function patchObject(context: ResourceContext, ref: ResourceRef): Promise<ApiResponse> {
  const type = context.contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  const apply = type === 'application/apply-patch+yaml' || type === 'application/apply-patch+cbor';
  const target = targetOf(context, ref, apply ? 'ApplyOptions' : 'PatchOptions');
  if (type === 'application/apply-patch+yaml') {
    const body = await decodeWithinBudget(await context.body(), 'application/yaml');
    return writeResponse(context, ref, await runWrite(context, (writer) => writer.apply(target, body)));
  }
  const patchType = PATCH_TYPES.get(type);
  if (patchType === undefined) throw unsupportedPatchType();
  if (patchType === 'strategic' && !ref.definition.builtIn) throw unknownBodyFormat(CUSTOM_PATCH_TYPES);
  const body = await decodeWithinBudget(await context.body(), 'application/json');
  return writeResponse(
    context,
    ref,
    await runWrite(context, (writer) => writer.patch(target, patchType, body)),
  );
}

/** Runs a write. If webhooks must be called, it waits for them and starts again. */
async function runWrite(
  context: ResourceContext,
  write: (writer: ObjectWriter) => WriteResult,
): Promise<WriteResult> {
  const responses = new WebhookResponses(context.cluster);
  const writer = new ObjectWriter(context.cluster, responses);
  return withAdmissionNotes(context, responses, () =>
    responses.run(() => write(writer), context.waitOutside),
  );
}

function targetOf(context: ResourceContext, ref: ResourceRef, optionsKind: string): WriteTarget {
  const { info, user, query, userAgent } = context;
  return {
    ref,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
    user,
    options: parseWriteOptions(query, userAgent, optionsKind),
  };
}

async function decodeObject(context: ResourceContext, ref: ResourceRef): Promise<DecodedBody> {
  const type = context.contentType === '' ? 'application/json' : context.contentType;
  return decodeWithinBudget(await context.body(), type, { kind: ref.definition.kind });
}

/** Sends the response after the write is on the disk. */
async function writeResponse(
  context: ResourceContext,
  ref: ResourceRef,
  result: WriteResult,
): Promise<ApiResponse> {
  const { cluster, query } = context;
  await cluster.store.durable(result.rv);
  const code = result.created ? 201 : 200;
  const headers = result.warnings.length === 0 ? undefined : { warning: warningHeaders(result.warnings) };
  if (context.info.subresource === 'scale') return jsonResponse(code, scaleOf(ref, result.object), headers);
  const form = negotiatedForm(context);
  if (form.as === 'partial') return jsonResponse(code, partialMetadata(result.object), headers);
  if (form.as !== 'table') {
    // The JSON that was written to the log is also the response body.
    const { entry, object } = result;
    return jsonResponse(code, entry === undefined ? object : objectJson(entry, ref), headers);
  }
  const now = cluster.clock.now();
  const includeObject = includeObjectOf(query);
  const table = renderTable(ref, [result.object], { listMeta: {}, includeObject, now, withColumns: true });
  return jsonResponse(code, { ...table, apiVersion: form.apiVersion }, headers);
}

/**
 * Runs an operation, writes the audit annotations of admission to the audit log, and adds its
 * warnings to an error response, too.
 */
async function withAdmissionNotes<T>(
  context: RequestContext,
  { annotations, warnings }: WebhookResponses,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw error instanceof StatusError && warnings.length > 0 ? error.withWarnings([...warnings]) : error;
  } finally {
    context.annotate(annotations);
  }
}

async function deleteObject(context: ResourceContext, ref: ResourceRef): Promise<ApiResponse> {
  const { cluster, info, user, query } = context;
  const options = parseDeleteOptions(await optionsBody(context), query);
  const { namespace, name } = info;
  const result = await deleteWithWebhooks(context, { ref, namespace, name, user, options });
  await cluster.store.durable(result.rv);
  const headers = result.warnings.length === 0 ? undefined : { warning: warningHeaders(result.warnings) };
  if (result.outcome === 'gone') return jsonResponse(200, successStatus(ref, result), headers);
  return jsonResponse(200, await inRequestedVersion(context, ref, result.object), headers);
}

/** If webhooks must be called, the deletion waits for them and then starts again. */
async function deleteWithWebhooks(context: ResourceContext, target: DeleteTarget): Promise<DeleteResult> {
  const responses = new WebhookResponses(context.cluster);
  const deleter = new ObjectDeleter(context.cluster, responses);
  return withAdmissionNotes(context, responses, () =>
    responses.runUnbounded(() => deleter.delete(target), context.waitOutside),
  );
}

/**
 * The deleted object in the version of the request, or in its stored version if the webhook fails,
 * since the deletion cannot be undone.
 */
async function inRequestedVersion(
  context: ResourceContext,
  ref: ResourceRef,
  object: JsonObject,
): Promise<JsonObject> {
  if (!awaitsConversion(object, ref)) return toVersion(object, ref);
  try {
    return await context.waitOutside(() => context.cluster.conversions.convert(object, ref));
  } catch (error) {
    if (error instanceof StatusError && error.httpCode === 500) return object;
    throw error;
  }
}

/** Deletes the objects one by one, and ignores those that were deleted meanwhile. */
async function deleteCollection(context: ResourceContext, ref: ResourceRef): Promise<ApiResponse> {
  const { cluster, info, user, query } = context;
  const options = parseDeleteOptions(await optionsBody(context), query);
  const listOptions = parseListOptions(query, ref);
  await prepareForSelectors(context, { ref, namespace: info.namespace, options: listOptions });
  const selection = { ref, namespace: info.namespace, options: listOptions };
  const part = boundedWork(() => selectPart(cluster, selection));
  const items: JsonObject[] = [];
  let rv = 0;
  for (const entry of part.entries) {
    const { namespace, name } = entry;
    try {
      const result = await deleteWithWebhooks(context, {
        ref,
        namespace,
        name,
        user,
        options,
        ofCollection: true,
      });
      items.push(await inRequestedVersion(context, ref, result.object));
      rv = Math.max(rv, result.rv);
    } catch (error) {
      if (!(error instanceof StatusError) || error.httpCode !== 404) throw error;
    }
    if (items.length % 100 === 99) await nextTurn();
  }
  await cluster.store.durable(rv);
  const metadata = { resourceVersion: String(cluster.store.rv) };
  return jsonResponse(200, { kind: ref.definition.listKind, apiVersion: apiVersionOf(ref), metadata, items });
}

async function optionsBody(context: ResourceContext): Promise<DecodedBody | undefined> {
  const bytes = await context.body();
  if (bytes.length === 0) return undefined;
  const type = context.contentType === '' ? 'application/json' : context.contentType;
  return decodeWithinBudget(bytes, type, { kind: 'DeleteOptions' });
}

function successStatus(ref: ResourceRef, result: DeleteResult): JsonObject {
  const { group, plural } = ref.definition;
  const metadata = metadataOf(result.object);
  const uid = getOwn(metadata, 'uid');
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: textAt(metadata, 'name'),
      ...(group !== '' && { group }),
      kind: plural,
      ...(uid !== undefined && { uid }),
    },
  };
}
