import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { namespacedName } from '@berth/kube/model/object-ref';
import { NextScoreExpiry } from '@berth/placement/prioritize/score-expiry';
import { clusterChange } from '@berth/placement/result/cluster-change';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { HORIZON_HOURS, type LaterChange } from '../plan.ts';
import { SideDecider } from '../sides/side-decider.ts';

/*
 * What happens later because of the merge, though nobody does anything: tolerations end, and scores expire. Both futures,
 * with the merge and without it, are decided again at each instant at which one of them can change. A move that both make
 * at the same instant is not one of the merge. What agents, people and other controllers do meanwhile is unknown.
 */

export interface LaterInput {
  /** With what is published without the merge, and with it. */
  readonly without: Snapshot;
  readonly merged: Snapshot;
  /** Judges results of one side at a time, with what is published then. */
  readonly judgeAt: (side: Side, snapshot: Snapshot) => LaterJudge;
}

type Side = 'without' | 'merged';

interface LaterJudge {
  readonly outcomeOf: (key: string, result: ScheduleResult) => readonly string[];
  readonly hold: (
    key: string,
    published: readonly string[],
    result: ScheduleResult,
    definitionChanged: boolean,
  ) => { readonly reason: string } | undefined;
}

export interface LaterChanges {
  readonly changes: readonly LaterChange[];
  /** RFC 3339: changes after this time were not computed. Absent: all of the horizon was. */
  readonly cutAt?: string;
}

const HORIZON_MS = HORIZON_HOURS * 3_600_000;
/** Each instant decides both futures. */
const MAX_INSTANTS = 12;
/** Scores of many clusters expire one after the other. They are looked at this far apart. */
const SCORE_STEP_MS = 60_000;
const MAX_CHANGES = 100;

export function laterChanges({ without, merged, judgeAt }: LaterInput): LaterChanges {
  if (!mayDiffer(without, merged) || !(isTimed(without) || isTimed(merged))) return { changes: [] };
  const nowMs = Date.parse(merged.now);
  // The engine moves its clock only forward, so the one of the plan, which stays, is not used.
  const decider = new SideDecider();
  const futures = [new Future('without', without, decider), new Future('merged', merged, decider)] as const;
  const changes: LaterChange[] = [];
  for (let instants = 0; ; instants++) {
    const nextMs = Math.min(...futures.map((future) => future.nextMs));
    if (nextMs > nowMs + HORIZON_MS) return { changes };
    if (instants === MAX_INSTANTS || changes.length >= MAX_CHANGES)
      return { changes: changes.slice(0, MAX_CHANGES), cutAt: timeOf(nextMs) };
    const by = futures.some(({ tolerationMs }) => tolerationMs === nextMs)
      ? 'tolerationSeconds'
      : 'validUntil';
    const [expected, own] = futures.map((future) => future.advance(nextMs, judgeAt));
    for (const [key, step] of own ?? new Map<string, Step>()) {
      const change = ownChange(step, expected?.get(key));
      if (change === undefined) continue;
      const slash = key.indexOf('/');
      const when = isCounted(step, nextMs - nowMs) ? { afterMs: nextMs - nowMs } : { at: timeOf(nextMs) };
      changes.push({ namespace: key.slice(0, slash), name: key.slice(slash + 1), ...when, by, ...change });
    }
    for (const [key, { removed, held }] of expected ?? new Map<string, Step>()) {
      if (held !== undefined) continue;
      const now = futures[1].published(key);
      const kept = removed.filter((cluster) => now.includes(cluster));
      if (kept.length === 0) continue;
      const slash = key.indexOf('/');
      const place = { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
      changes.push({ ...place, at: timeOf(nextMs), by, added: [], removed: [], kept });
    }
  }
}

/** Objects that decisions read differ. Otherwise both futures are the same. */
function mayDiffer(without: Snapshot, merged: Snapshot): boolean {
  const lists = ['placements', 'clusters', 'clusterSets', 'bindings', 'scores', 'decisions'] as const;
  return lists.some(
    (list) =>
      without[list].length !== merged[list].length ||
      without[list].some((object, at) => object !== merged[list][at]),
  );
}

function isTimed({ placements, scores }: Snapshot): boolean {
  const hasTimedToleration = placements.some(({ spec }) =>
    spec?.tolerations?.some(({ tolerationSeconds }) => tolerationSeconds !== undefined),
  );
  return hasTimedToleration || scores.some(({ status }) => status?.validUntil != null);
}

/** What one instant changes for a placement. */
interface Step {
  readonly result: ScheduleResult;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly held: string | undefined;
}

/** One future, as far as it was decided. */
class Future {
  readonly #side: Side;
  readonly #decider: SideDecider;
  readonly #scores = new NextScoreExpiry();
  /** When the next toleration ends. */
  tolerationMs = Infinity;
  #scoreMs = Infinity;
  #snapshot: Snapshot;
  #published: ReadonlyMap<string, readonly string[]>;
  /** The held results that were told, by placement. */
  readonly #told = new Map<string, string>();

  constructor(side: Side, snapshot: Snapshot, decider: SideDecider) {
    this.#side = side;
    this.#decider = decider;
    this.#snapshot = snapshot;
    this.#published = decider.published(side === 'merged' ? 'after' : 'before', snapshot);
    for (const result of this.#look()) this.#told.set(keyOf(result), textOf(result));
  }

  get nextMs(): number {
    return Math.min(this.tolerationMs, this.#scoreMs);
  }

  published(key: string): readonly string[] {
    return this.#published.get(key) ?? [];
  }

  /** Lets time pass. @returns what changes, by placement */
  advance(atMs: number, judgeAt: LaterInput['judgeAt']): ReadonlyMap<string, Step> {
    const before = this.#published;
    // A score has expired one millisecond after its end.
    const snapshot = { ...this.#snapshot, now: new Date(atMs).toISOString() };
    const judge = judgeAt(this.#side, snapshot);
    const transition = this.#decider.transition(snapshot, (key, result) => judge.outcomeOf(key, result));
    this.#snapshot = transition.snapshot;
    this.#published = this.#decider.published(
      this.#side === 'merged' ? 'after' : 'before',
      transition.snapshot,
    );
    const steps = new Map<string, Step>();
    for (const [key, result] of transition.results) {
      if (result.outcome === 'skipped') continue;
      const [old, now] = [before.get(key) ?? [], this.published(key)];
      const moved = old === now ? NO_MOVE : clusterChange(old, now);
      const wanted = clusterChange(now, result.selected);
      const isHeld =
        wanted.added.length + wanted.removed.length > 0 && this.#told.get(key) !== textOf(result);
      this.#told.set(key, textOf(result));
      const hold = isHeld ? judge.hold(key, now, result, false) : undefined;
      if (hold !== undefined) steps.set(key, { result, ...wanted, held: hold.reason });
      else if (moved.added.length + moved.removed.length > 0)
        steps.set(key, { result, ...moved, held: undefined });
    }
    const isScore = atMs >= this.#scoreMs;
    this.#look();
    if (isScore) this.#scoreMs = Math.max(this.#scoreMs, atMs + SCORE_STEP_MS);
    return steps;
  }

  /** Finds the next instants. */
  #look(): readonly ScheduleResult[] {
    const results = this.#decider.results(this.#snapshot);
    const ends = results.flatMap(({ requeueAtMs }) => requeueAtMs ?? []);
    this.tolerationMs = ends.reduce((first, end) => Math.min(first, Math.ceil(end)), Infinity);
    this.#scoreMs = this.#scores.after(this.#snapshot) ?? Infinity;
    return results;
  }
}

const NO_MOVE = { added: [], removed: [] };

function keyOf({ placement }: ScheduleResult): string {
  return namespacedName(placement.metadata);
}

function textOf({ selected }: ScheduleResult): string {
  return [...selected].sort().join(' ');
}

/** The part of a step that the other future does not make. */
function ownChange(
  { added, removed, held }: Step,
  expected: Step | undefined,
): Pick<LaterChange, 'added' | 'removed' | 'kept' | 'held'> | undefined {
  const other = expected?.held === held ? expected : undefined;
  const own = {
    added: added.filter((cluster) => other?.added.includes(cluster) !== true),
    removed: removed.filter((cluster) => other?.removed.includes(cluster) !== true),
  };
  if (own.added.length + own.removed.length === 0) return undefined;
  return { ...own, kept: [], ...(held !== undefined && { held }) };
}

/** Whether the time counts from the merge: a toleration of a taint that the merge itself sets. */
function isCounted({ result }: Step, afterMs: number): boolean {
  return (result.placement.spec?.tolerations ?? []).some(
    ({ tolerationSeconds }) => tolerationSeconds !== undefined && tolerationSeconds * 1000 === afterMs,
  );
}

/** To the second. */
function timeOf(epochMs: number): string {
  return formatRfc3339(instantFromEpochMs(epochMs));
}
