import type { FieldPath } from '@berth/kube/model/field-path';
import type { SourceObject } from '@berth/kube/model/source-object';

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
