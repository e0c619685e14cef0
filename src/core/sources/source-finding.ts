import type { FieldPath } from '@berth/kube/model/field-path';
import type { SourceObject } from '@berth/kube/model/source-object';
import { closestName } from '@berth/runtime/text/closest-name';

/**
 * A problem of an object that its schema does not detect. The YAML adapter turns `path` into a line
 * and column.
 */
export interface SourceFinding {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly source: SourceObject;
  readonly path: FieldPath;
  /** Got what, expected what; the name of the field is added when it is shown. */
  readonly message: string;
  readonly hint?: string | undefined;
}

/** A finding without its object. */
export type FieldFinding = Omit<SourceFinding, 'source'>;

export function fieldError(code: string, path: FieldPath, message: string, hint?: string): FieldFinding {
  return { severity: 'error', code, path, message, hint };
}

export function fieldWarning(code: string, path: FieldPath, message: string, hint?: string): FieldFinding {
  return { severity: 'warning', code, path, message, hint };
}

export function findingsAbout(
  source: SourceObject<{ readonly metadata: unknown }>,
  findings: readonly FieldFinding[],
): SourceFinding[] {
  return findings.map((finding) => ({ ...finding, source: source as unknown as SourceObject }));
}

/** What is wrong with a field that the definition of a kind does not have. */
export const UNKNOWN_FIELD = 'is not a field of this kind, and the hub refuses the object because of it';

/**
 * The hint that names the field that was probably meant: one with nearly the same name, or the only one that is the end
 * of the name, as `type` is of `rolloutType`.
 */
export function unknownFieldHint(name: string, known: Iterable<string>): string | undefined {
  const fields = [...known];
  const ends = fields.filter((field) => name.endsWith(`${field.charAt(0).toUpperCase()}${field.slice(1)}`));
  const meant = closestName(name, fields) ?? (ends.length === 1 ? ends[0] : undefined);
  return meant === undefined ? undefined : `did you mean ${meant}?`;
}
