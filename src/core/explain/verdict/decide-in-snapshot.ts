import type { PlacementDecision } from '../../model/kind/placement-decision.ts';
import type { Placement } from '../../model/kind/placement.ts';
import { decisionOwner } from '../../placement/prior/decision-owner.ts';
import { PlacementEngine } from '../../placement/engine.ts';
import { decisionObjects } from '../../placement/case/render-case.ts';
import type { ScheduleResult } from '../../placement/result/schedule-result.ts';
import { placementKey } from '../../placement/index/scheduling-index.ts';
import type { PlacementTrace } from '../../placement/trace/trace.ts';
import type { Snapshot } from '../../snapshot/snapshot.ts';
import type { DecidedPlacement } from './cluster-verdict.ts';
import type { PlacementRef } from '../snapshot/snapshot-change.ts';

/**
 * A decision and its input snapshot, which contains the new decisions of the placements before it.
 */
export interface SnapshotDecision {
  readonly snapshot: Snapshot;
  readonly decided: DecidedPlacement;
  /** `namespace/name` of each placement that exists. */
  readonly existingPlacements: ReadonlySet<string>;
}

/**
 * The decision of an engine for one placement; undefined if there is no placement with that name.
 */
export function decisionOfEngine(
  engine: PlacementEngine,
  ref: PlacementRef,
  now: string,
): DecidedPlacement | undefined {
  const key = `${ref.namespace}/${ref.name}`;
  const result = engine.result(key);
  const trace = engine.trace(key);
  return result === undefined || trace === undefined ? undefined : decidedOf(engine, { result, trace }, now);
}

function decidedOf(
  engine: PlacementEngine,
  decision: { readonly result: ScheduleResult; readonly trace: PlacementTrace },
  now: string,
): DecidedPlacement {
  const retry = (placement: Placement, extraBindings: readonly string[]): DecidedPlacement =>
    decidedOf(engine, engine.tryPlacement(placement, extraBindings), now);
  return { result: decision.result, trace: decision.trace, now, retry };
}

/**
 * Decides the placements in order up to the named one; undefined if there is no placement with that
 * name.
 */
export function decideInSnapshot(snapshot: Snapshot, ref: PlacementRef): SnapshotDecision | undefined {
  return new SnapshotDecider(snapshot).decide(ref);
}

/**
 * Decides placements of one snapshot on request. Requests in placement order continue from the
 * previous one.
 */
export class SnapshotDecider {
  readonly #snapshot: Snapshot;
  readonly #standing: ReadonlySet<string>;
  /** The pages of results, which the placements after them count. */
  readonly #pages = new Map<ScheduleResult, readonly PlacementDecision[]>();
  #engine: PlacementEngine;

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
    this.#standing = new Set(snapshot.placements.map(placementKey));
    this.#engine = new PlacementEngine(snapshot);
  }

  /**
   * The decision of a placement; undefined if there is none with that name. Its trace is valid
   * until the next call.
   */
  decide(ref: PlacementRef): SnapshotDecision | undefined {
    const key = `${ref.namespace}/${ref.name}`;
    const snapshot = this.#snapshot;
    if (this.#engine.result(key) !== undefined) this.#engine = new PlacementEngine(snapshot);
    const engine = this.#engine;
    engine.scheduleUntil(key);
    const decided = decisionOfEngine(engine, ref, snapshot.now);
    if (decided === undefined) return undefined;
    const earlier = engine
      .results()
      .filter(({ placement, outcome }) => outcome !== 'skipped' && placementKey(placement) !== key);
    const replaced = new Set(earlier.map(({ placement }) => placementKey(placement)));
    const decisions = [
      ...snapshot.decisions.filter((decision) => !replaced.has(decisionOwner(decision) ?? '')),
      ...earlier.flatMap((result) => this.#pagesOf(result)),
    ];
    return {
      snapshot: { ...snapshot, placements: [decided.result.placement], decisions },
      decided,
      existingPlacements: this.#standing,
    };
  }

  #pagesOf(result: ScheduleResult): readonly PlacementDecision[] {
    const known = this.#pages.get(result);
    if (known !== undefined) return known;
    const held = this.#snapshot.held?.[placementKey(result.placement)];
    const pages = decisionObjects(withHeld(result, held));
    this.#pages.set(result, pages);
    return pages;
  }
}

/** Decides the only (or first) placement of a snapshot. */
export function decideFirstPlacement(snapshot: Snapshot): DecidedPlacement | undefined {
  const placement = snapshot.placements[0];
  if (placement === undefined) return undefined;
  const { name, namespace = '' } = placement.metadata;
  const engine = new PlacementEngine({ ...snapshot, placements: [placement] });
  engine.scheduleAll();
  return decisionOfEngine(engine, { name, namespace }, snapshot.now);
}

/** The result with the published clusters instead of the decided ones. */
function withHeld(result: ScheduleResult, held: readonly string[] | undefined): ScheduleResult {
  return held === undefined ? result : { ...result, groups: [{ index: 0, name: '', clusters: held }] };
}
