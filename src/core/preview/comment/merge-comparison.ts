/** What a plan says of a placement, kept until the pull request is merged. */
export interface ExpectedPlacement {
  /** `namespace/name` */
  readonly placement: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** The plan token. Absent in records of earlier versions. */
  readonly token?: string | undefined;
  /** The plan token, where the change would be held. */
  readonly heldToken: string | undefined;
}

/** A placement after the merge, as it is published. */
export interface PublishedPlacement {
  readonly clusters: readonly string[];
  /** Its message, while a change is held. */
  readonly held: string | undefined;
}

/** A placement that is not as the plan said. */
export interface MergeDifference {
  readonly placement: string;
  readonly expected: readonly string[];
  readonly published: readonly string[];
  readonly held: string | undefined;
}

/** Compares what a plan said with what is published. @param publishedOf undefined: the placement does not exist */
export function compareMerge(
  expected: readonly ExpectedPlacement[],
  publishedOf: (placement: string) => PublishedPlacement | undefined,
): readonly MergeDifference[] {
  return expected.flatMap(({ placement, before, after, heldToken }) => {
    const { clusters, held } = publishedOf(placement) ?? { clusters: [], held: undefined };
    const asPlanned = isSame(clusters, after) && held === undefined;
    // As the plan said, it is held; or it was released meanwhile, and is as planned.
    const asHeld = heldToken !== undefined && held?.includes(heldToken) === true && isSame(clusters, before);
    if (asPlanned || asHeld) return [];
    return [{ placement, expected: after, published: clusters, held }];
  });
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  const [left, right] = [new Set(a), new Set(b)];
  return left.size === right.size && [...left].every((name) => right.has(name));
}
