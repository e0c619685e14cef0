import type { FieldPath } from '../model/field-path.ts';
import type { SourceObject } from '../model/source-object.ts';

/** Something wrong with an object that its own schema could not see. The edge turns `path` into a line and column. */
export interface SourceFinding {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly source: SourceObject;
  readonly path: FieldPath;
  /** Got what, expected what; the field's name is put in front where it is shown. */
  readonly message: string;
  readonly hint?: string | undefined;
}

/** A finding before it is known which object it is about. */
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
