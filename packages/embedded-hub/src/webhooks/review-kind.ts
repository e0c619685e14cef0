import type { JsonObject } from '../json/json-value.ts';
import { textAt } from '../json/json-value.ts';

export interface ReviewKind {
  readonly group: string;
  readonly kind: string;
  /** The versions that the hub can read. */
  readonly versions: readonly string[];
}

/**
 * The problem of the kind of a response to a review of `version`, with the message of Go's decoder.
 */
export function reviewKindProblem(
  review: JsonObject,
  version: string,
  { group, kind, versions }: ReviewKind,
): string | undefined {
  const [apiVersion, got] = [textAt(review, 'apiVersion'), textAt(review, 'kind')];
  if (apiVersion === `${group}/${version}` && got === kind) return undefined;
  if (got === '') return `Object 'Kind' is missing in '${JSON.stringify(review)}'`;
  const other = versions.find((one) => apiVersion === `${group}/${one}`);
  if (other === undefined || got !== kind)
    return `no kind "${got}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`;
  return `converting (${other}.${kind}) to (${version}.${kind}): unknown conversion`;
}
