import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { namespacedName } from '@berth/kube/model/object-ref';
import { toleratedUntilMs } from '@berth/placement/filter/toleration-class';
import { NextScoreExpiry } from '@berth/placement/prioritize/score-expiry';
import { clusterChange } from '@berth/placement/result/cluster-change';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { unreachableSince } from '../../registration/health/health-taints.ts';
import type { OverdueLease } from '../../registration/health/judge-lease.ts';
import type { AddOnCourse, AddOnMove } from '../addons/plan-addons.ts';
import { HORIZON_HOURS, type LaterAddOn, type LaterChange } from '../plan.ts';
import { SideDecider, type TransitionJudge } from '../sides/side-decider.ts';

/*
 * What happens later because of the merge, though nobody does anything: tolerations end, scores expire, and leases that
 * are overdue already run out. Both futures, with the merge and without it, are decided again at each instant at which
 * one of them can change. A move that both make at the same instant is not one of the merge. What agents, people and other controllers do meanwhile is unknown.
 */

export interface LaterInput {
  /** With what is published without the merge, and with it. */
  readonly without: Snapshot;
  readonly merged: Snapshot;
  /** Leases that agents are late to renew. Each is taken to run out. */
  readonly overdue: readonly OverdueLease[];
  /** Makes the judges of one course of events. */
  readonly judges: () => JudgeAt;
  /** Begins to follow the add-ons that placements install. */
  readonly addOns: () => Pick<AddOnCourse, 'follow'>;
}

/** Judges results of one side at a time, with what is published then. */
type JudgeAt = (side: Side, snapshot: Snapshot) => LaterJudge;

type Side = 'without' | 'merged';

interface LaterJudge extends TransitionJudge {
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
/** Leases of many clusters, likewise. */
const LEASE_STEP_MS = 30_000;
const MAX_CHANGES = 100;

/** A change that depends on agents says so: it is not among those that happen while all of them answer. */
export function laterChanges(input: LaterInput): LaterChanges {
  const { overdue } = input;
  const changes = allChanges(input);
  if (overdue.length === 0 || changes.changes.length === 0) return changes;
  const sure = new Set(allChanges({ ...input, overdue: [] }).changes.map((change) => JSON.stringify(change)));
  const nowMs = Date.parse(input.merged.now);
  const conditional = (change: LaterChange): LaterChange => {
    const atMs = change.at === undefined ? nowMs + (change.afterMs ?? 0) : Date.parse(change.at) + 999;
    const ifSilent = overdue.filter(({ runsOutAt }) => Date.parse(runsOutAt) <= atMs);
    if (ifSilent.length === 0 || sure.has(JSON.stringify(change))) return change;
    return { ...change, ifSilent: ifSilent.map(({ cluster }) => cluster) };
  };
  return { ...changes, changes: changes.changes.map(conditional) };
}

function allChanges({ without, merged, overdue, judges, addOns }: LaterInput): LaterChanges {
  const isAnyTimed = isTimed(without) || isTimed(merged) || overdue.length > 0;
  if (!mayDiffer(without, merged) || !isAnyTimed) return { changes: [] };
  const nowMs = Date.parse(merged.now);
  // The engine moves its clock only forward, so the one of the plan, which stays, is not used.
  const decider = new SideDecider();
  const leases = new OverdueLeases(overdue);
  const futures = [
    new Future('without', without, { decider, leases }),
    new Future('merged', merged, { decider, leases }),
  ] as const;
  const [judgeAt, course, changes] = [judges(), addOns(), [] as LaterChange[]];
  for (let instants = 0; ; instants++) {
    const nextMs = Math.min(...futures.map((future) => future.nextMs));
    if (nextMs > nowMs + HORIZON_MS) return { changes };
    if (instants === MAX_INSTANTS || changes.length >= MAX_CHANGES)
      return { changes: changes.slice(0, MAX_CHANGES), cutAt: timeOf(nextMs) };
    const by = causeAt(nextMs, futures);
    const [expected, own] = [futures[0].advance(nextMs, judgeAt), futures[1].advance(nextMs, judgeAt)];
    const follow = (at: 0 | 1, steps: Steps): readonly AddOnMove[] =>
      course.follow(at, movedBy(steps), futures[at].decided);
    const addOnMoves = [follow(0, expected), follow(1, own)] as const;
    for (const [key, step] of own) {
      const change = ownChange(step, expected.get(key));
      if (change === undefined) continue;
      const along = movedAlong(key, change, addOnMoves);
      const slash = key.indexOf('/');
      const when = isCounted(step, nextMs - nowMs) ? { afterMs: nextMs - nowMs } : { at: timeOf(nextMs) };
      const place = { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
      changes.push({ ...place, ...when, by, ...change, ...(along.length > 0 && { addOns: along }) });
    }
    for (const [key, { removed, held }] of expected) {
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

function causeAt(atMs: number, futures: readonly Future[]): LaterChange['by'] {
  if (futures.some(({ tolerationMs }) => tolerationMs === atMs)) return 'tolerationSeconds';
  return futures.some(({ leaseMs }) => leaseMs === atMs) ? 'lease' : 'validUntil';
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

/** By `namespace/name` of the placement. */
type Steps = ReadonlyMap<string, Step>;

function movedBy(steps: Steps): ReadonlySet<string> {
  return new Set([...steps].flatMap(([key, { held }]) => (held === undefined ? [key] : [])));
}

/** The part of what add-ons do that a change of a placement brings, and that happens only with the merge. */
function movedAlong(
  key: string,
  change: Pick<LaterChange, 'added' | 'removed'>,
  [expected, own]: readonly [readonly AddOnMove[], readonly AddOnMove[]],
): readonly LaterAddOn[] {
  return own.flatMap(({ name, placements, ...move }): readonly LaterAddOn[] => {
    if (!placements.includes(key)) return [];
    const other = expected.find((one) => one.name === name);
    const part = (what: 'added' | 'removed' | 'held'): readonly string[] =>
      move[what]
        .filter((cluster) => change[what === 'added' ? 'added' : 'removed'].includes(cluster))
        .filter((cluster) => other?.[what].includes(cluster) !== true);
    const [added, removed, held] = [part('added'), part('removed'), part('held')];
    return [
      ...(added.length + removed.length === 0 ? [] : [{ name, added, removed }]),
      ...(held.length === 0 ? [] : [{ name, added: [], removed: held, held: true } as const]),
    ];
  });
}

/** Leases that run out. A cluster becomes the same object in both futures. */
class OverdueLeases {
  readonly #leases: readonly { readonly cluster: string; readonly atMs: number }[];
  readonly #unreachable = new Map<ManagedCluster, ManagedCluster>();

  constructor(leases: readonly OverdueLease[]) {
    this.#leases = leases.map(({ cluster, runsOutAt }) => ({ cluster, atMs: Date.parse(runsOutAt) }));
  }

  /** When the next leases of the snapshot have run out: those that do so soon after each other, together. */
  next({ clusters, now }: Snapshot): number {
    const nowMs = Date.parse(now);
    const names = new Set(clusters.map(({ metadata }) => metadata.name));
    const ahead = this.#leases.flatMap(({ cluster, atMs }) =>
      atMs > nowMs && names.has(cluster) ? [atMs] : [],
    );
    const first = ahead.reduce((earliest, atMs) => Math.min(earliest, atMs), Infinity);
    return ahead.reduce((last, atMs) => (atMs <= first + LEASE_STEP_MS ? Math.max(last, atMs) : last), first);
  }

  /** The snapshot at an instant, with the clusters unreachable whose leases have run out since. */
  advance(snapshot: Snapshot, atMs: number): Snapshot {
    const now = new Date(atMs).toISOString();
    const sinceMs = Date.parse(snapshot.now);
    const due = this.#leases.filter((lease) => lease.atMs > sinceMs && lease.atMs <= atMs);
    if (due.length === 0) return { ...snapshot, now };
    const names = new Set(due.map(({ cluster }) => cluster));
    const clusters = snapshot.clusters.map((cluster) =>
      names.has(cluster.metadata.name) ? this.#silenced(cluster, atMs) : cluster,
    );
    return { ...snapshot, now, clusters };
  }

  #silenced(cluster: ManagedCluster, atMs: number): ManagedCluster {
    const known = this.#unreachable.get(cluster) ?? unreachableSince(cluster, timeOf(atMs));
    this.#unreachable.set(cluster, known);
    return known;
  }
}

/** What both futures share. */
interface SharedByFutures {
  readonly decider: SideDecider;
  readonly leases: OverdueLeases;
}

/** One future, as far as it was decided. */
class Future {
  readonly #side: Side;
  readonly #decider: SideDecider;
  readonly #leases: OverdueLeases;
  readonly #scores = new NextScoreExpiry();
  /** When the next toleration ends. */
  tolerationMs = Infinity;
  /** When the next overdue lease runs out. */
  leaseMs = Infinity;
  #scoreMs = Infinity;
  #snapshot: Snapshot;
  #published: ReadonlyMap<string, readonly string[]>;
  #results: readonly ScheduleResult[];
  /** The held results that were told, by placement. */
  readonly #told = new Map<string, string>();

  constructor(side: Side, snapshot: Snapshot, { decider, leases }: SharedByFutures) {
    this.#leases = leases;
    this.#side = side;
    this.#decider = decider;
    this.#snapshot = snapshot;
    this.#published = decider.published(side === 'merged' ? 'after' : 'before', snapshot);
    this.#results = this.#look();
    for (const result of this.#results) this.#told.set(keyOf(result), textOf(result));
  }

  get nextMs(): number {
    return Math.min(this.tolerationMs, this.leaseMs, this.#scoreMs);
  }

  published(key: string): readonly string[] {
    return this.#published.get(key) ?? [];
  }

  /** What is decided and published by now. */
  get decided(): Parameters<AddOnCourse['follow']>[2] {
    return { snapshot: this.#snapshot, published: this.#published, results: this.#results };
  }

  /** Lets time pass. @returns what changes, by placement */
  advance(atMs: number, judgeAt: JudgeAt): Steps {
    const before = this.#published;
    // A score has expired one millisecond after its end.
    const snapshot = this.#leases.advance(this.#snapshot, atMs);
    const judge = judgeAt(this.#side, snapshot);
    const transition = this.#decider.transition(snapshot, judge);
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
    this.#results = this.#look();
    if (isScore) this.#scoreMs = Math.max(this.#scoreMs, atMs + SCORE_STEP_MS);
    return steps;
  }

  /** Finds the next instants. */
  #look(): readonly ScheduleResult[] {
    const results = this.#decider.results(this.#snapshot);
    const ends = results.map((result) => toleratedUntilMs(result, this.#snapshot));
    this.tolerationMs = ends.reduce((first, end) => Math.min(first, Math.ceil(end)), Infinity);
    this.leaseMs = this.#leases.next(this.#snapshot);
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
