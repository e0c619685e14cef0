import { Refusal } from './go-error.ts';

/**
 * How much work one rendering may do. A template is user data and can request anything: lists of
 * lists of lists, texts repeated a billion times, and regular expressions over them. One unit is
 * about one step of the evaluation, one element of a list, or eight characters of new text.
 */
const MAX_WORK = 3_000_000;
/** Maximum number of characters in one text. An object of Kubernetes has at most 1.5 MB. */
const MAX_TEXT = 2 * 1024 * 1024;
/** Maximum number of elements in one list. */
const MAX_ELEMENTS = 500_000;
/** How deep values, templates and expressions may be nested. */
export const MAX_NESTING = 500;

let remaining = MAX_WORK;

/** Starts a rendering. Renderings do not overlap, because each runs to its end without a pause. */
export function beginWork(): void {
  remaining = MAX_WORK;
}

/** @throws Refusal if the rendering has done too much work */
export function spend(units: number): void {
  remaining -= units;
  if (remaining < 0)
    throw new Refusal('the template needs too much work: Berth stops here, Argo CD would continue');
}

/** @throws Refusal if a text would be too long */
export function checkLength(length: number): void {
  if (!(length <= MAX_TEXT))
    throw new Refusal(`the text would have more than ${MAX_TEXT} bytes: Berth does not create it`);
}

/**
 * Counts the work of making a text.
 * @throws Refusal if the text would be too long
 */
export function checkText(length: number): void {
  checkLength(length);
  spend(length >> 3);
}

/** @throws Refusal if a list would be too long */
export function checkElements(count: number): void {
  if (!(count <= MAX_ELEMENTS))
    throw new Refusal(`the list would have more than ${MAX_ELEMENTS} elements: Berth does not create it`);
  spend(count);
}

/** @throws Refusal if values are nested too deep, for example a value that contains itself */
export function checkDepth(depth: number): void {
  if (depth > MAX_NESTING)
    throw new Refusal(`the value is nested more than ${MAX_NESTING} levels deep: Berth stops here`);
  spend(1);
}
