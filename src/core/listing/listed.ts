/** A table of objects of the hub: what `berth get` prints. */
export interface Listed {
  readonly header: readonly string[];
  /** As long as the header each. */
  readonly rows: readonly (readonly string[])[];
}
