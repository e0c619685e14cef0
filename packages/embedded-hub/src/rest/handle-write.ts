import type { ApiResponse } from '../wire/api-response.ts';
import { jsonResponse } from '../wire/api-response.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { unknownBodyFormat, unsupportedPatchType } from '../wire/status-errors.ts';
import { partialMetadata } from '../table/partial-metadata.ts';
import { renderTable } from '../table/table.ts';
import { scaleOf } from '../write/scale.ts';
import type { PatchType } from '../write/prepare-patch.ts';
import type { DecodedBody } from '../body/decoded-body.ts';
import type { WriteResult, WriteTarget } from './object-writer.ts';
import { ObjectWriter } from './object-writer.ts';
import { WebhookResponses } from './webhook-responses.ts';
import { withAdmissionNotes } from './with-admission-notes.ts';
import { objectJson } from '../request/representation.ts';
import { decodeWithinBudget } from '../request/request-body.ts';
import type { ResourceContext } from '../request/request-context.ts';
import { negotiatedForm } from '../request/request-context.ts';
import { includeObjectOf } from '../request/table-options.ts';
import { warningHeaders } from '../wire/warning-headers.ts';
import { parseWriteOptions } from '../request/write-options.ts';

export async function createObject(context: ResourceContext, ref: ResourceRef): Promise<ApiResponse> {
  const target = targetOf(context, ref, 'CreateOptions');
  const body = await decodeObject(context, ref);
  return writeResponse(context, ref, await runWrite(context, (writer) => writer.create(target, body)));
}

export async function updateObject(context: ResourceContext, ref: ResourceRef): Promise<ApiResponse> {
  const target = targetOf(context, ref, 'UpdateOptions');
  const body = await decodeObject(context, ref);
  return writeResponse(context, ref, await runWrite(context, (writer) => writer.update(target, body)));
}

export async function patchObject(context: ResourceContext, ref: ResourceRef): Promise<ApiResponse> {
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
