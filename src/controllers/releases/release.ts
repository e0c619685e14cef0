/** The approval of one held change by a person. */
export interface Release {
  /** Approval code of the held change. */
  readonly code: string;
  /** Who released it, and when. It is stored on the object. */
  readonly releasedBy: string;
}

export const RELEASE_WRITE = { fieldManager: 'berth-release' } as const;
