import { Refusal } from './go-error.ts';

/**
 * How much work a rendering may still do. A template is data of a user, and it can ask for anything: lists of lists of lists, texts
 * repeated a billion times, regular expressions over them. One unit is about a step of the evaluation, an
 * element of a list, or eight characters that are made.
 */
const MAX_WORK = 3_000_000;
/** Characters of one text. An object of Kubernetes has at most 1.5 MB. */
const MAX_TEXT = 2 * 1024 * 1024;
/** Elements of one list. */
const MAX_ELEMENTS = 500_000;
/** How deep values, templates and expressions may be nested. */
export const MAX_NESTING = 500;

let left = MAX_WORK;

/** Begins a rendering. Renderings do not overlap: they run from their start to their end. */
export function beginWork(): void {
  left = MAX_WORK;
}

/** @throws Refusal when the rendering has done too much */
export function spend(units: number): void {
  left -= units;
  if (left < 0)
    throw new Refusal('the template asks for too much work: Berth stops here, Argo CD would go on');
}

/** @throws Refusal where a text would get too long */
export function checkLength(length: number): void {
  if (!(length <= MAX_TEXT))
    throw new Refusal(`the text would have more than ${MAX_TEXT} bytes: Berth does not make it`);
}

/** Counts the work of a text that is made. @throws Refusal where it would get too long */
export function checkText(length: number): void {
  checkLength(length);
  spend(length >> 3);
}

/** @throws Refusal where a list would get too long */
export function checkElements(count: number): void {
  if (!(count <= MAX_ELEMENTS))
    throw new Refusal(`the list would have more than ${MAX_ELEMENTS} elements: Berth does not make it`);
  spend(count);
}

/** @throws Refusal where values are nested too deep, as one is that holds itself */
export function checkDepth(depth: number): void {
  if (depth > MAX_NESTING)
    throw new Refusal(`the value is nested more than ${MAX_NESTING} levels deep: Berth does not go on`);
  spend(1);
}
