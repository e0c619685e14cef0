import type { ScheduleResult } from '../../placement/result/schedule-result.ts';
import type { DesiredGroup } from './decision-page.ts';

/** What a record is made of. */
export interface PublishedDecision {
  readonly placement: string;
  readonly result: ScheduleResult;
  readonly groups: readonly DesiredGroup[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** The release that let this very change through; `by`: who gave it by hand. */
  readonly released: { readonly token: string; readonly by?: string | undefined } | undefined;
  /** Found at a restart. */
  readonly found?: FoundPublication | undefined;
}

/** What is known of a publication that the process before this one made and did not record. */
export interface FoundPublication {
  /** When it was made (ms), if that is known. */
  readonly atMs: number | undefined;
  /** It is a change that was noted before it was made and is done: what it removed counts toward the budget. */
  readonly counts: boolean;
}
