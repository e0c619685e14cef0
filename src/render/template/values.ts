/** What templates are rendered with: the parameters of an ApplicationSet, in the types that Go would give them. */

/**
 * Marks a Go `map[string]string`. Such a map gives an empty string for a key that is missing where text/template asks it directly, and
 * most functions for maps refuse it, since they take a `map[string]interface {}`.
 */
export class StringMap {
  readonly entries: Readonly<Record<string, string>>;

  constructor(entries: Readonly<Record<string, string>>) {
    this.entries = entries;
  }
}

/** Marks a value that Go keeps as JSON text, as Kubernetes' `JSON` type does: templates see a struct with bytes in it. */
export abstract class JsonText {
  /** Valid JSON. */
  abstract readonly text: string;
}

/** A number is a Go float64, a bigint is a Go int64 (out of range it wraps around, as in Go). */
export type TemplateValue =
  | null
  | boolean
  | string
  | number
  | bigint
  | readonly TemplateValue[]
  | { readonly [key: string]: TemplateValue }
  | StringMap
  | JsonText;
