/** A right and why a process needs it. */
export interface Permission {
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly why: string;
}
