import { formatLocation, type SourceLocation } from './problem/source-location.ts';

/**
 * Fields of every error of Berth. `subject` is the thing that is wrong (an object id, a file, a
 * URL).
 */
export interface ErrorDetails {
  /** Stable, machine-readable, e.g. `yaml.syntax`. Decide by this or by the class, never by message text. */
  readonly code: string;
  readonly subject: string;
  /** What the reader can do about it, one sentence. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
  readonly location?: SourceLocation | undefined;
}

/** Root of the error classes. The class decides what happens next; see the four subclasses. */
export abstract class BerthError extends Error {
  readonly code: string;
  readonly subject: string;
  readonly hint: string | undefined;
  readonly location: SourceLocation | undefined;

  /** @param problem what is wrong, got what, expected what; the subject and location are added around it. */
  constructor(problem: string, details: ErrorDetails) {
    const where = details.location === undefined ? '' : ` (${formatLocation(details.location)})`;
    super(
      `${details.subject}: ${problem}${where}`,
      details.cause === undefined ? undefined : { cause: details.cause },
    );
    this.name = new.target.name;
    this.code = details.code;
    this.subject = details.subject;
    this.hint = details.hint;
    this.location = details.location;
  }
}

/** The user must act; retrying the same input cannot help. */
export class InputError extends BerthError {}

/** Try again later (network, overload, a file being written). `retryAfterMs` when the other side said so. */
export class TransientError extends BerthError {
  readonly retryAfterMs: number | undefined;

  constructor(problem: string, details: ErrorDetails & { readonly retryAfterMs?: number | undefined }) {
    super(problem, details);
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** The object was changed concurrently: read it again, then decide again. */
export class ConflictError extends BerthError {}

/** An assertion of ours failed: a defect in Berth. */
export class BugError extends BerthError {}

/** Text of anything that was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
