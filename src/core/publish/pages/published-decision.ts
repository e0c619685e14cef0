import type { ScheduleResult } from '../../placement/result/schedule-result.ts';
import type { DesiredGroup } from './decision-page.ts';

/** The inputs of a record. */
export interface PublishedDecision {
  readonly placement: string;
  readonly result: ScheduleResult;
  readonly groups: readonly DesiredGroup[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** The release that approved this change; `by`: who released by hand. */
  readonly released: { readonly token: string; readonly by?: string | undefined } | undefined;
  /** Found at a restart. */
  readonly found?: PublicationBeforeRestart | undefined;
}

/** A publication of the previous process that it did not record. */
export interface PublicationBeforeRestart {
  /** When it was made (ms), if that is known. */
  readonly atMs: number | undefined;
  /** The change was announced before it was made, and is complete: its removals count toward the budget. */
  readonly counts: boolean;
}
