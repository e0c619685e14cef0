import { appendAll } from '../json/append-all.ts';
import type { JsonObject } from '../json/json-value.ts';
import { objectAt, withoutKey } from '../json/json-value.ts';
import { trackUpdate } from '../apply/track-update.ts';
import { acceptIncoming, withoutEmpty } from './incoming.ts';
import { birthMetadata } from './server-metadata.ts';
import { strategyOf } from './strategy/all-strategies.ts';
import { validateObject } from './validate-object.ts';
import type { AdmissionWrite, PreparedWrite, WriteRequest } from './write-request.ts';
import type { DecodedBody } from '../body/decoded-body.ts';

/** POST: a new object, complete except for its resourceVersion. Throws 400 and 422. */
export function prepareCreate(request: WriteRequest, body: DecodedBody): PreparedWrite {
  const warnings: string[] = [];
  const incoming = acceptIncoming(request, body.value, {
    get strictErrors() {
      return body.strictErrors;
    },
    warnings,
  });
  return finishCreate(request, incoming, warnings, (object) =>
    trackUpdate(ownership(request), undefined, object),
  );
}

/** What creation does, however the object came about. @param track notes the ownership of what was sent and defaulted */
export function finishCreate(
  request: WriteRequest,
  incoming: JsonObject,
  warnings: string[],
  track: (object: JsonObject) => JsonObject,
): PreparedWrite {
  const { ref, now } = request;
  const strategy = strategyOf(ref);
  const born = birthMetadata(request, incoming);
  const mutated = mutatedBy(request, 'CREATE', born, undefined);
  const filled = strategy.fillIn?.(mutated, undefined, now) ?? mutated;
  const tracked = track(filled);
  const stripped =
    ref.version.subresources.status && strategy.keepsStatus !== true
      ? withoutKey(tracked, 'status')
      : tracked;
  const made = strategy.onCreate?.(stripped, now) ?? stripped;
  const metadata = withoutEmpty(objectAt(made, 'metadata') ?? {});
  if (strategy.generation === true) metadata['generation'] = 1;
  const object = { ...made, metadata };
  validateObject(request, object, undefined);
  appendAll(warnings, notices(request, object));
  appendAll(warnings, admitted(request, 'CREATE', object, undefined));
  return { object, changed: true, warnings };
}

/** Texts that come with every write of the kind: what is deprecated, what is not done here. */
export function notices({ ref }: WriteRequest, object: JsonObject): readonly string[] {
  const deprecated = ref.version.deprecationWarning;
  return [...(deprecated === undefined ? [] : [deprecated]), ...(strategyOf(ref).warnings?.(object) ?? [])];
}

export function ownership(request: WriteRequest): {
  readonly ref: WriteRequest['ref'];
  readonly subresource: string;
  readonly manager: string;
  readonly now: string;
} {
  return {
    ref: request.ref,
    subresource: request.subresource,
    manager: request.fieldManager,
    now: request.now,
  };
}

/** Asks every in-process validator; they refuse by throwing. */
export function admitted(
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
export function mutatedBy(
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
  return { operation, ref, subresource, object, old, user, can: request.can.bind(request) };
}
