import { isSameSet, type MergeDifference } from './merge-comparison.ts';

/** Why a placement is not as the plan of a merged pull request said, if not because of that pull request. */
export type MergeCause =
  /** Another pull request that was merged later moves the placement, too. */
  | { readonly kind: 'later-merge'; readonly number: number }
  /** The hub had already followed a later commit when it was decided. Full id. */
  | { readonly kind: 'later-commit'; readonly commit: string }
  /** It was first as planned. Then something on the hub changed, or time passed. RFC 3339. */
  | { readonly kind: 'hub-since'; readonly at: string }
  /** Another pull request, merged between the plan and this merge, moves the placement, too. */
  | { readonly kind: 'earlier-merge'; readonly number: number }
  /** The base got other commits between the plan and this merge. */
  | { readonly kind: 'earlier-commits' }
  /** The fleet or the decision changed between the plan and the merge. */
  | { readonly kind: 'hub-before' };

/** A publication of the placement, as recorded. */
export interface MergePublication {
  /** RFC 3339 */
  readonly publishedAt: string;
  /** The commit that the hub followed last; null when there is none. */
  readonly commit: { readonly id: string } | null;
  readonly added: ChangedNames;
  readonly removed: ChangedNames;
}

interface ChangedNames {
  readonly count: number;
  /** The first ones. */
  readonly names: readonly string[];
}

/** Another pull request that was merged. */
export interface OtherMerge {
  readonly number: number;
  /** What its plan moved: `namespace/name`. */
  readonly placements: readonly string[];
}

export interface MergeFacts {
  /** Full id of the commit of the merge. */
  readonly commit: string;
  readonly seenAtMs: number;
  /** Of this placement, oldest first. */
  readonly publications: readonly MergePublication[];
  /** Merged between the plan and this merge, and after this merge. */
  readonly earlier: readonly OtherMerge[];
  readonly later: readonly OtherMerge[];
  /** The merge left another content than the plan was made for. */
  readonly baseMoved: boolean;
  /** Clusters, sets or scores were others at the merge than at the plan, and not because of the pull request. */
  readonly fleetChanged: boolean;
}

/** Records and decisions have different clocks. */
const SLACK_MS = 60_000;

/** The known cause of a difference; undefined if it may be the pull request itself. */
export function mergeCause(
  { placement, before, expected, published }: MergeDifference,
  { commit, seenAtMs, publications, earlier, later, baseMoved, fleetChanged }: MergeFacts,
): MergeCause | undefined {
  const moves = ({ placements }: OtherMerge): boolean => placements.includes(placement);
  const laterMerge = later.find(moves);
  const laterCause = (one: MergePublication | undefined): MergeCause | undefined => {
    if (laterMerge !== undefined) return { kind: 'later-merge', number: laterMerge.number };
    const id = one?.commit?.id;
    return id === undefined || id === commit ? undefined : { kind: 'later-commit', commit: id };
  };
  const states = statesBefore(publications, published);
  const own = publications.findIndex((one) => one.commit?.id === commit);
  const sinceMs = seenAtMs - SLACK_MS;
  const first = own >= 0 ? own : publications.findIndex((one) => Date.parse(one.publishedAt) >= sinceMs);
  // The state before the next publication is the one after this.
  const isReached = (at: number): boolean => isSame(states[at + 1], expected);
  const reached = first < 0 ? -1 : publications.findLastIndex((_, at) => at >= first && isReached(at));
  const next = reached < 0 ? undefined : publications[reached + 1];
  if (next !== undefined) return laterCause(next) ?? { kind: 'hub-since', at: next.publishedAt };
  const cause = laterCause(publications[first]);
  if (cause !== undefined) return cause;
  const earlierMerge = earlier.find(moves);
  if (earlierMerge !== undefined) return { kind: 'earlier-merge', number: earlierMerge.number };
  if (baseMoved) return { kind: 'earlier-commits' };
  const wasMoved = first >= 0 && states[first] !== undefined && !isSame(states[first], before);
  return wasMoved || fleetChanged ? { kind: 'hub-before' } : undefined;
}

/**
 * The clusters before each publication, and at the end those after the last. Undefined where a record does not name all
 * clusters that it moved.
 */
function statesBefore(
  publications: readonly MergePublication[],
  published: readonly string[],
): readonly (readonly string[] | undefined)[] {
  const states: (readonly string[] | undefined)[] = [published];
  for (const { added, removed } of publications.toReversed()) {
    const after = states[0];
    const isComplete = [added, removed].every(({ count, names }) => count === names.length);
    states.unshift(
      after === undefined || !isComplete
        ? undefined
        : [...after.filter((name) => !added.names.includes(name)), ...removed.names],
    );
  }
  return states;
}

function isSame(state: readonly string[] | undefined, expected: readonly string[]): boolean {
  return state !== undefined && isSameSet(state, expected);
}

/** Whether what the plan said happened, or something later prevented it. Otherwise the merge did something else. */
export function isAfterwards({ kind }: MergeCause): boolean {
  return kind === 'later-merge' || kind === 'later-commit' || kind === 'hub-since';
}
