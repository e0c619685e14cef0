import type { Operation } from 'fast-json-patch';
import fastJsonPatch from 'fast-json-patch';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { deepClone, isObject } from '../json/json-value.ts';
import { StatusError } from '../wire/status-error.ts';
import { badRequest, tooManyOperations, unprocessablePatch } from '../wire/status-errors.ts';
import { WorkExceededError } from '../json/work-budget.ts';
import { PatchGrowth } from './patch-growth.ts';

/** maxJSONPatchOperations of k8s.io/apiserver. */
const MAX_OPERATIONS = 10_000;
const OPERATIONS: ReadonlySet<unknown> = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);
/** Names that reach an object's prototype in JavaScript; the library refuses or mangles them. */
const PROTOTYPE_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * RFC 6902. Anything that cannot be applied (a missing path, a failed `test`) is 422; a patch that is no list of operations is 400.
 * Paths through prototype-named keys are refused with 422, too many operations or copied bytes with 413.
 */
export function applyJsonPatch(object: JsonObject, patch: JsonValue): JsonObject {
  const operations = parseOperations(patch);
  const growth = new PatchGrowth();
  let result: JsonValue = deepClone(object);
  try {
    for (const [index, operation] of operations.entries()) {
      growth.charge(result, operation);
      result = fastJsonPatch.applyOperation(result, operation, ...VALIDATED_IN_PLACE, index).newDocument;
    }
  } catch (error) {
    if (error instanceof StatusError || error instanceof WorkExceededError) throw error;
    throw unprocessablePatch();
  }
  if (!isObject(result)) throw unprocessablePatch();
  return result;
}

/** Operations are checked, change the document itself, and reach no prototype. */
const VALIDATED_IN_PLACE = [true, true, true] as const;

function parseOperations(patch: JsonValue): Operation[] {
  if (!Array.isArray(patch)) throw badRequest('error decoding patch: a JSON patch is a list of operations');
  if (patch.length > MAX_OPERATIONS) throw tooManyOperations(MAX_OPERATIONS, patch.length);
  for (const operation of patch) {
    if (!isObject(operation) || !OPERATIONS.has(operation['op'])) {
      throw badRequest(
        'error decoding patch: expected operations with op add, remove, replace, move, copy or test',
      );
    }
    for (const pointer of [operation['path'], operation['from']]) {
      if (typeof pointer === 'string' && pointer.split('/').some((part) => PROTOTYPE_NAMES.has(part)))
        throw unprocessablePatch();
    }
  }
  return deepClone(patch) as unknown as Operation[];
}
