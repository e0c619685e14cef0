/** Where our agent leaves the recorded behaviour on purpose. Every line must be needed: an entry that excuses nothing fails. */
export interface Deviation {
  readonly history: string;
  /** Steps (from 0) it may show in; absent: any. */
  readonly steps?: readonly number[];
  readonly differences: RegExp;
  readonly reason: string;
}

export const DEVIATIONS: readonly Deviation[] = [];
