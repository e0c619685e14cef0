/** A right and why a process needs it. */
export interface Permission {
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Only objects of these names. Absent: all. */
  readonly names?: readonly string[] | undefined;
  readonly why: string;
}
