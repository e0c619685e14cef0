import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import type { Placement } from '@berth/ocm/kind/placement';
import { groupBy } from '@berth/runtime/lists/group-by';
import { PlacementEngine } from '../../engine.ts';
import { PublishedClusters, decisionOwner, sameNumbers } from '../../prior/published-clusters.ts';
import { sameClusters } from '../../result/cluster-change.ts';
import { decisionObjects } from '../../case/render-case.ts';
import type { ScheduleResult } from '../../result/schedule-result.ts';
import { placementKey } from '../../index/scheduling-index.ts';
import type { PlacementTrace } from '../../trace/trace.ts';
import type { Snapshot } from '../../snapshot/snapshot.ts';
import type { DecidedPlacement } from './cluster-verdict.ts';
import { ResumableDecider } from './resumable-decider.ts';
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

const NO_PAGES: readonly PlacementDecision[] = [];

/**
 * Decides placements of one snapshot on request. Requests in placement order continue from the
 * previous one.
 */
export class SnapshotDecider {
  readonly #snapshot: Snapshot;
  readonly #existingPlacements: ReadonlySet<string>;
  readonly #resumable: ResumableDecider;
  readonly #published: ReadonlyMap<string, readonly string[]>;
  /** The pages of results that differ from what is published. The placements after them count these. */
  readonly #pages = new Map<ScheduleResult, readonly PlacementDecision[] | undefined>();
  #places: ReadonlyMap<string, readonly number[]> | undefined;

  /** @param resumable the decider of other snapshots, whose engine decides this one, too. Absent: a new one */
  constructor(snapshot: Snapshot, resumable = new ResumableDecider()) {
    this.#snapshot = snapshot;
    this.#existingPlacements = new Set(snapshot.placements.map(placementKey));
    this.#resumable = resumable;
    this.#published = new PublishedClusters().read(snapshot.decisions).clusters;
  }

  /**
   * The decision of a placement; undefined if there is none with that name. Its trace is valid
   * until the next call.
   */
  decide(ref: PlacementRef): SnapshotDecision | undefined {
    const key = `${ref.namespace}/${ref.name}`;
    const snapshot = this.#snapshot;
    const found = this.#resumable.decideUntil(snapshot, key);
    const result = found?.results.at(-1);
    if (found === undefined || result === undefined) return undefined;
    const decisions = this.#decisionsWith(found.results.slice(0, -1));
    const alone = { ...snapshot, placements: [result.placement], decisions };
    const tried = this.#resumable.traceOf(found, alone);
    if (tried === undefined) return undefined;
    const decided = decidedOf(tried.engine, tried, snapshot.now);
    return { snapshot: alone, decided, existingPlacements: this.#existingPlacements };
  }

  /** The published pages, with those of earlier results in the places of the old ones: consecutive lists differ little. */
  #decisionsWith(earlier: readonly ScheduleResult[]): Snapshot['decisions'] {
    const replaced = new Map<string, readonly PlacementDecision[]>();
    for (const result of earlier) {
      const pages = this.#pagesOf(result);
      if (pages !== undefined) replaced.set(placementKey(result.placement), pages);
    }
    const pages: (PlacementDecision | readonly PlacementDecision[])[] = [...this.#snapshot.decisions];
    const added: PlacementDecision[] = [];
    for (const [owner, own] of replaced) {
      const [first, ...others] = this.#placesOf(owner);
      if (first === undefined) added.push(...own);
      else pages[first] = own;
      for (const place of others) pages[place] = NO_PAGES;
    }
    return [...pages.flat(), ...added];
  }

  /** Where the published pages of a placement are. */
  #placesOf(owner: string): readonly number[] {
    this.#places ??= groupBy(this.#snapshot.decisions.keys(), (at) => {
      const page = this.#snapshot.decisions[at];
      return (page && decisionOwner(page)) ?? '';
    });
    return this.#places.get(owner) ?? [];
  }

  /** Undefined if what is published stays. */
  #pagesOf(result: ScheduleResult): readonly PlacementDecision[] | undefined {
    if (this.#pages.has(result)) return this.#pages.get(result);
    const key = placementKey(result.placement);
    const held = this.#snapshot.held?.[key];
    const published = this.#published.get(key) ?? [];
    const selected = held ?? result.selected;
    const stays =
      result.outcome === 'skipped' || (sameNumbers(selected, published) ?? sameClusters(selected, published));
    const pages = stays ? undefined : decisionObjects(withHeld(result, held));
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
