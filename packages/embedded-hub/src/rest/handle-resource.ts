import type { ApiResponse } from '../wire/api-response.ts';
import { jsonResponse } from '../wire/api-response.ts';
import type { JsonObject } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { methodNotAllowed, noSuchResource, notFound } from '../wire/status-errors.ts';
import { toVersion } from '../scheme/to-version.ts';
import { renderTable } from '../table/table.ts';
import { watchObjects } from '../watch/watch-objects.ts';
import { scaleOf } from '../write/scale.ts';
import { storageKeyOf } from '../request/cluster.ts';
import { deleteCollection, deleteObject } from './handle-delete.ts';
import { createObject, patchObject, updateObject } from './handle-write.ts';
import { checkNotFuture } from '../request/list-options.ts';
import { convertForResponse } from '../request/convert-for-response.ts';
import { listObjects } from './list-objects.ts';
import { entryJson, objectsInVersion } from '../request/representation.ts';
import type { ResourceContext } from '../request/request-context.ts';
import { negotiatedForm } from '../request/request-context.ts';
import { includeObjectOf } from '../request/table-options.ts';

/** Subresources whose body is the object itself. */
const OBJECT_SUBRESOURCES = new Set(['', 'status', 'approval', 'finalize']);

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
