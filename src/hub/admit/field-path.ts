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

/** `spec.taints[0].key`; '' for the whole object. */
export function pathText(path: FieldPath | undefined): string {
  const parts: FieldPath[] = [];
  for (let at = path; at !== undefined; at = at.parent) parts.push(at);
  let text = '';
  for (const { key, inBrackets } of parts.reverse()) {
    if (typeof key === 'number' || inBrackets === true) text += `[${String(key)}]`;
    else text += text === '' ? key : `.${key}`;
  }
  return text;
}
