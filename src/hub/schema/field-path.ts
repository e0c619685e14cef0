import { cutText } from '../wire/cut-text.ts';

/** Keys and places come from the object: both are cut to what fits into a message. */
const MAX_KEY_LENGTH = 256;
const MAX_PATH_LENGTH = 1_024;

/** A place in an object; rendered only when there is something to say about it. */
export interface FieldPath {
  readonly parent: FieldPath | undefined;
  readonly key: string | number;
  /** The key of a map entry, which is rendered in brackets. */
  readonly inBrackets?: boolean;
}

export function child(parent: FieldPath | undefined, key: string | number): FieldPath {
  return { parent, key };
}

/** The place of a map entry: `data[key]`. */
export function entryOf(parent: FieldPath | undefined, key: string): FieldPath {
  return { parent, key, inBrackets: true };
}

/** `spec.taints[0].key`; '' for the whole object; the beginning of a very long path. */
export function pathText(path: FieldPath | undefined): string {
  const parts: FieldPath[] = [];
  for (let at = path; at !== undefined; at = at.parent) parts.push(at);
  let text = '';
  for (const { key, inBrackets } of parts.reverse()) {
    if (typeof key === 'number') text += `[${String(key)}]`;
    else if (inBrackets === true) text += `[${cutText(key, MAX_KEY_LENGTH)}]`;
    else text += `${text === '' ? '' : '.'}${cutText(key, MAX_KEY_LENGTH)}`;
    if (text.length > MAX_PATH_LENGTH) break;
  }
  return cutText(text, MAX_PATH_LENGTH);
}
