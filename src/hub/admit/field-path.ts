/** A place in an object; rendered only when there is something to say about it. */
export interface FieldPath {
  readonly parent: FieldPath | undefined;
  readonly key: string | number;
}

export function child(parent: FieldPath | undefined, key: string | number): FieldPath {
  return { parent, key };
}

/** `spec.taints[0].key`; '' for the whole object. */
export function pathText(path: FieldPath | undefined): string {
  const parts: (string | number)[] = [];
  for (let at = path; at !== undefined; at = at.parent) parts.push(at.key);
  let text = '';
  for (const part of parts.reverse()) {
    if (typeof part === 'number') text += `[${String(part)}]`;
    else text += text === '' ? part : `.${part}`;
  }
  return text;
}
