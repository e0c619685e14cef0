import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { DesiredGroup } from './decision-page.ts';

/** A decision that was published: what its record is made of. */
export interface PublishedDecision {
  readonly placement: string;
  readonly result: ScheduleResult;
  readonly groups: readonly DesiredGroup[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** The release that approved this change. `by` is the user of `berth release`. */
  readonly released: { readonly token: string; readonly by?: string | undefined } | undefined;
  /** Set for a publication that was found later. */
  readonly found?: FoundPublication | undefined;
}

/** A publication without a record: its process was killed, or its last answer was lost. */
export interface FoundPublication {
  /** Time of the publication in milliseconds since the epoch, if known. */
  readonly atMs: number | undefined;
  /**
   * Whether the removals count toward the budget. They do if the change was announced before it was
   * made and is complete.
   */
  readonly counts: boolean;
}
