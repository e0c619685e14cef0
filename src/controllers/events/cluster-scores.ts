import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { PlacementEngine } from '@berth/placement/engine';
import type { PlacementTrace } from '@berth/placement/trace/trace';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';

type Score = readonly [cluster: string, total: number];

/** In a larger snapshot only selected clusters have a score. Computing the others would block the process. */
const LIMITS = { clusters: 1_000, pages: 1_000 };

/**
 * The scores of clusters in a decision. The results of one transition come from few snapshots, so the engine of the last
 * snapshot is kept until `forget`. Making an engine for each result would take longer than publishing the result.
 */
export class ClusterScores {
  #last: { readonly snapshot: Snapshot; readonly engine: PlacementEngine } | undefined;

  /**
   * Yields the scores of the selected clusters, best first, then those of the other feasible clusters. Scores that the
   * caller does not read are not computed.
   */
  *scoresOf(result: ScheduleResult, snapshot: Snapshot | undefined): Generator<Score> {
    const { selected, selectedScores } = result;
    for (let at = 0; at < selected.length; at++) yield [selected[at] ?? '', selectedScores[at] ?? 0];
    if (snapshot === undefined) return;
    if (snapshot.clusters.length > LIMITS.clusters || snapshot.decisions.length > LIMITS.pages) return;
    const trace = this.#trace(result, snapshot);
    const known = new Set(selected);
    for (const cluster of trace.ranking())
      if (!known.has(cluster)) yield [cluster, trace.score(cluster)?.total ?? 0];
  }

  forget(): void {
    this.#last = undefined;
  }

  #trace({ placement }: ScheduleResult, snapshot: Snapshot): PlacementTrace {
    if (this.#last?.snapshot !== snapshot)
      this.#last = { snapshot, engine: new PlacementEngine({ ...snapshot, placements: [] }) };
    return this.#last.engine.tryPlacement(placement).trace;
  }
}
