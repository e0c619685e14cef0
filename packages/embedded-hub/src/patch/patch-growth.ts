import type { Operation } from 'fast-json-patch';
import type { JsonValue } from '../json/json-value.ts';
import { getOwn, isObject } from '../json/json-value.ts';
import { tooManyCopiedBytes, unprocessablePatch } from '../wire/status-errors.ts';
import { chargeKeys, chargeText, chargeWork } from '../json/work-budget.ts';

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

/** Charges the work of the operations of a JSON patch before they are done. */
export class PatchGrowth {
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
