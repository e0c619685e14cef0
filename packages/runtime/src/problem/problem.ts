import type { SourceLocation } from './source-location.ts';

/** A problem in the user's input. An object with an error that was found while reading is not used; one with a warning is. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  /** The object is used in spite of the error, because the hub decides about it. */
  readonly isObjectUsed?: true;
  /** Stable, machine-readable, e.g. `yaml.syntax`, `schema.type`, `placement.unknown-cluster-set`. */
  readonly code: string;
  /** What is wrong, got what, expected what. */
  readonly message: string;
  readonly hint?: string | undefined;
  readonly location?: SourceLocation | undefined;
  /** `Placement team-a/web` when the problem is about one object. */
  readonly object?: string | undefined;
  /** The lines of the file around the location, where people see the problem without the file. */
  readonly excerpt?: readonly ExcerptLine[] | undefined;
}

export interface ExcerptLine {
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/** A check that found no problem, or a step that was made. */
export interface Passed {
  readonly severity: 'ok';
  /** What was checked. */
  readonly object: string;
  readonly message: string;
}

/** Whether what the problem is about is left out. */
export function leavesOut({ severity, isObjectUsed }: Problem): boolean {
  return severity === 'error' && isObjectUsed !== true;
}
