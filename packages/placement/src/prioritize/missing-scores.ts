import type { Placement } from '@berth/ocm/kind/placement';

/**
 * What counts if a cluster has no valid score of an add-on. OCM counts 0, the middle of −100..100.
 * OCM therefore prefers a cluster whose add-on stopped to a cluster that reports −1.
 */
export const MISSING_SCORES_ANNOTATION = 'berth.dev/missing-scores';

/**
 * `neutral`: 0. `worst`: the value that gives the lowest total. `last`: the value of the expired
 * score, or 0 if there is none.
 */
export type MissingScores = (typeof MISSING_SCORES_RULES)[number];

export const MISSING_SCORES_RULES = ['neutral', 'worst', 'last'] as const;

/**
 * The rule of a placement. An invalid value counts as `neutral`; checks and `explain` report it.
 */
export function missingScoresOf(placement: Placement): MissingScores {
  return parseMissingScores(missingScoresText(placement) ?? '') ?? 'neutral';
}

/** The text of the annotation; undefined if it is not set. */
export function missingScoresText({ metadata: { annotations } }: Placement): string | undefined {
  return annotations !== undefined && Object.hasOwn(annotations, MISSING_SCORES_ANNOTATION)
    ? annotations[MISSING_SCORES_ANNOTATION]
    : undefined;
}

export function parseMissingScores(text: string): MissingScores | undefined {
  return MISSING_SCORES_RULES.find((rule) => rule === text);
}
