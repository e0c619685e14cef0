/** One step of a command that changes cluster sets. */
export interface SetChange {
  /** A line for the user: what is changed, or why nothing is. */
  readonly line: string;
  /** Absent if nothing has to be done. */
  readonly apply?: () => Promise<void>;
}

export const CLI_FIELD_MANAGER = { fieldManager: 'berth-cli' } as const;
