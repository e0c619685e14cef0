import type { JsonValue } from '../json/json-value.ts';

/** A decoded request body. */
export interface DecodedBody {
  readonly value: JsonValue;
  /** Faults that only `fieldValidation` Strict and Warn report, e.g. `duplicate field "spec.x"`. */
  readonly strictErrors: readonly string[];
}
