import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { applyJsonPatch } from '../patch/json-patch.ts';
import { applyMergePatch, applyStrategicMergePatch } from '../patch/strategic-merge-patch.ts';
import { unknownBodyFormat } from '../wire/status-errors.ts';
import { liveObject, prepareIncoming } from './incoming.ts';
import { finishScale, finishUpdate, makeUpdateTracker } from './prepare-update.ts';
import { patchScale } from './scale.ts';
import type { DecodedBody } from '../body/decode-body.ts';
import type { PreparedWrite, WriteRequest } from './write-request.ts';

export type PatchType = 'json' | 'merge' | 'strategic';

const CUSTOM_PATCH_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/apply-patch+yaml',
];

/**
 * PATCH of every type except apply: applies the patch to the live object, then continues as an
 * update. Throws 400, 409, 415 and 422.
 */
export function preparePatch(
  request: WriteRequest,
  stored: JsonObject,
  type: PatchType,
  body: DecodedBody,
): PreparedWrite {
  const live = liveObject(request.ref, stored);
  const { ref } = request;
  if (type === 'strategic' && !ref.definition.builtIn) throw unknownBodyFormat(CUSTOM_PATCH_TYPES);
  if (request.subresource === 'scale') {
    return finishScale(
      request,
      live,
      patchScale(request, live, (scale) => patched(request, scale, [type, body.value])),
    );
  }
  const warnings: string[] = [];
  const incoming = prepareIncoming(request, patched(request, live, [type, body.value]), {
    patch: body.value,
    live,
    get strictErrors() {
      return body.strictErrors;
    },
    warnings,
  });
  return finishUpdate(request, live, { incoming, warnings, track: makeUpdateTracker(request, live) });
}

function patched(
  request: WriteRequest,
  object: JsonObject,
  [type, patch]: readonly [PatchType, JsonValue],
): JsonObject {
  switch (type) {
    case 'json':
      return applyJsonPatch(object, patch);
    case 'merge':
      return applyMergePatch(object, patch);
    case 'strategic':
      return applyStrategicMergePatch(request.ref.version.schema, object, patch);
  }
}
