import type { JsonObject } from '../../json/json-value.ts';
import type { FieldProblem } from '../../wire/status-errors.ts';

/**
 * The behaviour of one kind, in addition to that of all kinds. All functions return new objects.
 */
export interface Strategy {
  /** Sets defaults that the writer owns. `old` is undefined on create. */
  readonly fillIn?: (object: JsonObject, old: JsonObject | undefined, now: string) => JsonObject;
  /** Sets fields that the server decides on create, which have no owner. */
  readonly onCreate?: (object: JsonObject, now: string) => JsonObject;
  /** Adds what the API server adds when it reads from storage: not validated, without an owner. */
  readonly onReadBack?: (object: JsonObject) => JsonObject;
  /** Restores fields that this endpoint may not change. */
  readonly onUpdate?: (object: JsonObject, old: JsonObject, subresource: string, now: string) => JsonObject;
  /** Further changes when the object is marked for deletion. */
  readonly onDelete?: (object: JsonObject) => JsonObject;
  readonly validate?: (object: JsonObject, old: JsonObject | undefined) => readonly FieldProblem[];
  /** Texts of warnings for the writer. */
  readonly warnings?: (object: JsonObject) => readonly string[];
  /** metadata.generation counts changes of everything except metadata and status. */
  readonly generation?: true;
  /** A PUT must contain a resourceVersion. */
  readonly conditionalUpdate?: true;
  /** Keeps a status that is sent on creation. */
  readonly keepsStatus?: true;
}
