/** The approval of one held change by a person. */
export interface Release {
  /** Plan token of the held change. */
  readonly token: string;
  /** Who released it, and when. It is stored on the object. */
  readonly releasedBy: string;
}

export const RELEASE_WRITE = { fieldManager: 'berth-release' } as const;
