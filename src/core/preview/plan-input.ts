import type { ManifestWork } from '../model/kind/manifest-work.ts';
import type { SourceObject } from '../model/source-object.ts';
import type { ScheduleResult } from '../placement/result/schedule-result.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { ClusterMove, PlanEnd, PlannedHold } from './plan.ts';

/** One side of a plan: what is there and what it decides. */
export interface PlanSide {
  readonly end: PlanEnd;
  readonly objects: readonly SourceObject[];
  /** What is on the hub then; absent: that is `objects`. */
  readonly onHub?: readonly Pick<SourceObject, 'object'>[] | undefined;
  /** What Git says, also of kinds that Berth does not apply, such as ApplicationSets; absent: that is `objects`. */
  readonly declared?: readonly SourceObject[] | undefined;
  readonly snapshot: Snapshot;
  /** One per placement of the snapshot, in its order. */
  readonly results: readonly ScheduleResult[];
  /** By `namespace/name`: the clusters that are published, held placements among them; absent: those of the results. */
  readonly published?: ReadonlyMap<string, readonly string[]> | undefined;
  /** Works on the hub; absent: one of each replica set on each published cluster. */
  readonly works?: readonly Pick<ManifestWork, 'metadata'>[] | undefined;
}

/** What the plan asks of its surroundings; each is the same code that runs after the merge. */
export interface PlanJudges {
  /** Why a cluster that moves is (`gained`) or is not any more (`lost`) selected. */
  readonly explain: (key: string, cluster: string, move: 'gained' | 'lost') => Omit<ClusterMove, 'cluster'>;
  /** Whether publishing would be held; `definitionChanged`: the change was made to the placement itself. */
  readonly judge: (
    key: string,
    before: readonly string[],
    result: ScheduleResult,
    definitionChanged: boolean,
  ) => PlannedHold | undefined;
  /** Token of the change of one placement from these clusters to those. */
  readonly token: (key: string, before: readonly string[], after: readonly string[]) => string;
}
