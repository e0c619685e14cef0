/** One step of a command that changes cluster sets. */
export interface SetChange {
  /** Says what is done, or why nothing has to be done. */
  readonly line: string;
  /** Absent if nothing has to be done. */
  readonly apply?: () => Promise<void>;
}

export const CLI_FIELD_MANAGER = { fieldManager: 'berth-cli' } as const;
