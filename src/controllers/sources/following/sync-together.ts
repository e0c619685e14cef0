import type { SourceObject } from '@berth/kube/model/source-object';
import { groupByWave } from '../../../core/sync/desired-object.ts';
import type { SyncOutcome } from '../members/sync-problem.ts';

/** A source at one commit, on its way to the hub: first its objects are applied, then what left Git is deleted. */
export interface SourceRound {
  readonly source: string;
  /** The objects to apply. */
  readonly objects: readonly SourceObject[];
  /** Applies one of them. A problem with it is part of the outcome. */
  readonly apply: (entry: SourceObject) => Promise<void>;
  /**
   * Called when all objects of the commit are applied.
   * @param unjudged other sources at the same commit whose deletions are not judged yet
   * @returns undefined if it depends on these deletions: call it again after them
   */
  readonly prune: (unjudged: ReadonlySet<string>) => Promise<SyncOutcome | undefined>;
}

/** How the round of a source ended. `error`: the hub could not be read or written at all. */
export type RoundEnd = { readonly outcome: SyncOutcome } | { readonly error: unknown };

const NONE: ReadonlySet<string> = new Set();

/**
 * Makes the rounds of the sources at one commit: the objects of all of them are applied in one order, then the deletions are
 * judged. A source that fails does not stop the others.
 * @returns by source, how its round ended
 */
export async function syncTogether(rounds: readonly SourceRound[]): Promise<ReadonlyMap<string, RoundEnd>> {
  const ends = new Map<string, RoundEnd>();
  const attempt = async (
    source: string,
    step: () => Promise<SyncOutcome | undefined | void>,
  ): Promise<void> => {
    try {
      const outcome = await step();
      if (outcome !== undefined) ends.set(source, { outcome });
    } catch (error) {
      ends.set(source, { error });
    }
  };
  const all = rounds.flatMap(({ source, objects, apply }) =>
    objects.map((entry) => ({ kind: entry.object.kind, source, step: () => apply(entry) })),
  );
  for (const wave of groupByWave(all))
    await Promise.all(
      wave.filter(({ source }) => !ends.has(source)).map(({ source, step }) => attempt(source, step)),
    );
  let isBlocked = false;
  for (let open = openAmong(rounds, ends); open.length > 0; ) {
    for (const { source, prune } of open) {
      // Sources that wait for each other are judged as if each of them kept its objects.
      const others = openAmong(rounds, ends).filter((other) => other.source !== source);
      const unjudged = isBlocked ? NONE : new Set(others.map((other) => other.source));
      await attempt(source, () => prune(unjudged));
    }
    const left = openAmong(rounds, ends);
    isBlocked = left.length === open.length;
    open = left;
  }
  return ends;
}

function openAmong(
  rounds: readonly SourceRound[],
  ends: ReadonlyMap<string, RoundEnd>,
): readonly SourceRound[] {
  return rounds.filter(({ source }) => !ends.has(source));
}
