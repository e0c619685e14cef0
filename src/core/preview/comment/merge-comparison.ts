import type { LaterChange } from '../plan.ts';
import type { HeldChange } from './command-answers.ts';

/** The plan of one placement, stored until the pull request is merged. */
export interface ExpectedPlacement {
  /** `namespace/name` */
  readonly placement: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** The approval code. Absent in records of earlier versions. */
  readonly token?: string | undefined;
  /** The approval code, if the change would be held. */
  readonly heldToken: string | undefined;
}

/** What a plan said of an add-on that clusters lose, stored until the pull request is merged. */
export interface ExpectedAddOn {
  readonly addOn: string;
  /** Those that lose it, or keep it while that is held. */
  readonly clusters: readonly string[];
  /** The approval code, if that would be held. */
  readonly heldToken?: string | undefined;
  /** It would be held only after the approval of placements. */
  readonly ifApproved?: true | undefined;
  /** Another hold of it is not by this merge. */
  readonly onlyThisHold?: true | undefined;
}

/** What a plan said of placements. */
export interface ExpectedMerge {
  readonly expected: readonly ExpectedPlacement[];
  /** What it said happens later. */
  readonly later: readonly LaterChange[];
  /** When the hub began to follow the merge. */
  readonly followedAtMs: number;
}

/** A placement as published after the merge. */
export interface PlacementAfterMerge {
  readonly clusters: readonly string[];
  /** The change that is held. */
  readonly hold?: PlacementHold | undefined;
}

export interface PlacementHold {
  readonly reason: string;
  readonly message: string;
  /** Undefined: nobody can approve it. */
  readonly token: string | undefined;
}

/** A change that the merge brought and that is held. */
export interface HeldAfterMerge {
  readonly what: HeldChange['what'];
  readonly token: string | undefined;
  /** `WouldEmpty`; absent for deletions. */
  readonly reason?: string | undefined;
  readonly message: string;
  /** The plan said that exactly this change is held. */
  readonly isPlanned: boolean;
}

/** A placement that differs from the plan. */
export interface MergeDifference {
  readonly placement: string;
  readonly before: readonly string[];
  readonly expected: readonly string[];
  readonly published: readonly string[];
}

export interface MergeComparison {
  readonly held: readonly HeldAfterMerge[];
  readonly differences: readonly MergeDifference[];
  /** What the plan says of an add-on is not done yet, or not held yet. */
  readonly isUnderWay?: boolean;
}

/** Between the clocks of the plan and of the decisions. */
const SLACK_MS = 60_000;

/**
 * Compares a plan with the published decisions.
 * @param publishedOf undefined: the placement does not exist
 */
export function compareMerge(
  { expected, later, followedAtMs }: ExpectedMerge,
  publishedOf: (placement: string) => PlacementAfterMerge | undefined,
  nowMs: number,
): MergeComparison {
  const isDue = ({ at, afterMs = 0 }: LaterChange): boolean =>
    (at === undefined ? followedAtMs + afterMs : Date.parse(at)) <= nowMs + SLACK_MS;
  const held: HeldAfterMerge[] = [];
  const differences: MergeDifference[] = [];
  for (const { placement, before, after, heldToken } of expected) {
    const { clusters, hold } = publishedOf(placement) ?? { clusters: [] };
    const moves = !isSameSet(before, after);
    const steps = later.filter((step) => `${step.namespace}/${step.name}` === placement && isDue(step));
    // What was planned to be held may be released meanwhile. What is held after it was made is another change.
    if (expectedStates(after, steps).some((state) => isSameSet(state, clusters)) && (moves || !hold))
      continue;
    if (hold === undefined) {
      differences.push({ placement, before, expected: after, published: clusters });
      continue;
    }
    const isPlanned = heldToken !== undefined && hold.token === heldToken && isSameSet(clusters, before);
    const what = { placement, before: clusters, after: isPlanned ? after : undefined };
    held.push({ what, ...hold, isPlanned });
  }
  return { held, differences };
}

/**
 * What may be published: as planned, and after each of the later steps. A held step changes nothing, and one that depends
 * on an agent may be left out.
 */
function expectedStates(
  after: readonly string[],
  steps: readonly LaterChange[],
): readonly (readonly string[])[] {
  const states = [after];
  let last: readonly (readonly string[])[] = [after];
  for (const { added, removed, held, ifSilent } of steps) {
    if (held !== undefined) continue;
    const next = last.map((state) => [...state.filter((name) => !removed.includes(name)), ...added]);
    states.push(...next);
    last = ifSilent === undefined ? next : [...last, ...next];
  }
  return states;
}

export function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  const [left, right] = [new Set(a), new Set(b)];
  return left.size === right.size && [...left].every((name) => right.has(name));
}
