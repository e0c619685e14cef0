/** A table of objects of the hub: what `berth get` prints. */
export interface Listed {
  readonly header: readonly string[];
  /** Each row has one cell for each column of the header. */
  readonly rows: readonly (readonly string[])[];
}
