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

/** A placement as published after the merge. */
export interface PlacementAfterMerge {
  readonly clusters: readonly string[];
  /** The message of the hold, while a change is held. */
  readonly held: string | undefined;
}

/** A placement that differs from the plan. */
export interface MergeDifference {
  readonly placement: string;
  readonly expected: readonly string[];
  readonly published: readonly string[];
  readonly held: string | undefined;
}

/**
 * Compares a plan with the published decisions.
 * @param publishedOf undefined: the placement does not exist
 */
export function compareMerge(
  expected: readonly ExpectedPlacement[],
  publishedOf: (placement: string) => PlacementAfterMerge | undefined,
): readonly MergeDifference[] {
  return expected.flatMap(({ placement, before, after, heldToken: heldCode }) => {
    const { clusters, held } = publishedOf(placement) ?? { clusters: [], held: undefined };
    const isPublishedAsPlanned = isSame(clusters, after) && held === undefined;
    const isHeldAsPlanned =
      heldCode !== undefined && held?.includes(heldCode) === true && isSame(clusters, before);
    // A change that was planned to be held may be released meanwhile. Then it is published as planned.
    if (isPublishedAsPlanned || isHeldAsPlanned) return [];
    return [{ placement, expected: after, published: clusters, held }];
  });
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  const [left, right] = [new Set(a), new Set(b)];
  return left.size === right.size && [...left].every((name) => right.has(name));
}
