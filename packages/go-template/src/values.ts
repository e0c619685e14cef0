/**
 * The data of templates: the parameters of an ApplicationSet, in the types that they have in Go.
 */

/**
 * Marks a Go `map[string]string`. For a missing key text/template reads an empty string from it.
 * Most map functions refuse it, because they accept only a `map[string]interface {}`.
 */
export class StringMap {
  readonly entries: Readonly<Record<string, string>>;

  constructor(entries: Readonly<Record<string, string>>) {
    this.entries = entries;
  }
}

/**
 * Marks a value that Go keeps as JSON text, like the type `JSON` of Kubernetes. Templates see a
 * struct with bytes.
 */
export abstract class JsonText {
  /** Valid JSON. */
  abstract readonly text: string;
}

/**
 * A value in templates. A number is a Go float64. A bigint is a Go int64; outside its range it
 * wraps around, as in Go.
 */
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

/** A template that cannot be rendered. The message is the error text of Argo CD. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

/**
 * A template that Argo CD may render and Berth refuses, because the result would be wrong or would
 * take too much work.
 */
export class TemplateRefusal extends TemplateError {}
