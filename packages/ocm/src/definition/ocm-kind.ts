import type { JsonObject } from '@berth/runtime/json/json-value';

/** One row of the tables of OCM's kinds. Plural and singular follow from the kind. */
export interface OcmKind {
  readonly kind: string;
  readonly cluster?: true;
  readonly short?: readonly string[];
  readonly versions: readonly OcmVersion[];
}

export interface OcmVersion {
  readonly name: string;
  readonly storage?: true;
  /** Has a status subresource. */
  readonly status?: true;
  /** Top-level fields besides apiVersion, kind and metadata; `!` at the end: required. */
  readonly fields: Readonly<Record<string, JsonObject>>;
  /** Columns of `kubectl get` in addition to the name. */
  readonly columns?: readonly { readonly name: string; readonly type: string; readonly jsonPath: string }[];
}
