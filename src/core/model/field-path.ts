/** Where a value is inside an object: field names and list indexes, outermost first. */
export type FieldPath = readonly (string | number)[];

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** `spec.predicates[0].labels["a.b/c"]`; the empty path is `(document)`. */
export function formatFieldPath(path: FieldPath): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (PLAIN_NAME.test(part)) text += text === '' ? part : `.${part}`;
    else text += `[${JSON.stringify(part)}]`;
  }
  return text === '' ? '(document)' : text;
}

/** Reads what formatFieldPath writes: `workload.manifests[2].metadata["a.b"]`. */
export function parseFieldPath(text: string): FieldPath {
  const parts: (string | number)[] = [];
  for (const [, index, quoted, name] of text.matchAll(/\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|([^.[\]]+)/g)) {
    if (index !== undefined) parts.push(Number(index));
    else if (quoted !== undefined) parts.push(JSON.parse(`"${quoted}"`) as string);
    else if (name !== undefined) parts.push(name);
  }
  return parts;
}
