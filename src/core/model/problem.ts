import type { SourceLocation } from './source-location.ts';

/** A problem in the user's input. An object with an error is not used; one with a warning is. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  /** Stable, machine-readable, e.g. `yaml.syntax`, `schema.type`, `placement.unknown-cluster-set`. */
  readonly code: string;
  /** What is wrong, got what, expected what. */
  readonly message: string;
  readonly hint?: string | undefined;
  readonly location?: SourceLocation | undefined;
  /** `Placement team-a/web` when the problem is about one object. */
  readonly object?: string | undefined;
}
