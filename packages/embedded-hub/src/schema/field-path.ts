import { cutText } from '../wire/status-error.ts';

/** Keys and paths come from the object, so both are cut to a length that fits into a message. */
const MAX_KEY_LENGTH = 256;
const MAX_PATH_LENGTH = 1_024;

/** A field path, as field.Path in Kubernetes; rendered only if there is a problem. */
export interface FieldPath {
  readonly parent: FieldPath | undefined;
  readonly key: string | number;
  /** The key of a map entry, which is rendered in brackets. */
  readonly inBrackets?: boolean;
}

export function child(parent: FieldPath | undefined, key: string | number): FieldPath {
  return { parent, key };
}

/** The path of a map entry: `data[key]`. */
export function entryOf(parent: FieldPath | undefined, key: string): FieldPath {
  return { parent, key, inBrackets: true };
}

/** `spec.taints[0].key`; '' for the object itself; a very long path is cut. */
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
