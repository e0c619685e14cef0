import type { ScheduleResult } from '../placement/schedule-result.ts';
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
  /** Found at a restart, as it was published then (ms), if that is known. */
  readonly found?: { readonly atMs: number | undefined } | undefined;
}
