import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ApiResponse } from '../wire/api-response.ts';
import { jsonResponse } from '../wire/api-response.ts';
import { getOwn, textAt } from '../json/json-value.ts';
import type { JsonObject } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { apiVersionOf } from '../schema/resource-definition.ts';
import { StatusError } from '../wire/status-error.ts';
import { boundedWork } from '../wire/bounded-work.ts';
import type { DecodedBody } from '../body/decoded-body.ts';
import { metadataOf } from '../request/cluster.ts';
import { parseDeleteOptions } from '../request/delete-options.ts';
import { selectPage } from './list-objects.ts';
import { parseListOptions } from '../request/list-options.ts';
import { prepareForSelectors } from '../request/prepare-for-selectors.ts';
import type { DeleteResult, DeleteTarget } from './object-deleter.ts';
import { WebhookResponses } from './webhook-responses.ts';
import { withAdmissionNotes } from './with-admission-notes.ts';
import { warningHeaders } from '../wire/warning-headers.ts';
import { ObjectDeleter } from './object-deleter.ts';
import { awaitsConversion, toVersion } from '../scheme/to-version.ts';
import { decodeWithinBudget } from '../request/request-body.ts';
import type { ResourceContext } from '../request/request-context.ts';

export async function deleteObject(context: ResourceContext, ref: ResourceRef): Promise<ApiResponse> {
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
export async function deleteCollection(context: ResourceContext, ref: ResourceRef): Promise<ApiResponse> {
  const { cluster, info, user, query } = context;
  const options = parseDeleteOptions(await optionsBody(context), query);
  const listOptions = parseListOptions(query, ref);
  await prepareForSelectors(context, { ref, namespace: info.namespace, options: listOptions });
  const selection = { ref, namespace: info.namespace, options: listOptions };
  const page = boundedWork(() => selectPage(cluster, selection));
  const items: JsonObject[] = [];
  let rv = 0;
  for (const entry of page.entries) {
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
