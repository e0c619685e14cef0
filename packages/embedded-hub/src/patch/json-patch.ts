import fastJsonPatch, { type Operation } from 'fast-json-patch';
import { type JsonObject, type JsonValue, deepClone, isObject, getOwn } from '../json/json-value.ts';
import { WorkExceededError, chargeKeys, chargeText, chargeWork } from '../json/work-budget.ts';
import { StatusError } from '../wire/status-error.ts';
import {
  badRequest,
  tooManyOperations,
  unprocessablePatch,
  tooManyCopiedBytes,
} from '../wire/status-errors.ts';

/** maxJSONPatchOperations of k8s.io/apiserver. */
const MAX_OPERATIONS = 10_000;
const OPERATIONS: ReadonlySet<unknown> = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);
/** Names that reach an object's prototype in JavaScript; the library refuses or mangles them. */
const PROTOTYPE_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Maximum bytes of JSON that all `copy` operations of a patch may add. Copies of copies double the
 * object each time. Source of the rule: JSONPatchMaxCopyBytes of k8s.io/apiserver, which also has
 * this limit.
 */
const MAX_COPIED_BYTES = 3 * 1024 * 1024;
const CHARACTERS_PER_STEP = 32;
const PATH_CHARACTERS_PER_STEP = 4;
/** Inserting into a list moves the items after it, which the engine does very fast. */
const MOVED_ITEMS_PER_STEP = 32;

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

/** Charges the work of the operations of a JSON patch before they are done. */
class PatchGrowth {
  #copiedBytes = 0;

  /**
   * @throws StatusError 413 for too much copying, 422 for an index that the list does not have
   * @throws WorkExceededError
   */
  charge(document: JsonValue, operation: Operation): void {
    const target = this.#follow(document, operation.path);
    if (operation.op === 'test') chargeValue(target);
    if (operation.op !== 'copy' && operation.op !== 'move') return;
    const source = this.#follow(document, operation.from);
    chargeValue(source);
    if (operation.op === 'copy' && source !== undefined) this.#count(source);
    // The library clones the document to check whether the path exists.
    chargeValue(document);
    chargeValue(document);
  }

  #count(copied: JsonValue): void {
    this.#copiedBytes += Buffer.byteLength(JSON.stringify(copied));
    if (this.#copiedBytes > MAX_COPIED_BYTES) throw tooManyCopiedBytes(MAX_COPIED_BYTES);
  }

  #follow(document: JsonValue, pointer: string): JsonValue | undefined {
    chargeText(pointer.length + 1, PATH_CHARACTERS_PER_STEP);
    let value: JsonValue | undefined = document;
    for (const part of pointer.split('/').slice(1)) {
      const key = part.replace(/~1/g, '/').replace(/~0/g, '~');
      if (Array.isArray(value)) {
        // The library takes the index modulo 2^32.
        if (/^\d+$/.test(key) && Number(key) > value.length) throw unprocessablePatch();
        chargeWork(Math.ceil(value.length / MOVED_ITEMS_PER_STEP));
        value = value[Number(key)];
      } else value = isObject(value) ? getOwn(value, key) : undefined;
    }
    return value;
  }
}

/** Cloning or comparing a value visits all of it. */
function chargeValue(value: JsonValue | undefined): void {
  if (typeof value === 'string') chargeText(value.length, CHARACTERS_PER_STEP);
  else if (Array.isArray(value)) {
    chargeWork(value.length);
    value.forEach(chargeValue);
  } else if (isObject(value)) {
    const below = Object.values(value);
    chargeKeys(below.length);
    below.forEach(chargeValue);
  }
}
