import { decodeBody } from '../body/decode-body.ts';
import type { Answer } from '../http/answer.ts';
import { jsonAnswer } from '../http/answer.ts';
import type { ResourceRef } from '../scheme/resource-definition.ts';
import { unknownBodyFormat, unsupportedPatchType } from '../status/status-errors.ts';
import { partialMetadata } from '../table/partial-metadata.ts';
import { renderTable } from '../table/table.ts';
import { scaleOf } from '../write/scale.ts';
import type { DecodedBody } from '../write/write-request.ts';
import type { WriteResult, WriteTarget } from './object-writer.ts';
import { ObjectWriter } from './object-writer.ts';
import { objectJson } from './representation.ts';
import type { ResourceContext } from './request-context.ts';
import { formOf } from './request-context.ts';
import { includeObjectOf } from './table-options.ts';
import { parseWriteOptions } from './write-options.ts';

export async function createObject(context: ResourceContext, ref: ResourceRef): Promise<Answer> {
  const target = targetOf(context, ref, 'CreateOptions');
  const body = await decoded(context, ref);
  return answerWrite(context, ref, new ObjectWriter(context.cluster).create(target, body));
}

export async function updateObject(context: ResourceContext, ref: ResourceRef): Promise<Answer> {
  const target = targetOf(context, ref, 'UpdateOptions');
  const body = await decoded(context, ref);
  return answerWrite(context, ref, new ObjectWriter(context.cluster).update(target, body));
}

export async function patchObject(context: ResourceContext, ref: ResourceRef): Promise<Answer> {
  const type = context.contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  const apply = type === 'application/apply-patch+yaml' || type === 'application/apply-patch+cbor';
  const target = targetOf(context, ref, apply ? 'ApplyOptions' : 'PatchOptions');
  const writer = new ObjectWriter(context.cluster);
  switch (type) {
    case 'application/apply-patch+yaml':
      return answerWrite(context, ref, writer.apply(target, await decodedAs(context, 'application/yaml')));
    case 'application/merge-patch+json':
      return answerWrite(
        context,
        ref,
        writer.patch(target, 'merge', await decodedAs(context, 'application/json')),
      );
    case 'application/json-patch+json':
      return answerWrite(
        context,
        ref,
        writer.patch(target, 'json', await decodedAs(context, 'application/json')),
      );
    case 'application/strategic-merge-patch+json':
      if (!ref.definition.builtIn) throw unknownBodyFormat(CUSTOM_PATCH_TYPES);
      return answerWrite(
        context,
        ref,
        writer.patch(target, 'strategic', await decodedAs(context, 'application/json')),
      );
    default:
      throw unsupportedPatchType();
  }
}

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

async function decoded(context: ResourceContext, ref: ResourceRef): Promise<DecodedBody> {
  const type = context.contentType === '' ? 'application/json' : context.contentType;
  return decodeBody(await context.body(), type, { kind: ref.definition.kind });
}

async function decodedAs(context: ResourceContext, type: string): Promise<DecodedBody> {
  return decodeBody(await context.body(), type);
}

/** Answers only once the write is on the disk. */
async function answerWrite(context: ResourceContext, ref: ResourceRef, result: WriteResult): Promise<Answer> {
  const { cluster, query } = context;
  await cluster.store.durable(result.rv);
  const code = result.created ? 201 : 200;
  const headers = result.warnings.length === 0 ? undefined : { warning: result.warnings.map(warningHeader) };
  if (context.info.subresource === 'scale') return jsonAnswer(code, scaleOf(ref, result.object), headers);
  const form = formOf(context);
  if (form.as === 'partial') return jsonAnswer(code, partialMetadata(result.object), headers);
  if (form.as !== 'table') {
    // The text that went into the log is the answer, too.
    const { entry, object } = result;
    return jsonAnswer(code, entry === undefined ? object : objectJson(entry, ref), headers);
  }
  const now = cluster.clock.now();
  const includeObject = includeObjectOf(query);
  const table = renderTable(ref, [result.object], { listMeta: {}, includeObject, now, withColumns: true });
  return jsonAnswer(code, { ...table, apiVersion: form.apiVersion }, headers);
}

/** RFC 7234 warn-text: quotes and backslashes escaped, control characters out. */
function warningHeader(text: string): string {
  const safe = [...text].map((char) => (char < ' ' || char > '~' ? ' ' : char)).join('');
  return `299 - "${safe.replace(/[\\"]/g, '\\$&')}"`;
}
