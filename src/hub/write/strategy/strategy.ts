import type { JsonObject } from '../../json/json-value.ts';
import type { FieldProblem } from '../../wire/status-errors.ts';

/** What one kind does besides what every kind does. All functions return new objects. */
export interface Strategy {
  /** Fills in values that belong to the writer (ownership counts them). `old` is undefined on create. */
  readonly fillIn?: (object: JsonObject, old: JsonObject | undefined, now: string) => JsonObject;
  /** Sets what the server decides on creation (nobody owns it). */
  readonly onCreate?: (object: JsonObject, now: string) => JsonObject;
  /** What a server adds when it reads back what it stored: nobody owns it, and it was not validated. */
  readonly onReadBack?: (object: JsonObject) => JsonObject;
  /** Puts back what an update through this endpoint may not change. */
  readonly onUpdate?: (object: JsonObject, old: JsonObject, subresource: string, now: string) => JsonObject;
  /** What else changes when the object is marked for deletion. */
  readonly onDelete?: (object: JsonObject) => JsonObject;
  readonly validate?: (object: JsonObject, old: JsonObject | undefined) => readonly FieldProblem[];
  /** What the writer should know although nothing is wrong. */
  readonly warnings?: (object: JsonObject) => readonly string[];
  /** Counts changes of everything but metadata and status in metadata.generation. */
  readonly generation?: true;
  /** A PUT must say which resourceVersion it replaces. */
  readonly conditionalUpdate?: true;
  /** Keeps a status that is sent on creation. */
  readonly keepsStatus?: true;
}
