import type { NameSummary } from '../publish/record/compact-record.ts';
import type { TimelineStep } from '../timeline/timeline.ts';

/** A placement gained or lost clusters at a moment. */
export interface FleetMove {
  /** RFC 3339. */
  readonly at: string;
  readonly placement: string;
  readonly added: NameSummary;
  readonly removed: NameSummary;
  readonly detail: string;
}

/** What a chosen placement does with a cluster, or did at a moment of the past. */
export type Mark = 'runs' | 'gains' | 'loses' | 'ran' | 'gained' | 'lost';

const NOBODY: NameSummary = { count: 0, names: [] };

/**
 * The moves that a story contains, the oldest first.
 * @param steps the newest first
 * @param placement only of this one
 */
export function fleetMoves(steps: readonly TimelineStep[], placement?: string): readonly FleetMove[] {
  return steps
    .flatMap(({ at, placement: own = '', added = NOBODY, removed = NOBODY, detail }) =>
      added.count + removed.count === 0 || (placement !== undefined && placement !== own)
        ? []
        : [{ at, placement: own, added, removed, detail }],
    )
    .toReversed();
}

/**
 * Where the moved placement came and left at a moment, and, where every later move is known by name, where else it ran.
 * @param at number of the move
 * @param published where the placement of all these moves runs now; absent: moves of several placements
 */
export function marksAt(
  moves: readonly FleetMove[],
  at: number,
  published?: readonly string[],
): ReadonlyMap<string, Mark> {
  const marks = new Map<string, Mark>();
  const [move, ...later] = moves.slice(at);
  if (move === undefined) return marks;
  const isWhole = later.every(({ added, removed }) => [added, removed].every(isComplete));
  if (published !== undefined && isWhole) {
    const ran = new Set(published);
    for (const { added, removed } of later.toReversed()) {
      for (const name of added.names) ran.delete(name);
      for (const name of removed.names) ran.add(name);
    }
    for (const name of ran) marks.set(name, 'ran');
  }
  for (const name of move.added.names) marks.set(name, 'gained');
  for (const name of move.removed.names) marks.set(name, 'lost');
  return marks;
}

function isComplete({ count, names }: NameSummary): boolean {
  return names.length === count;
}
