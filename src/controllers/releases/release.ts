/** The consent of a person to one change that is held. */
export interface Release {
  /** Plan token of the held change. */
  readonly token: string;
  /** Who releases, and when; kept on the object. */
  readonly releasedBy: string;
}

export const RELEASE_WRITE = { fieldManager: 'berth-release' } as const;
